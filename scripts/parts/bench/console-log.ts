import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { buildHttp } from '../../../src/api/server.ts';
import { findMax } from '../../../src/lib/collections.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createPostgresArchive } from '../../../src/stores/archive/postgres.ts';
import { openPglite } from '../../../src/stores/database/pglite.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { sampleAnalysis, sampleBuild, sampleGroup } from '../../../test/stores/samples.ts';
import { createEmptyHttpDeps, TOKENS } from '../../../test/support/http-deps.ts';
import { generateLog } from './bench-logs.ts';

/** The targets of the log viewer for a log of 300,000 lines. */
const GOALS = { lines: 300_000, windowMs: 20, searchMs: 300, windowKB: 40 };
const WARM_UP = 30;
const WINDOWS = 300;
const WORDS = ['error', 'FAILED', 'no such thing', 'warning: unused variable', 'e', 'größe'];
const SEARCHES = 5;

/**
 * Measures the log viewer on the embedded database: complete responses with sign-in, headers and gzip,
 * without a network. Windows begin at positions all over the log, and each search reads the whole log.
 */
export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-bench-'));
  const database = await openPglite({ dataDir: join(folder, 'database') });
  await database.migrate();
  const stores = createStores(database, systemClock);
  const archive = createPostgresArchive(database);
  const app = await buildHttp({ ...createEmptyHttpDeps(), stores, database, archive });
  try {
    const text = generateLog(24_000_000).split('\n').slice(0, GOALS.lines).join('\n');
    const { build } = await stores.builds.upsert(sampleBuild({ number: '1' }));
    await archive.put(build.id, { name: 'build.log', kind: 'log', text, notes: [] });
    await stores.failures.saveGroups(build.id, [sampleGroup(build.id, 'fp')]);
    const triage = await stores.triages.open(build.id, 'fp');
    await stores.analyses.insertOnce(
      sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint: 'fp' }),
    );
    console.log(
      `${GOALS.lines.toLocaleString('en')} lines, ${(text.length / 1e6).toFixed(1)} MB; load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`,
    );
    const at = `/logs/${build.id}?file=build.log`;
    await measureWindows(app, at);
    for (const word of WORDS) await measureSearch(app, at, word);
    console.log(`load ${loadavg()[0]?.toFixed(1)} at the end`);
  } finally {
    await app.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureWindows(app: FastifyInstance, at: string): Promise<void> {
  const window = (round: number) => 1 + ((round * 7_919 + 104_729) % (GOALS.lines - 400));
  for (let round = 0; round < WARM_UP; round += 1) await ask(app, `${at}&from=${window(round)}`);
  const pages: Answer[] = [];
  const parts: Answer[] = [];
  for (let round = 0; round < WINDOWS; round += 1) {
    pages.push(await ask(app, `${at}&L=${window(round)}-${window(round) + 4}`));
    parts.push(await ask(app, `${at}&from=${window(round)}&to=${window(round) + 199}&part=1-${GOALS.lines}`));
  }
  const folded: Answer[] = [];
  for (let round = 0; round < 50; round += 1) folded.push(await ask(app, at));
  const largest = findMax(pages.map(({ bytes }) => bytes)) / 1000;
  say(
    'page with a window of 400 lines',
    pages,
    `goal p95 ${GOALS.windowMs} ms; largest ${largest.toFixed(1)} kB gzip, goal ${GOALS.windowKB}`,
  );
  say('200 lines of a gap', parts, '');
  say('folded page', folded, '');
}

async function measureSearch(app: FastifyInstance, at: string, word: string): Promise<void> {
  const answers: Answer[] = [];
  for (let round = 0; round < SEARCHES; round += 1)
    answers.push(await ask(app, `${at}&q=${encodeURIComponent(word)}`));
  say(`search for “${word}”`, answers, `goal ${GOALS.searchMs} ms`);
}

interface Answer {
  readonly milliseconds: number;
  /**
   * The processor time, which is independent of other load. It includes other threads that decompress at the
   * same time.
   */
  readonly cpu: number;
  readonly bytes: number;
}

async function ask(app: FastifyInstance, url: string): Promise<Answer> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const { statusCode, rawPayload } = await app.inject({
    url,
    headers: { authorization: `Bearer ${TOKENS.admin}`, 'accept-encoding': 'gzip' },
  });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  const { user, system } = process.cpuUsage(before);
  return {
    milliseconds: performance.now() - startedAt,
    cpu: (user + system) / 1000,
    bytes: rawPayload.length,
  };
}

function say(what: string, answers: readonly Answer[], goal: string): void {
  const of = (values: readonly number[], share: number) => {
    const sorted = values.toSorted((left, right) => left - right);
    return `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)} ms`;
  };
  const [times, cpu] = [answers.map(({ milliseconds }) => milliseconds), answers.map((answer) => answer.cpu)];
  const said = `p50 ${of(times, 0.5)}, p95 ${of(times, 0.95)}, processor p50 ${of(cpu, 0.5)}, p95 ${of(cpu, 0.95)}, of ${answers.length}`;
  console.log(`${what}: ${said}${goal === '' ? '' : `; ${goal}`}`);
}
