import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { buildHttp } from '../../src/api/server.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { createStores } from '../../src/stores/stores.ts';
import { emptyHttpDeps, TOKENS } from '../../test/support/http-deps.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { fillStore } from './store-data.ts';

const ROUNDS = 40;
const WARM_UP = 3;
const REACH_MS = 50;

/** What people look for: a rare word, a common one, both with filters, places, and what is nowhere. */
const SEARCHES: Readonly<Record<string, (n: number) => string>> = {
  'newest of a repository': (n) => `repo:acme/service-${n % 200}`,
  'a word of few texts': (n) => `checkout_${n % 9}`,
  'an error code': () => 'ERESOLVE',
  'a word of most texts': () => 'expected',
  'a quotation': () => '"Temporary failure resolving"',
  'two words': () => 'shipment avatar',
  'a word in a repository': (n) => `repo:acme/service-${n % 200} parser`,
  'a word and a category': () => 'category:INFRA_ERROR wallet',
  'a category': () => 'category:DEPENDENCY_ERROR',
  'a test': (n) => `test:test_${n % 5000}`,
  'a fingerprint': (n) => `fingerprint:fp_${n * 31}`,
  'what waits': () => 'is:waiting',
  'a week of a branch': () => 'branch:main since:7d',
  'what is nowhere': () => 'xylophone',
  'a common word, a rare place': (n) => `repo:acme/service-${n % 200} branch:topic-39 undefined`,
};

/** `scripts/bench console search [--failures N] [--answers N]`: server time of the search page in PostgreSQL with its usual settings. */
export async function run(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: { failures: { type: 'string', default: '1000000' }, answers: { type: 'string', default: '200000' } },
  });
  const [failures, answers] = [Number(values.failures), Number(values.answers)];
  const server = await startPostgres();
  try {
    const database = await openPostgres({
      url: await server.createMigrated(),
      poolSize: 8,
      limits: { statement_timeout: 0, query_timeout: 0 },
    });
    const from = performance.now();
    await database.transaction((sql) => fillStore(sql, { failures, library: 3_000, answers }));
    await database.query('vacuum analyze');
    console.log(`${failures} failures, ${answers} answers; filled in ${((performance.now() - from) / 1000).toFixed(0)} s`);
    const sizes = await database.query<{ name: string; size: string }>(
      `select c.relname as name, pg_size_pretty(pg_total_relation_size(c.oid)) as size from pg_class c
       where c.relname in ('failures', 'failure_facts', 'failure_texts', 'failure_messages', 'answer_facts') order by 1`,
    );
    console.log(sizes.map(({ name, size }) => `${name} ${size}`).join(', '));
    const stores = createStores(database, { now: Date.now });
    const app = await buildHttp({ ...emptyHttpDeps(), stores, database });
    console.log(
      `fastest / p50 / p95 in ms, ${ROUNDS} requests each; ${loadavg()[0]?.toFixed(1)} processes wished to run on ${cpus().length} cores`,
    );
    for (const [name, search] of Object.entries(SEARCHES)) {
      const taken: number[] = [];
      for (let n = 0; n < WARM_UP + ROUNDS; n += 1) {
        const started = performance.now();
        const answer = await app.inject({
          url: `/search?q=${encodeURIComponent(search(n))}`,
          headers: { authorization: `Bearer ${TOKENS.admin}` },
        });
        if (n >= WARM_UP) taken.push(performance.now() - started);
        if (answer.statusCode !== 200) throw new Error(`${name}: ${answer.statusCode} ${answer.body.slice(0, 300)}`);
      }
      const sorted = taken.toSorted((one, other) => one - other);
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
      const judged = at(0.95) < REACH_MS ? `p95 below ${REACH_MS}` : `p95 NOT below ${REACH_MS}`;
      console.log(`${name.padEnd(30)} ${at(0).toFixed(1)} / ${at(0.5).toFixed(1)} / ${at(0.95).toFixed(1)}  ${judged}`);
    }
    await app.close();
    await database.close();
  } finally {
    await server.dispose();
  }
}
