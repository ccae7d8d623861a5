import { execFile } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { TriageError } from '../../domain/errors.ts';

export interface GitOptions {
  /** Where git is looked for. Nothing else of our environment reaches it. */
  readonly path?: string;
  /** Time limit of one command, in milliseconds. */
  readonly timeoutMs?: number;
  /** Most bytes read of one command. */
  readonly maxOutputBytes?: number;
}

export interface GitAnswer {
  readonly exitCode: number;
  readonly output: string;
  /** True where the output was longer than the limit; `output` is its beginning. */
  readonly cut: boolean;
}

/** Runs one git command in one clone. Throws TriageError `timeout`, `cancelled`, or `upstream-failed` where git cannot be run or refuses the folder. */
export type Git = (folder: string, args: readonly string[], signal: AbortSignal) => Promise<GitAnswer>;

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';
/** Exit codes that are answers: 1 is "nothing found". Git says 128 when it gives up. */
const GAVE_UP = 128;

/**
 * Settings against a clone that means harm: its own configuration must not start programs (file monitor, hooks, signature
 * and text converters), nothing is fetched, and no lock is taken. `safe.directory`: the folder was named by the operator,
 * so it may belong to somebody else.
 */
function guards(folder: string): string[] {
  const settings = [
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    'core.pager=cat',
    'protocol.allow=never',
    'log.showSignature=false',
    'log.showRoot=true',
    'diff.noprefix=false',
    'diff.orderFile=/dev/null',
    'diff.relative=false',
    'submodule.recurse=false',
    `safe.directory=${resolve(folder)}`,
  ];
  return ['--no-pager', '--no-optional-locks', '--literal-pathspecs', ...settings.flatMap((setting) => ['-c', setting])];
}

function environment(path: string, folder: string): Record<string, string> {
  return {
    PATH: path,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    // A folder that is no clone must not be taken for a part of one above it.
    GIT_CEILING_DIRECTORIES: dirname(resolve(folder)),
  };
}

/** Git without a shell, with a bare environment, a time limit and an output limit. */
export function createGit(options: GitOptions = {}): Git {
  const { path = DEFAULT_PATH, timeoutMs = 20_000, maxOutputBytes = 64 * 1024 * 1024 } = options;
  return (folder, args, signal) => {
    const { promise, resolve: answer, reject } = Promise.withResolvers<GitAnswer>();
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes, signal, windowsHide: true } as const;
    const settings = { ...limits, env: environment(path, folder), cwd: folder, encoding: 'utf8' } as const;
    execFile('git', [...guards(folder), ...args], settings, (error, output, complaint) => {
      if (error === null) return answer({ exitCode: 0, output, cut: false });
      if (signal.aborted) return reject(new TriageError('cancelled', 'Reading the clone was canceled.', { cause: signal.reason }));
      if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return answer({ exitCode: 0, output, cut: true });
      if (error.killed === true) return reject(new TriageError('timeout', `git ${args[0]} took longer than ${timeoutMs} ms.`));
      if (typeof error.code === 'number' && !saysFolderIsBad(complaint)) return answer({ exitCode: error.code, output, cut: false });
      return reject(cannotRun(folder, complaint, error));
    });
    return promise;
  };
}

/** Whether git answered; a thing that does not exist (unknown path, line past the end) makes it give up, and that is an answer too. */
export function succeeded(answer: GitAnswer): boolean {
  return answer.exitCode === 0;
}

/** Throws where git gave up for a reason that is not "no such thing". */
export function assertAnswered(answer: GitAnswer, what: string): void {
  if (answer.exitCode >= GAVE_UP) throw new TriageError('upstream-failed', `git could not ${what} (exit code ${answer.exitCode}).`);
}

function saysFolderIsBad(complaint: string): boolean {
  return /not a git repository|dubious ownership|cannot change to|unknown repository extension/i.test(complaint);
}

function cannotRun(folder: string, complaint: string, cause: Error): TriageError {
  const said = complaint.split('\n')[0]?.slice(0, 200) || cause.message.split('\n')[0]?.slice(0, 200);
  return new TriageError('upstream-failed', `git cannot read ${folder}: ${said}`, { cause });
}
