import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
const FAILURES = join(ROOT, 'test/fixtures/failures');

/**
 * Starts a worker that is never idle: it triages captured failures one after the other, in its own processes,
 * until it is stopped.
 */
export function startBusyWorker(): { stop(): void } {
  const slugs = readdirSync(FAILURES, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  let running: ChildProcess | null = null;
  let stopped = false;
  let next = 0;
  const work = () => {
    if (stopped) return;
    const log = join(FAILURES, slugs[next++ % slugs.length] ?? '', 'log.txt');
    running = spawn(process.execPath, [join(ROOT, 'src/cli/main.ts'), 'triage', log, '--json'], {
      stdio: 'ignore',
    });
    running.once('exit', work);
  };
  work();
  return {
    stop: () => {
      stopped = true;
      running?.kill('SIGKILL');
    },
  };
}
