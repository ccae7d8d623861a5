import { buildHttp } from '../../src/api/server.ts';
import { systemClock } from '../../src/lib/time.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { openPglite } from '../../src/stores/database/pglite.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { createStores } from '../../src/stores/stores.ts';
import { createEmptyHttpDeps } from './http-deps.ts';

/**
 * Runs the API and the delivery processor in a process of their own, which kills itself with SIGKILL at the
 * named place: `landed` (the delivery is written but not answered), `answered` (answered but not relayed),
 * `recorded` (its build is written but not committed), `ringing` (committed but not notified), or nowhere. It
 * prints its address, and one line for each notification.
 *
 * node test/support/die-at-intake.ts <postgres://… | PGlite directory> <place>
 */
const [database = '', place = ''] = process.argv.slice(2);
const db = database.startsWith('postgres')
  ? await openPostgres({ url: database, poolSize: 4 })
  : await openPglite({ dataDir: database });

function dieAt(name: string): void {
  if (name === place) process.kill(process.pid, 'SIGKILL');
}

const stores = createStores(db, systemClock);
const deliveries: typeof stores.deliveries = {
  ...stores.deliveries,
  store: async (all) => {
    const landed = await stores.deliveries.store(all);
    dieAt('landed');
    return landed;
  },
  claim: async (key, sql) => {
    // The answer must arrive before this process ends.
    if (place === 'answered') await new Promise((resolve) => setTimeout(resolve, 100));
    dieAt('answered');
    return await stores.deliveries.claim(key, sql);
  },
  markRecorded: async (key, buildId, sql) => {
    const marked = await stores.deliveries.markRecorded(key, buildId, sql);
    dieAt('recorded');
    return marked;
  },
};
const notifier = {
  notify: (_topic: string, key: string) => {
    dieAt('ringing');
    process.stdout.write(`enqueued ${key}\n`);
  },
  settle: async () => undefined,
};
const app = await buildHttp(
  createEmptyHttpDeps({
    database: db,
    stores: { ...stores, deliveries },
    notifier,
    logger: silentLogger,
    clock: systemClock,
  }),
);
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
