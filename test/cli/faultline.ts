import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProcessOptions extends RunOptions {
  /** Called once it runs. */
  readonly onStart?: (process: { kill(signal: NodeJS.Signals): void }) => void;
  /** Close standard output before anything is written, as `| true` does. */
  readonly closedStdout?: boolean;
  readonly cwd?: string;
  /** Root may read every file; as anybody else it may not. */
  readonly asAnybody?: boolean;
}

/** What a run may add listeners for. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the command line in this very process, which spares its start, in an environment without any of its settings. Runs follow each other,
 * since what they print is taken from the process's own streams.
 */
export function runFaultline(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const running = last.then(() => runHere(args, options));
  last = running.catch(() => undefined);
  return running;
}

async function runHere(args: readonly string[], { input = '', env = {} }: RunOptions): Promise<Ended> {
  const [stdout, stderr] = [captureStream(process.stdout), captureStream(process.stderr)];
  const { exitCode, env: environment } = process;
  const listening = SIGNALS.map((signal) => process.listeners(signal));
  const stdin = vi
    .spyOn(process, 'stdin', 'get')
    .mockReturnValue(Readable.from([Buffer.from(input)]) as typeof process.stdin);
  process.exitCode = undefined;
  process.env = { ...listBareVariables(), ...env };
  try {
    await runProgram([process.execPath, 'faultline', ...args]);
    return {
      code: Number(process.exitCode ?? 0),
      signal: null,
      stdout: stdout.text(),
      stderr: stderr.text(),
    };
  } finally {
    process.exitCode = exitCode;
    process.env = environment;
    for (const spy of [stdin, stdout, stderr]) spy.mockRestore();
    for (const [index, signal] of SIGNALS.entries())
      for (const listener of process.listeners(signal))
        if (!listening[index]?.includes(listener)) process.off(signal, listener);
  }
}

function captureStream(stream: NodeJS.WriteStream): { text(): string; mockRestore(): void } {
  const pieces: string[] = [];
  const errors = stream.listeners('error');
  const spy = vi.spyOn(stream, 'write').mockImplementation((piece, ...rest) => {
    pieces.push(String(piece));
    for (const done of rest) if (typeof done === 'function') done();
    return true;
  });
  return {
    text: () => pieces.join(''),
    mockRestore() {
      spy.mockRestore();
      for (const listener of stream.listeners('error'))
        if (!errors.includes(listener)) stream.off('error', listener as () => void);
    },
  };
}

/** The environment without any of our settings. */
function listBareVariables(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME };
}

/** Takes from root what lets it read and search where the modes forbid it. */
const WITHOUT_PRIVILEGE = ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'];

/** Runs the command line as a person would, in a process of its own: for signals, pipes, privileges and what it does before it begins. */
export function runFaultlineProcess(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  const node = [process.execPath, MAIN, ...args];
  const [program = '', ...rest] =
    options.asAnybody === true && process.getuid?.() === 0 ? [...WITHOUT_PRIVILEGE, ...node] : node;
  const child = spawn(program, rest, {
    env: { ...listBareVariables(), ...options.env },
    cwd: options.cwd,
    timeout: 30_000,
  });
  options.onStart?.({ kill: (signal) => void child.kill(signal) });
  if (options.closedStdout === true) child.stdout.destroy();
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  child.stdin.on('error', () => undefined); // it may end before it has read everything
  child.stdin.end(options.input ?? '');
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code, signal) => done({ code, signal, stdout, stderr }));
  });
}
