import type { EnvironmentRecord, RecordedVersion } from '../../../src/domain/environment-record.ts';
import { compareRecords } from '../../../src/log/environment/compare-records.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { startPostgres } from '../../../test/support/postgres.ts';

const [RUNS, JOBS, PACKAGES] = [30_000, 300, 180] as const;
/**
 * The share of a job's runs in which a package gets a new version. Every job gets a new image once a week.
 */
const MOVES = 0.002;
const RUNS_A_WEEK = 35;
const ROUNDS = 200;
const TARGET = { runs: 1_000_000, bytes: 2 * 1024 ** 3, p95: 20 } as const;

/**
 * Runs `scripts/bench server environments [--runs N]`: measures what the environments of runs take on a PostgreSQL server, and how long the comparison
 * with the last green run takes. The runs are made by rule: 300 jobs of 180 packages each, out of 4,000; each package moves in 0.2 % of the
 * runs of its job, the image once a week, steps take other seconds each time. One run in five fails. The size of a million runs is
 * extrapolated: rows grow with runs, shared parts with what moves.
 */
export async function run(options: readonly string[] = []): Promise<void> {
  const at = options.indexOf('--runs');
  const runs = at === -1 ? RUNS : Number(options[at + 1]);
  const server = await startPostgres();
  try {
    const database = await openPostgres({ url: await server.createMigrated(), poolSize: 4 });
    const stores = createStores(database, { now: Date.now });
    const random = createRandom();
    const jobs = Array.from({ length: JOBS }, (_, job) => createJob(job, random));
    const failed: string[] = [];
    const begun = performance.now();
    for (let n = 0; n < runs; n++) {
      const job = jobs[n % JOBS];
      if (job === undefined) continue;
      const isFailed = (n + Math.floor(n / JOBS)) % 5 === 4 || n >= runs - JOBS;
      const id = await addBuild(database, { job: n % JOBS, n, isFailed });
      job.move(Math.floor(n / JOBS));
      await stores.environments.save(id, [{ log: 'build', record: job.record(n) }]);
      if (isFailed) failed.push(id);
    }
    const seconds = (performance.now() - begun) / 1000;
    await database.query('vacuum analyze');
    const sizes = await readSizes(database);
    console.log(`${runs} runs of ${JOBS} jobs stored in ${seconds.toFixed(0)} s`);
    const perRun = sizes.rows / runs;
    const perPart = sizes.parts / runs;
    console.log(
      `${Math.round(perRun)} bytes a run in rows with their indexes, ${Math.round(perPart)} in ${sizes.count} shared parts`,
    );
    const whole = ((sizes.rows + sizes.parts) / runs) * TARGET.runs;
    const fits = whole <= TARGET.bytes ? 'within' : 'ABOVE';
    console.log(`extrapolated to ${TARGET.runs} runs: ${(whole / 1024 ** 3).toFixed(2)} GB, ${fits} 2 GB`);
    const taken: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const id = failed.at(-1 - (round % JOBS)) ?? '';
      const from = performance.now();
      const [green, [red]] = [
        await stores.environments.lastGreen(id, ['build']),
        await stores.environments.find(id),
      ];
      const record = green.get('build')?.record;
      if (record === undefined || red === undefined) throw new Error(`${id} has no green run`);
      compareRecords(record, red);
      taken.push(performance.now() - from);
    }
    const sorted = taken.toSorted((one, other) => one - other);
    const p = (share: number) => (sorted[Math.floor(share * sorted.length)] ?? 0).toFixed(1);
    console.log(
      `comparison with the last green run: p50 ${p(0.5)} ms, p95 ${p(0.95)} ms (at most ${TARGET.p95})`,
    );
    await database.close();
  } finally {
    await server.dispose();
  }
}

type Database = Awaited<ReturnType<typeof openPostgres>>;

async function addBuild(
  database: Database,
  { job, n, isFailed }: { readonly job: number; readonly n: number; readonly isFailed: boolean },
): Promise<string> {
  const id = `bld_${String(n).padStart(8, '0')}`;
  // A run every four hours and 48 minutes, which is 35 runs a week, so that on some days several runs pass.
  const time = new Date(Date.UTC(2026, 0, 1) + Math.floor(n / JOBS) * 17_280_000).toISOString();
  await database.query(
    `insert into builds (id, provider, repository, pipeline, number, external_id, attempt, branch, commit, status, started_at, received_at)
     values ($1, 'github', $2, 'ci', $3, $4, 1, 'main', $5, $6, $7, $7)`,
    [
      id,
      `acme/app-${job}`,
      `${Math.floor(n / JOBS)}`,
      id,
      'c'.repeat(40),
      isFailed ? 'failed' : 'passed',
      time,
    ],
  );
  return id;
}

async function readSizes(database: Database): Promise<{ rows: number; parts: number; count: number }> {
  const [row] = await database.query<{ rows: string; parts: string; count: string }>(
    `select pg_total_relation_size('environments') as rows, pg_total_relation_size('environment_parts') as parts,
      (select count(*) from environment_parts) as count`,
  );
  return { rows: Number(row?.rows), parts: Number(row?.parts), count: Number(row?.count) };
}

interface Job {
  move(run: number): void;
  record(n: number): EnvironmentRecord;
}

function createJob(job: number, random: () => number): Job {
  const first = Math.floor(random() * 3_800);
  const minors = Array.from({ length: PACKAGES }, () => Math.floor(random() * 20));
  let image = 0;
  return {
    move: (run) => {
      image = Math.floor(run / RUNS_A_WEEK);
      for (let at = 0; at < PACKAGES; at++) if (random() < MOVES) minors[at] = (minors[at] ?? 0) + 1;
    },
    record: (n) => {
      const packages = minors.map((minor, at): RecordedVersion => {
        const name = `package-${first + at}-of-the-registry`;
        return { kind: 'npm', name, version: `${1 + (at % 4)}.${minor}.0`, line: 1 };
      });
      const runner: RecordedVersion = {
        kind: 'image',
        name: 'runner image',
        version: `ubuntu-24.04 2026${String(1000 + image).slice(1)}.1.0`,
        line: 1,
      };
      const steps = ['npm ci', 'npm run build', 'npm test', `upload of job ${job}`].map((name) => ({
        name,
        seconds: Math.floor(random() * 300) + (n % 7),
      }));
      return { log: 'build', versions: [...packages, runner], requirements: [], steps };
    },
  };
}

/** Creates a generator of the same numbers in every run of the benchmark (mulberry32). */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
