import { cpus, loadavg } from 'node:os';
import { buildHttp } from '../../src/api/server.ts';
import type { Database } from '../../src/ports/database.ts';
import { createPostgresArchive } from '../../src/stores/archive/postgres.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { createStores } from '../../src/stores/stores.ts';
import { sampleAnalysis, sampleDecision, sampleFailure } from '../../test/stores/samples.ts';
import { emptyHttpDeps, TOKENS } from '../../test/support/http-deps.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { storedAsk } from '../../test/support/stored-ask.ts';
import { fillInsights } from './insights-data.ts';

const SIZE = { failures: 100_000, answers: 20_000, testResults: 1_000_000 };
const ROUNDS = 60;
const WARM_UP = 5;
const REACH_MS = 50;

/**
 * `scripts/bench console pages`: server time of every page with 100,000 failures, 20,000 answers and 1,000,000 test results in a PostgreSQL server
 * with its usual settings. Each page is asked for many times, another item each time where there are several.
 */
export async function run(): Promise<void> {
  const server = await startPostgres();
  try {
    const database = await openPostgres({ url: await server.createMigrated(), poolSize: 8 });
    await database.transaction((sql) => fillInsights(sql, SIZE));
    await fillBodies(database);
    await database.query('vacuum analyze');
    const stores = createStores(database, { now: Date.now });
    const archive = createPostgresArchive(database);
    const app = await buildHttp({ ...emptyHttpDeps(), stores, database, archive, ask: storedAsk(stores) });
    console.log(`${SIZE.failures} failures, ${SIZE.answers} answers; fastest / p50 / p95 in ms, ${ROUNDS} requests each`);
    console.log(`${loadavg()[0]?.toFixed(1)} processes wished to run on ${cpus().length} cores`);
    for (const [name, addresses] of Object.entries(await pagesOf(database))) {
      const taken: number[] = [];
      for (let n = 0; n < WARM_UP + ROUNDS; n += 1) {
        const from = performance.now();
        const answer = await app.inject({
          url: addresses[n % addresses.length] ?? '/',
          headers: { authorization: `Bearer ${TOKENS.admin}` },
        });
        if (n >= WARM_UP) taken.push(performance.now() - from);
        if (answer.statusCode !== 200) throw new Error(`${name}: ${answer.statusCode} ${answer.body.slice(0, 300)}`);
      }
      console.log(line(name, taken));
    }
    await app.close();
    await database.close();
  } finally {
    await server.dispose();
  }
}

/** Whole analyses, decisions and failures, as pages read them. */
async function fillBodies(database: Database): Promise<void> {
  const analysis = sampleAnalysis({ buildId: 'b', triageId: 't', fingerprint: 'f' });
  await database.query(
    `update analyses set body = $1::jsonb || jsonb_build_object('id', id, 'buildId', build_id, 'triageId', triage_id, 'fingerprint', fingerprint,
       'category', category, 'failureIds', (select jsonb_agg(f.id) from failures f where f.build_id = analyses.build_id and f.fingerprint = analyses.fingerprint))`,
    [analysis],
  );
  const decision = sampleDecision({ id: 'r', analysisId: 'a' });
  await database.query(
    `update decisions set body = $1::jsonb || jsonb_build_object('id', id, 'reviewId', review_id, 'analysisId', analysis_id, 'type', type, 'reviewer', reviewer)`,
    [decision],
  );
  await database.query(`update failures set body = $1::jsonb || jsonb_build_object('id', id, 'buildId', build_id)`, [
    sampleFailure('b', 'f'),
  ]);
}

async function pagesOf(database: Database): Promise<Record<string, readonly string[]>> {
  const ids = async (query: string) => (await database.query<{ id: string }>(query, [])).map(({ id }) => id);
  const reviews = await ids(`select id from reviews where state = 'waiting' order by md5(id) limit 20`);
  const analyses = await ids('select id from analyses order by md5(id) limit 20');
  const builds = await ids('select build_id as id from analyses order by md5(id) limit 20');
  const causes = await ids('select fingerprint as id from failures order by md5(id) limit 20');
  const of = (folder: string, found: readonly string[]) => found.map((id) => `/${folder}/${id}`);
  return {
    '/review': ['/review'],
    '/review?repo=': ['/review?repo=acme/service-7'],
    '/review/:id': of('review', reviews),
    '/builds': ['/builds', '/builds?offset=5000'],
    '/builds?repository=&status=': ['/builds?repository=acme/service-7&status=failed'],
    '/builds/:id': of('builds', builds),
    '/analyses/:id': of('analyses', analyses),
    '/runs/:id': of('runs', analyses),
    '/failures/:fingerprint': of('failures', causes),
    '/library': ['/library'],
    '/insights': ['/insights'],
    '/insights/trust': ['/insights/trust'],
    '/insights/flaky': ['/insights/flaky'],
    '/insights/causes': ['/insights/causes'],
    '/insights/cost': ['/insights/cost'],
    '/insights/reviewers': ['/insights/reviewers'],
    '/me': ['/me'],
  };
}

function line(name: string, taken: readonly number[]): string {
  const sorted = taken.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const judged = at(0.95) < REACH_MS ? `p95 below ${REACH_MS}` : `p95 NOT below ${REACH_MS}`;
  return `${name.padEnd(30)} ${at(0).toFixed(1)} / ${at(0.5).toFixed(1)} / ${at(0.95).toFixed(1)}  ${judged}`;
}
