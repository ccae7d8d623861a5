import { cpus, loadavg } from 'node:os';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { createPgvectorIndex } from '../../../src/stores/vectors/pgvector.ts';
import { startPostgres, type TestServer } from '../../../test/support/postgres.ts';
import { fillIndex, fillStore, type StoreSize } from './store-data.ts';
import { listQuestions, type Question } from './store-questions.ts';

const SIZES: readonly StoreSize[] = [
  { failures: 10_000, library: 2_000 },
  { failures: 100_000, library: 20_000 },
];

const ROUNDS = 200;
const WARM_UP = 10;

interface Figure {
  readonly fastest: number;
  readonly p50: number;
  readonly p95: number;
}

/**
 * Runs `scripts/bench server store`: measures how long the stores take to answer with 10,000 and with 100,000 failures stored, on a PostgreSQL server
 * with its usual settings. One question at a time, from the call to the parsed rows.
 */
export async function run(): Promise<void> {
  const server = await startPostgres();
  try {
    const columns: Map<string, Figure>[] = [];
    let questions: readonly Question[] = [];
    for (const size of SIZES) {
      const measured = await measure(server, size);
      columns.push(measured.figures);
      questions = measured.questions;
    }
    console.log(
      `\nfastest / p50 / p95 in ms, ${ROUNDS} questions each; ${SIZES.map(({ failures, library }) => `${failures} failures and ${library} library entries`).join(', then ')}\n`,
    );
    console.log(
      `${loadavg()[0]?.toFixed(1)} processes wished to run on ${cpus().length} cores; more than one for each makes every figure larger\n`,
    );
    for (const question of questions)
      console.log(
        formatLine(
          question,
          columns.map((figures) => figures.get(question.name)),
        ),
      );
  } finally {
    await server.dispose();
  }
}

async function measure(server: TestServer, size: StoreSize) {
  const database = await openPostgres({ url: await server.createMigrated(), poolSize: 4 });
  const stores = createStores(database, { now: Date.now });
  const index = createPgvectorIndex(database, createHashingEmbedder());
  let from = performance.now();
  await database.transaction((sql) => fillStore(sql, size));
  const filled = performance.now() - from;
  from = performance.now();
  await fillIndex(database, index);
  console.log(
    `${size.failures} failures stored in ${formatSeconds(filled)}, ${size.library} library entries embedded and indexed in ${formatSeconds(performance.now() - from)}`,
  );
  await database.query('vacuum analyze');
  const questions = await listQuestions(database, stores, index);
  const figures = new Map<string, Figure>();
  for (const question of questions) figures.set(question.name, await timeQuestion(question));
  await database.close();
  return { questions, figures };
}

async function timeQuestion({ ask }: Question): Promise<Figure> {
  const taken: number[] = [];
  for (let n = 0; n < WARM_UP + ROUNDS; n += 1) {
    const from = performance.now();
    await ask(n * 7 + 1);
    if (n >= WARM_UP) taken.push(performance.now() - from);
  }
  taken.sort((left, right) => left - right);
  const at = (share: number) => taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0;
  return { fastest: at(0), p50: at(0.5), p95: at(0.95) };
}

function formatLine({ name, reach }: Question, figures: readonly (Figure | undefined)[]): string {
  const cells = figures.map((figure) =>
    `${figure?.fastest.toFixed(1)} / ${figure?.p50.toFixed(1)} / ${figure?.p95.toFixed(1)}`.padStart(22),
  );
  const last = figures.at(-1)?.p95 ?? 0;
  const verdict =
    reach === null
      ? ''
      : `${last <= reach ? 'reached' : 'NOT reached'}: p95 ${last.toFixed(1)} of ${reach} ms`;
  return `${name.padEnd(40)}${cells.join('')}   ${verdict}`;
}

function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
