import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { createReadiness } from '../../src/app/health.ts';
import { ok } from '../../src/ports/health.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { createEmptyHttpDeps } from '../support/http-deps.ts';
import { startPostgres, withoutPostgres } from '../support/postgres.ts';

it.skipIf(withoutPostgres)(
  'T28: if every connection is taken, /readyz fails within its limit and /healthz succeeds; both recover',
  async () => {
    const server = await startPostgres();
    const database = await openPostgres({ url: await server.createDatabase(), poolSize: 2 });
    const clock = { now: () => Date.now() };
    const ask = async () => {
      await database.query('select 1');
      return 'answers';
    };
    const readiness = createReadiness(
      [
        {
          name: 'database',
          remedy: 'start it',
          freshMs: 0,
          limitMs: 300,
          ask: async () => ok('database', await ask()),
        },
      ],
      { logger: silentLogger, clock },
    );
    const app = await buildHttp(createEmptyHttpDeps({ database, readiness }));
    try {
      const taken = [1, 2].map(() => database.query('select pg_sleep(2)'));
      await sleep(100);
      const [ready, alive] = await Promise.all([app.inject('/readyz'), app.inject('/healthz')]);
      expect([ready.statusCode, ready.headers['retry-after'], alive.statusCode]).toEqual([503, '5', 200]);
      await Promise.all(taken);
      expect((await app.inject('/readyz')).statusCode).toBe(200);
    } finally {
      await app.close();
      await database.close();
      await server.dispose();
    }
  },
);
