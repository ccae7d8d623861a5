import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Prints the figures of docs/evidence/figures.md. Times are wall-clock times on this machine, so compare
 * medians only within one run.
 */
const ROOT = resolve(import.meta.dirname, '../../..');
const MAIN = join(ROOT, 'src/cli/main.ts');
const FAILURES = join(ROOT, 'test/fixtures/failures');
const FRESH_STARTS = 3;
const STARTS = 5;
const RINGS = 50;

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-'));
try {
  report(
    'start on a fresh directory',
    's',
    await repeatMeasure(FRESH_STARTS, (round) => measureTimeToListen(join(folder, `fresh-${round}`))),
  );
  report(
    'start on an existing directory',
    's',
    await repeatMeasure(STARTS, () => measureTimeToListen(join(folder, 'fresh-0'))),
  );
  const slugs = readdirSync(FAILURES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  report('faultline --help', 's', await repeatMeasure(STARTS, () => measureTimeToRun(['--help'])));
  report(
    `faultline triage, each of ${slugs.length} captured failures`,
    's',
    slugs.map(({ name }) => measureTimeToRun(['triage', join(FAILURES, name, 'log.txt'), '--json'])),
  );
  report('request to handler, embedded', 'ms', await measurePickups(join(folder, 'queue')));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function report(name: string, unit: string, values: readonly number[]): void {
  const sorted = [...values].sort((left, right) => left - right);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(
      unit === 's' ? 2 : 1,
    );
  console.log(
    `${name.padEnd(52)} median ${at(0.5)} ${unit}, min ${at(0)}, max ${at(1)} (n=${sorted.length})`,
  );
}

async function repeatMeasure(
  times: number,
  measure: (round: number) => Promise<number> | number,
): Promise<number[]> {
  const values: number[] = [];
  for (let round = 0; round < times; round++) values.push(await measure(round));
  return values;
}

/** Returns the seconds from the start of the process until it listens. */
function measureTimeToListen(dataDir: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN, 'serve', '--data', dataDir, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Promise((settle, reject) => {
    let seconds = 0;
    child.stdout.once('data', () => {
      seconds = (performance.now() - startedAt) / 1000;
      child.kill('SIGTERM');
    });
    child.once('exit', () =>
      seconds > 0 ? settle(seconds) : reject(new Error('the service ended before it listened')),
    );
  });
}

function measureTimeToRun(args: readonly string[]): number {
  const startedAt = performance.now();
  const run = spawnSync(process.execPath, [MAIN, ...args], { stdio: 'ignore' });
  if (run.status !== 0) throw new Error(`faultline ${args.join(' ')} ended with ${run.status}`);
  return (performance.now() - startedAt) / 1000;
}

/**
 * Returns the milliseconds from the commit of a request to the call of its handler, for requests one after
 * the other.
 */
async function measurePickups(dataDir: string): Promise<number[]> {
  const { openPglite } = await import('../../../src/stores/database/pglite.ts');
  const { openOurs } = await import('./queue-latency.ts');
  const database = await openPglite({ dataDir });
  await database.migrate();
  let heard: () => void = () => undefined;
  const ours = await openOurs(database, () => heard());
  const times = await repeatMeasure(RINGS, async (round) => {
    const ring = new Promise<void>((settle) => {
      heard = settle;
    });
    const startedAt = performance.now();
    await ours.ring(`bld_${round}`);
    await ring;
    return performance.now() - startedAt;
  });
  await ours.close();
  await database.close();
  return times;
}
