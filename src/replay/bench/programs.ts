import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setInterval } from 'node:timers';
import { TriageError } from '../../domain/errors.ts';

/** A program that searches for many literals, ignoring the case of ASCII letters, on one thread. */
interface Searcher {
  readonly name: string;
  /** Program and arguments, up to the file of patterns. */
  readonly command: readonly string[];
}

export const SEARCHERS: readonly Searcher[] = [
  { name: 'ripgrep -j1', command: ['rg', '-j1', '-a', '--no-config', '--no-unicode', '-i', '-F', '-f'] },
  { name: 'grep', command: ['env', 'LC_ALL=C', 'grep', '-a', '-i', '-F', '-f'] },
];

const TIME_LIMIT = 600_000;

/** Whether a program can be run here. */
export function isInstalled(command: readonly string[]): boolean {
  const program = command[0] === 'env' ? (command[2] ?? '') : (command[0] ?? '');
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 10_000 }).status === 0;
}

/** How many lines of the file hold one of the patterns, and the milliseconds that took with starting the program. */
export function countWith(searcher: Searcher, patterns: string, file: string): { lines: number; milliseconds: number } {
  const [program = '', ...rest] = searcher.command;
  const startedAt = performance.now();
  const run = spawnSync(program, [...rest, patterns, '-c', file], { encoding: 'utf8', timeout: TIME_LIMIT });
  const milliseconds = performance.now() - startedAt;
  if (run.status !== 0) throw new TriageError('internal', `${searcher.name} failed: ${run.stderr.trim() || `exit ${run.status}`}`);
  return { lines: Number(run.stdout.trim()), milliseconds };
}

/** The numbers of the lines that hold one of the patterns, as the program prints them. */
export async function* linesWith(searcher: Searcher, patterns: string, file: string): AsyncGenerator<number> {
  const [program = '', ...rest] = searcher.command;
  const child = spawn(program, [...rest, patterns, '-n', file], { stdio: ['ignore', 'pipe', 'ignore'], timeout: TIME_LIMIT });
  for await (const line of createInterface({ input: child.stdout.setEncoding('latin1'), crlfDelay: 0 })) {
    const number = Number.parseInt(line, 10);
    // Node's reader also ends lines at carriage returns; what follows one has no number.
    if (Number.isInteger(number) && line.startsWith(`${number}:`)) yield number;
  }
}

/** Lines, templates and seconds of Drain3 over a file; null where Python or the package is not there. */
export function mineWithDrain3(python: string, file: string): { seconds: number; lines: number; templates: number } | null {
  const script = join(import.meta.dirname, 'mine-templates.py');
  const run = spawnSync(python, [script, file], { encoding: 'utf8', timeout: TIME_LIMIT });
  const [seconds, lines, templates] = (run.stdout ?? '').trim().split(' ').map(Number);
  return run.status === 0 && seconds !== undefined && lines !== undefined && templates !== undefined ? { seconds, lines, templates } : null;
}

/** The middle of the values; of an even number the lower one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}

/** What a process took: wall-clock milliseconds and the peak of its resident memory in bytes (null where the system does not tell). */
interface ProcessCost {
  readonly milliseconds: number;
  readonly peakBytes: number | null;
}

const LOOK_EVERY = 20;

/** How `faultline read` ends where no line says that something failed (see src/cli/terminal.ts). */
const NO_FAILURE = 5;

/** Runs this very Node with the arguments given and watches its memory. Throws where it ends badly. */
export async function costOf(args: readonly string[]): Promise<ProcessCost> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  let peakBytes: number | null = null;
  const look = setInterval(() => {
    peakBytes = peakOf(child.pid) ?? peakBytes;
  }, LOOK_EVERY);
  try {
    const [code] = await once(child, 'exit');
    if (code !== 0 && code !== NO_FAILURE) throw new Error(`node ${args.slice(1).join(' ')} ended with ${code}`);
  } finally {
    clearInterval(look);
  }
  return { milliseconds: performance.now() - startedAt, peakBytes };
}

/** Linux keeps the highest resident memory of a process ("high water mark"). */
function peakOf(pid: number | undefined): number | null {
  try {
    const kilobytes = /VmHWM:\s{1,20}(\d{1,12}) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}
