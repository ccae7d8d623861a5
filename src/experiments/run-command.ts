import { spawn } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { cleanAtExit } from '../lib/at-exit.ts';
import { createRunProcesses } from './processes.ts';
import { withoutRepository } from './repository.ts';

/** The maximum size of the kept output in bytes. The end is kept, because failures are printed there. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;
/**
 * The time limit for a process group to end after SIGTERM, and for output to end after its process, in
 * milliseconds.
 */
const GRACE_MS = 3_000;
/**
 * The free space in bytes that a command must leave on the disk of its folder, and the interval between
 * checks in milliseconds.
 */
const MIN_FREE = 256 * 1024 * 1024;
const LOOK_MS = 2_000;

export interface CommandRun {
  /** The exit code. Null if the process was ended by a signal or the time limit. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly milliseconds: number;
  /** The last eight megabytes of standard output and standard error, in the order in which they came. */
  readonly output: string;
}

/**
 * Splits a command that is given as one text into an argument vector: one argument per line or, if there is
 * only one line, one per word. Does not quote or expand anything.
 */
export function splitArguments(command: string): string[] {
  const lines = command.trim().split(/\r?\n/);
  return lines.length > 1
    ? lines.map((line) => line.trim()).filter((line) => line !== '')
    : command.trim().split(/\s+/);
}

/**
 * Runs an argument vector in a session of its own, without a shell and without variables that configure
 * Faultline or name a repository. Ends the whole process group at the time limit, when the signal is aborted,
 * and when the disk is nearly full. Afterwards, ends everything that the command started. Throws
 * `invalid-input` if the program cannot be started, `cancelled` if it was aborted, and `storage-failed` if
 * the disk is nearly full.
 */
export async function runCommand(
  argv: readonly string[],
  options: {
    readonly cwd: string;
    readonly limitMs: number;
    readonly env: NodeJS.ProcessEnv;
    readonly leastFree?: number;
  },
  signal: AbortSignal,
): Promise<CommandRun> {
  signal.throwIfAborted();
  const [program = '', ...args] = argv;
  const variables = Object.entries(withoutRepository(options.env)).filter(
    ([name]) => !name.startsWith('FAULTLINE_'),
  );
  const processes = createRunProcesses();
  const env = { ...Object.fromEntries(variables), ...processes.env };
  const startedAt = performance.now();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) processes.adopt(child.pid);
  const keep = cleanAtExit(processes.endNow);
  const output = keepEnd(child.stdout, child.stderr);
  let timedOut = false;
  const end = () => endGroup(child.pid);
  const timer = setTimeout(() => {
    timedOut = true;
    end();
  }, options.limitMs);
  let isFull = false;
  const look = setInterval(() => {
    processes.look();
    void statfs(options.cwd).then(({ bavail, bsize }) => {
      isFull ||= bavail * bsize < (options.leastFree ?? MIN_FREE);
      if (isFull) end();
    }, ignore);
  }, LOOK_MS);
  signal.addEventListener('abort', end, { once: true });
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (cause) =>
        reject(
          new TriageError('invalid-input', `${program} could not be started: ${getErrorMessage(cause)}`, {
            cause,
          }),
        ),
      );
      child.once('close', (code) => resolve(code));
      // A process that left the group, such as a daemon, may keep the output open forever.
      child.once('exit', (code) => setTimeout(() => resolve(code), GRACE_MS).unref());
    });
    signal.throwIfAborted();
    if (isFull)
      throw new TriageError(
        'storage-failed',
        `${program} was ended: the disk of ${options.cwd} is nearly full.`,
      );
    return {
      exitCode: timedOut ? null : exitCode,
      timedOut,
      milliseconds: Math.round(performance.now() - startedAt),
      output: output(),
    };
  } finally {
    clearTimeout(timer);
    clearInterval(look);
    signal.removeEventListener('abort', end);
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
    await processes.end();
    keep();
  }
}

/** Ignores that the folder no longer exists, because the command itself reports this. */
function ignore(): void {}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  kill(pid, 'SIGTERM');
  setTimeout(() => kill(pid, 'SIGKILL'), GRACE_MS).unref();
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

function keepEnd(...streams: readonly NodeJS.ReadableStream[]): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      while (bytes - (chunks[0]?.length ?? 0) >= MAX_OUTPUT_BYTES) bytes -= chunks.shift()?.length ?? 0;
    });
  }
  return () => Buffer.concat(chunks).toString('utf8');
}
