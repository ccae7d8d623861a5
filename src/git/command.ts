import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TriageError } from '../domain/errors.ts';

export interface GitOptions {
  /** The search path that is used to find git. */
  readonly path?: string;
  /** The time limit of one command in milliseconds. */
  readonly timeoutMs?: number;
  /** The maximum number of bytes that are read from one command. */
  readonly maxOutputBytes?: number;
  /** The words before git, such as those that run it without network access. */
  readonly within?: readonly string[];
  /**
   * Variables that are added to the minimal environment or override it. No other variable of this process is
   * passed to git.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Settings in addition to {@link GUARDS}, such as `core.autocrlf=true`. */
  readonly settings?: readonly string[];
  /** The protocols by which a command may fetch. None by default. */
  readonly protocols?: readonly string[];
  /** True if the folder may be part of a clone in a folder above it. */
  readonly searchesUpward?: boolean;
}

export interface GitAnswer {
  readonly exitCode: number;
  readonly output: string;
  /** The text that git wrote to standard error. */
  readonly complaint: string;
  /** True if the output was longer than the limit. Then `output` is its beginning. */
  readonly cut: boolean;
}

/**
 * Runs one git command in one clone. Throws TriageError `timeout`, `cancelled`, or `upstream-failed` if git
 * cannot be run or refuses the folder.
 */
export type Git = (
  folder: string,
  args: readonly string[],
  signal: AbortSignal,
  input?: string,
) => Promise<GitAnswer>;

/**
 * Variables by which git passes the repository to its hooks and `rebase --exec`: the output of
 * `git rev-parse --local-env-vars`.
 */
export const REPOSITORY_VARIABLES: ReadonlySet<string> = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_PARAMETERS',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';

/**
 * Returns a user's search path without the folders of the checkout, because a test may put a program named
 * git there.
 */
export function getTrustedPath(path: string | undefined, checkout: string): string {
  const isIn = (folder: string) => `${folder}/`.startsWith(`${resolve(checkout)}/`);
  const isOutside = (folder: string) =>
    isAbsolute(folder) && !isIn(resolve(folder)) && !isIn(getRealPath(folder));
  const folders = (path ?? '')
    .split(delimiter)
    .filter((folder) => isOutside(folder) && !folder.includes('node_modules'));
  return [...folders, DEFAULT_PATH].join(delimiter);
}

function getRealPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/**
 * Settings that protect against a malicious clone. Its configuration must not start programs (file monitor,
 * hooks, pager, editor, helpers for credentials, connections and signatures), and no lock is taken.
 * `safe.directory`: the operator chose the folder, so another owner is accepted.
 */
const GUARDS = [
  'core.alternateRefsCommand=true',
  'core.askPass=true',
  'core.editor=true',
  'core.fsmonitor=false',
  'core.gitProxy=',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.sshCommand=ssh -o BatchMode=yes',
  'credential.helper=',
  'diff.noprefix=false',
  'diff.orderFile=/dev/null',
  'diff.relative=false',
  'gc.auto=0',
  'log.showRoot=true',
  'log.showSignature=false',
  'maintenance.auto=false',
  'protocol.allow=never',
  'safe.directory=*',
  'submodule.recurse=false',
];

function createEnvironment(
  { path = DEFAULT_PATH, protocols = [], searchesUpward = false, env = {} }: GitOptions,
  folder: string,
) {
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
    // This takes precedence over all settings. A clone's own `protocol.<name>.allow` would override
    // `protocol.allow`.
    GIT_ALLOW_PROTOCOL: protocols.join(':'),
    // Without this, a folder that is not a clone would be treated as part of a clone above it.
    ...(searchesUpward ? {} : { GIT_CEILING_DIRECTORIES: dirname(resolve(folder)) }),
    ...env,
  };
}

/**
 * Creates a git runner without a shell, with a minimal environment, guards against the clone's configuration,
 * a time limit and an output limit.
 */
export function createGit(options: GitOptions = {}): Git {
  const { timeoutMs = 20_000, maxOutputBytes = 64 * 1024 * 1024, within = [], settings = [] } = options;
  const guards = ['--no-pager', '--no-optional-locks', '--literal-pathspecs'];
  for (const setting of [...GUARDS, ...settings]) guards.push('-c', setting);
  return async (folder, args, signal, input) => {
    await waitForTurn();
    const { promise, resolve: answer, reject } = Promise.withResolvers<GitAnswer>();
    const limits = {
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: maxOutputBytes,
      signal,
      windowsHide: true,
    } as const;
    const how = {
      ...limits,
      env: createEnvironment(options, folder),
      cwd: folder,
      encoding: 'utf8',
    } as const;
    const [program = 'git', ...words] = [...within, 'git', ...guards, ...args];
    const child = execFile(program, words, how, (error, output, complaint) => {
      if (error === null) return answer({ exitCode: 0, output, complaint, cut: false });
      if (signal.aborted)
        return reject(
          new TriageError('cancelled', 'Reading the clone was canceled.', { cause: signal.reason }),
        );
      if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
        return answer({ exitCode: 0, output, complaint, cut: true });
      if (error.killed === true)
        return reject(new TriageError('timeout', `git ${args[0]} took longer than ${timeoutMs} ms.`));
      if (typeof error.code === 'number' && !saysFolderIsBad(complaint))
        return answer({ exitCode: error.code, output, complaint, cut: false });
      return reject(createCannotRunError(folder, complaint, error));
    });
    // Git may end before it has read all of its input.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
    return promise;
  };
}

let lastStart: Promise<unknown> = Promise.resolve();

/**
 * Waits for the next turn of the event loop. Starting a program blocks it for milliseconds, so each turn
 * starts one.
 */
function waitForTurn(): Promise<unknown> {
  lastStart = lastStart.then(() => nextTurn());
  return lastStart;
}

/**
 * Checks whether git exited with 0. Git also fails for things that do not exist (an unknown path, a line past
 * the end); such a failure is a valid answer.
 */
export function isSuccess(answer: GitAnswer): boolean {
  return answer.exitCode === 0;
}

function saysFolderIsBad(complaint: string): boolean {
  return /not a git repository|dubious ownership|cannot change to|unknown repository extension/i.test(
    complaint,
  );
}

function createCannotRunError(folder: string, complaint: string, cause: Error): TriageError {
  const firstLine = complaint.split('\n')[0]?.slice(0, 200) || cause.message.split('\n')[0]?.slice(0, 200);
  return new TriageError('upstream-failed', `git cannot read ${folder}: ${firstLine}`, { cause });
}
