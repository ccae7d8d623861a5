import { readFile } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { TriageError } from '../domain/errors.ts';
import {
  createGit,
  type GitOptions,
  getTrustedPath,
  isSuccess,
  REPOSITORY_VARIABLES,
} from '../git/command.ts';
import { findWorkFolder } from './checkout-paths.ts';
import { type GitSettings, readGitSettings } from './git-settings.ts';

/**
 * The folder of an experiment, its environment, and the words before its commands, such as those that turn
 * off the network.
 */
export interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly within?: readonly string[];
}

/**
 * Runs git and returns its output without line breaks at the end. Throws `invalid-input` with git's own
 * message.
 */
export type AskGit = (...args: readonly string[]) => Promise<string>;

/** The repository of a checkout, which experiments read and do not write. */
export interface Repository {
  /** The top folder of its worktree. */
  readonly top: string;
  /** The folder in which the experiment is made: `top` or a folder below it. */
  readonly cwd: string;
  readonly place: Place;
  /** The limits, words and search path of every git command of the experiment. */
  readonly how: GitOptions;
  readonly git: AskGit;
  /** Runs git with the network, for `git fetch`. */
  readonly gitOnline: (args: readonly string[], input?: string) => Promise<string>;
  readonly settings: GitSettings;
  readonly format: 'sha1' | 'sha256';
  readonly objects: string;
  readonly index: string;
  /** The contents of the repository's own files. Undefined if it has none. */
  readonly shallow: string | undefined;
  readonly attributes: string | undefined;
  readonly sparse: string | undefined;
}

const GIT_MS = 120_000;
const PROTOCOLS = ['https', 'http', 'ssh', 'file'];
/**
 * The variables that git gets in addition to those of every git command: those that connections need and, in
 * `CONFIGURATION`, those that locate a user's configuration.
 */
const CONNECTION = /^(?:(?:https?|all|no)_proxy|SSL_CERT_(?:FILE|DIR)|GIT_SSL_CAINFO|SSH_AUTH_SOCK)$/i;
const CONFIGURATION = /^(?:HOME|XDG_CONFIG_HOME|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))$/;
// biome-ignore format: one option and its path after the other
const PATHS = [
  '--git-path', 'index', '--git-path', 'objects', '--git-path', 'shallow', '--git-path', 'info/attributes',
  '--git-path', 'info/sparse-checkout',
];

/**
 * Opens the repository of a folder. Runs nothing that the repository or its user has configured. Throws
 * `invalid-input` if `cwd` is not in a git checkout.
 */
export async function openRepository(place: Place): Promise<Repository> {
  const { env, within = [] } = place;
  // Git reports paths without symbolic links.
  const { folder, cwd } = findWorkFolder(place.cwd);
  const how: GitOptions = { path: getTrustedPath(env.PATH, folder), timeoutMs: GIT_MS, within };
  const find = askIn(cwd, { ...how, searchesUpward: true });
  const output = await find(
    'rev-parse',
    '--path-format=absolute',
    '--show-toplevel',
    '--git-common-dir',
    ...PATHS,
    '--show-object-format',
  );
  const [
    top = '',
    common = '',
    index = '',
    objects = '',
    shallow = '',
    attributes = '',
    sparse = '',
    format,
    ...more
  ] = output.split('\n');
  const way = relative(top, cwd);
  if (more.length > 0 || way.split('/')[0] === '..' || isAbsolute(way))
    throw new TriageError(
      'invalid-input',
      `${cwd} is not in the work tree that its repository names, ${top}.`,
    );
  const config = await askIn(top, {
    ...how,
    env: { GIT_CONFIG_NOSYSTEM: undefined, GIT_CONFIG_GLOBAL: undefined, ...pick(env, CONFIGURATION) },
  })('config', '--list', '-z');
  const home = env.HOME ?? '/nonexistent';
  const settings = readGitSettings(config, {
    common,
    home,
    config: env.XDG_CONFIG_HOME ?? join(home, '.config'),
  });
  const online = { ...how, env: pick(env, CONNECTION), protocols: PROTOCOLS };
  return {
    top,
    cwd,
    place,
    how,
    settings,
    objects,
    index,
    format: format === 'sha256' ? format : 'sha1',
    git: askIn(top, how),
    gitOnline: (args, input) => askGit(top, online, args, input),
    shallow: await readText(shallow),
    attributes: await readText(attributes),
    sparse: settings.hasSparseFiles ? await readText(sparse) : undefined,
  };
}

/**
 * Returns the environment of a command without variables that name a repository, such as those that hooks
 * get. Otherwise the command would use another repository than the one in which it runs.
 */
export function withoutRepository(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // Settings by environment belong to the job, such as the source of private modules.
  const isKept = (name: string) =>
    name === 'GIT_CONFIG_COUNT' || name === 'GIT_CONFIG_PARAMETERS' || !REPOSITORY_VARIABLES.has(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}

const never = new AbortController().signal;

/** Runs git. Throws `invalid-input` with git's own message. */
export async function askGit(
  folder: string,
  options: GitOptions,
  args: readonly string[],
  input?: string,
): Promise<string> {
  const answer = await createGit(options)(folder, args, never, input).catch((cause: unknown) => {
    throw cause instanceof TriageError && cause.code === 'upstream-failed'
      ? new TriageError('invalid-input', cause.message, { cause })
      : cause;
  });
  if (answer.cut)
    throw new TriageError('invalid-input', `git ${args[0]} in ${folder} printed more than can be read.`);
  if (isSuccess(answer)) return withoutLastBreaks(answer.output);
  throw new TriageError(
    'invalid-input',
    `git ${args[0]} in ${folder}: ${answer.complaint.trim().slice(0, 500)}`,
  );
}

function askIn(folder: string, options: GitOptions): AskGit {
  return (...args) => askGit(folder, options, args);
}

function pick(env: NodeJS.ProcessEnv, names: RegExp): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      names.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}

async function readText(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined);
}

function withoutLastBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end--;
  return text.slice(0, end);
}
