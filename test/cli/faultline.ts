import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Called once it runs. */
  readonly onStart?: (process: { kill(signal: NodeJS.Signals): void }) => void;
  /** Close standard output before anything is written, as `| true` does. */
  readonly closedStdout?: boolean;
  /** Root may read every file; as anybody else it may not. */
  readonly asAnybody?: boolean;
}

/** Takes from root what lets it read and search where the modes forbid it. */
const WITHOUT_PRIVILEGE = ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'];

/** Runs the command line as a person would, in an environment without any of its settings. */
export function faultline(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env;
  const node = [process.execPath, MAIN, ...args];
  const [program = '', ...rest] = options.asAnybody === true && process.getuid?.() === 0 ? [...WITHOUT_PRIVILEGE, ...node] : node;
  const child = spawn(program, rest, {
    cwd: options.cwd ?? process.cwd(),
    env: { PATH, HOME, ...options.env },
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
