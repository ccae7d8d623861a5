import { cpus, loadavg } from 'node:os';
import { z } from 'zod';
import { TestResult } from '../../../src/domain/build.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { fillInsights, type InsightsSize, listBuildsWithResults } from './insights-data.ts';
import { listInsightsQuestions } from './insights-questions.ts';

const SIZE: InsightsSize = { failures: 100_000, answers: 20_000, testResults: 1_000_000 };
const ROUNDS = 100;
const WARM_UP = 5;
/** The number of builds whose results are saved again through the store, so that their tests are followed. */
const SAVED = 2_000;

/**
 * Runs `scripts/bench server insights`: measures how long the insights and the flaky tests take to answer with 100,000 failures, 20,000 answers and
 * 1,000,000 test results stored, on a PostgreSQL server with its usual settings; and what following tests adds to saving results.
 */
export async function run(): Promise<void> {
  const server = await startPostgres();
  try {
    const database = await openPostgres({ url: await server.createMigrated(), poolSize: 4 });
    const stores = createStores(database, { now: Date.now });
    await fillInsights(database, SIZE);
    const saved: number[] = [];
    for (const { id, results } of (await listBuildsWithResults(database, SAVED)).toReversed()) {
      const parsed = z.array(TestResult).parse(results);
      const from = performance.now();
      await stores.builds.saveTestResults(id, parsed);
      saved.push(performance.now() - from);
    }
    await database.query('vacuum analyze');
    console.log(
      `${SIZE.failures} failures, ${SIZE.answers} answers, ${SIZE.testResults} test results; fastest / p50 / p95 in ms, ${ROUNDS} questions each`,
    );
    console.log(`${loadavg()[0]?.toFixed(1)} processes wished to run on ${cpus().length} cores`);
    console.log(formatLine(`saving the 50 results of a build, ${SAVED} builds`, saved, null));
    for (const { name, ask, reach } of listInsightsQuestions(stores, Date.now())) {
      const taken: number[] = [];
      for (let n = 0; n < WARM_UP + ROUNDS; n += 1) {
        const from = performance.now();
        await ask(n * 7 + 1);
        if (n >= WARM_UP) taken.push(performance.now() - from);
      }
      console.log(formatLine(name, taken, reach));
    }
    await database.close();
  } finally {
    await server.dispose();
  }
}

function formatLine(name: string, taken: number[], reach: number | null): string {
  const sorted = taken.toSorted((left, right) => left - right);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  const goal =
    reach === null ? '' : Number(at(0.95)) < reach ? `  p95 below ${reach}` : `  NOT below ${reach}`;
  return `${name.padEnd(46)} ${at(0)} / ${at(0.5)} / ${at(0.95)}${goal}`;
}
