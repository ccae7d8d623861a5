import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { escapePattern } from '../lib/text.ts';

/** The top folder of a checkout or worktree, and the folder in it where a command runs. */
export interface WorkFolder {
  readonly folder: string;
  readonly cwd: string;
}

interface NamedFolder extends WorkFolder {
  /** The path by which `cwd` was named, possibly with symbolic links. */
  readonly named: string;
}

/**
 * Finds the checkout or worktree to which a folder belongs, without symbolic links in its path. Returns the
 * folder itself if there is none.
 */
export function findWorkFolder(path: string): NamedFolder {
  const named = resolve(path);
  const cwd = resolveRealPath(named);
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return { folder, cwd, named };
    if (folder === dirname(folder)) return { folder: cwd, cwd, named };
  }
}

/**
 * Returns a file that a log names as an argument relative to `cwd`. Returns null if the file is outside the
 * worktree, directly or through symbolic links, or if a tool could read it as an option or as a file of
 * options.
 */
export function toFileArgument({ folder, cwd }: WorkFolder, file: string): string | null {
  const path = resolve(cwd, file);
  if (!isInside(resolveRealPath(folder), resolveRealPath(path))) return null;
  const argument = relative(cwd, isInside(folder, path) ? path : resolveRealPath(path));
  return argument === '' || /^[-@]/.test(argument) ? null : argument;
}

/** The folders of dependencies that a worktree shares with the checkout. */
const SHARED = ['node_modules', '.venv', 'venv', 'vendor'];

/**
 * Finds an argument that names a path of the worktree from which a symbolic link leads outside. Links of
 * shared dependencies do not count.
 */
export function findStrayArgument({ folder, cwd }: WorkFolder, argv: readonly string[]): string | null {
  const top = resolveRealPath(folder);
  const leadsOut = (word: string) => {
    const path = resolve(cwd, word.split('::')[0] ?? '');
    if (
      word.startsWith('-') ||
      !isInside(resolve(folder), path) ||
      !existsSync(path) ||
      isInside(top, resolveRealPath(path))
    )
      return false;
    return !SHARED.includes(relative(folder, path).split(sep)[0] ?? '');
  };
  return argv.find(leadsOut) ?? null;
}

/** The variables that tell tools where the code is. */
const CODE_VARIABLES = [
  'PWD',
  'INIT_CWD',
  'PYTHONPATH',
  'NODE_PATH',
  'RUBYLIB',
  'PERL5LIB',
  'CLASSPATH',
  'GITHUB_WORKSPACE',
  'CI_PROJECT_DIR',
  'WORKSPACE',
  'CIRCLE_WORKING_DIRECTORY',
  'BUILDKITE_BUILD_CHECKOUT_PATH',
  'BUILD_SOURCESDIRECTORY',
];

interface Command {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Returns the command for another worktree. Paths of the checkout become paths of the worktree, so that the
 * command runs none of the checkout's files.
 */
export function moveCommand({ argv, env }: Command, from: NamedFolder, to: WorkFolder): Command {
  if (resolveRealPath(to.folder) === resolveRealPath(from.folder) || from.folder === dirname(from.folder))
    return { argv, env };
  const moves = [[from.folder, to.folder] as const, ...moveOfName(from, to)];
  const move = (text: string) =>
    moves.reduce((moved, [before, after]) => movePaths(moved, before, after), text);
  const variables = CODE_VARIABLES.flatMap((name) =>
    env[name] === undefined ? [] : [[name, move(env[name])] as const],
  );
  return { argv: argv.map(move), env: { ...env, ...Object.fromEntries(variables) } };
}

/**
 * Returns the replacement for the name of a folder that is reached through symbolic links. If a link leads to
 * the top folder, the name of the top folder is replaced.
 */
function moveOfName({ folder, cwd, named }: NamedFolder, to: WorkFolder): (readonly [string, string])[] {
  if (named === cwd) return [];
  const below = cwd.slice(folder.length);
  const top = named.endsWith(below) ? named.slice(0, named.length - below.length) : '';
  return top !== '' && resolveRealPath(top) === folder ? [[top, to.folder]] : [[named, to.cwd]];
}

/**
 * Replaces a path where a path begins, as in `-I/shop/lib`, `--root=/shop`, and `file:///shop`, but not in
 * `/old/shop`.
 */
function movePaths(text: string, from: string, to: string): string {
  const escaped = escapePattern(from);
  return text.replaceAll(new RegExp(`${escaped}(?=$|[/\\s:,;"'])`, 'g'), (found, at: number) =>
    beginsPath(text, at) ? to : found,
  );
}

/**
 * Tells whether a path begins at this position: there is no slash before it in its word except those of a
 * `file:` scheme.
 */
function beginsPath(text: string, at: number): boolean {
  const word =
    text
      .slice(Math.max(0, at - 4_096), at)
      .split(/[\s=:,;"']/)
      .at(-1) ?? '';
  return !word.includes('/') || text.startsWith('file://', at - 'file://'.length);
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Resolves the symbolic links of a path, as far as the path exists. */
function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(resolveRealPath(parent), basename(path));
  }
}
