import { TriageError } from '../../domain/errors.ts';
import type { CodeHost, CommitInfo } from '../../ports/code-host.ts';
import { lineRange, plainRef, repositoryPath, searchText } from './git-arguments.ts';
import { assertAnswered, createGit, type Git, type GitOptions, succeeded } from './git-command.ts';
import { parseBlame, parseFiles, parseGrep, parseLog } from './git-output.ts';

export interface LocalGitOptions extends GitOptions {
  /** `owner/name` → folder of a clone, bare or not. */
  readonly clones: Readonly<Record<string, string>>;
}

const MAX_LINES = 200;
const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_COMMITS = 100;
/** Repositories whose list of files is kept: it never changes for a commit. */
const KEPT_LISTS = 4;

/** What one question needs: the clone and the commit, already checked. */
interface Place {
  readonly folder: string;
  readonly commit: string;
}

type Ask = (place: Place, args: readonly string[], signal: AbortSignal) => ReturnType<Git>;

/**
 * Reads clones on this machine with git itself: committed state only, never the work tree, never the network. Texts from
 * outside reach git only after `--`, `-e` or as a checked commit id.
 */
export function createLocalGitHost(options: LocalGitOptions): CodeHost {
  const git = createGit(options);
  const folderOf = (repository: string) => (Object.hasOwn(options.clones, repository) ? options.clones[repository] : undefined);
  const ask: Ask = ({ folder }, args, signal) => git(folder, args, signal);
  const listFiles = createFileLister(ask);
  async function placeOf(query: { repository: string; ref: string | null }, signal: AbortSignal): Promise<Place | null> {
    const ref = query.ref === null ? 'HEAD' : plainRef(query.ref);
    const folder = folderOf(query.repository);
    const commit = folder === undefined ? null : await commitOf(git, folder, ref, signal);
    return folder === undefined || commit === null ? null : { folder, commit };
  }
  return {
    driver: 'local-git',
    canRead: async (repository) => isClone(git, folderOf(repository)),
    async resolve(query, signal) {
      const place = await placeOf(query, signal);
      if (place !== null) return { ref: place.commit, note: null };
      const head = query.ref === null ? null : await placeOf({ ...query, ref: null }, signal);
      if (head === null) return { ref: null, note: null };
      return { ref: head.commit, note: `as of ${head.commit.slice(0, 10)}: ${query.ref?.slice(0, 10)} is not in the clone` };
    },
    async readFile(query, signal) {
      const path = repositoryPath(query.path);
      const place = await placeOf(query, signal);
      return place === null ? null : readWindow(ask, place, { ...query, path }, signal);
    },
    async search(query, signal) {
      const text = searchText(query.text);
      const place = await placeOf(query, signal);
      return place === null ? [] : grep(ask, place, text, query.limit, signal);
    },
    async findFiles(query, signal) {
      const suffix = repositoryPath(query.suffix);
      const place = await placeOf(query, signal);
      if (place === null) return [];
      const paths = await listFiles(place, signal);
      const matches = paths.filter((path) => path === suffix || path.endsWith(`/${suffix}`));
      return matches.sort((left, right) => left.length - right.length || left.localeCompare(right)).slice(0, query.limit);
    },
    async blame(query, signal) {
      const path = repositoryPath(query.path);
      const { first, last } = lineRange(query.lineStart, query.lineEnd, MAX_LINES);
      const place = await placeOf(query, signal);
      if (place === null) return [];
      // Git gives up on a file that is not there and on a first line past the end: nobody to blame, in both cases.
      const args = ['blame', '--porcelain', '--no-textconv', '-L', `${first},${last}`, place.commit, '--', path];
      const answer = await ask(place, args, signal);
      return succeeded(answer) ? parseBlame(answer.output) : [];
    },
    async history(query, signal) {
      const path = query.path === undefined ? [] : [repositoryPath(query.path)];
      const place = await placeOf(query, signal);
      return place === null ? [] : readHistory(ask, place, path, Math.min(query.limit, MAX_COMMITS), signal);
    },
  };
}

async function isClone(git: Git, folder: string | undefined): Promise<boolean> {
  if (folder === undefined) return false;
  try {
    return succeeded(await git(folder, ['rev-parse', '--git-dir'], AbortSignal.timeout(10_000)));
  } catch {
    return false;
  }
}

async function commitOf(git: Git, folder: string, ref: string, signal: AbortSignal): Promise<string | null> {
  const answer = await git(folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`], signal);
  const commit = answer.output.trim();
  return succeeded(answer) && /^[0-9a-f]{40,64}$/.test(commit) ? commit : null;
}

async function readWindow(ask: Ask, place: Place, query: { path: string; lineStart?: number; lineEnd?: number }, signal: AbortSignal) {
  const object = `${place.commit}:${query.path}`;
  const size = await ask(place, ['cat-file', '-s', object], signal);
  if (!succeeded(size)) return null;
  if (Number(size.output) > MAX_FILE_BYTES) throw new TriageError('too-large', `${query.path} is larger than 5 MB.`);
  const blob = await ask(place, ['cat-file', 'blob', object], signal);
  if (!succeeded(blob)) return null;
  if (blob.output.includes('\0')) throw new TriageError('unsupported-type', `${query.path} is not a text file.`);
  const all = blob.output.split('\n');
  if (all.at(-1) === '') all.pop();
  const { first, last } = lineRange(query.lineStart, query.lineEnd, MAX_LINES);
  return { path: query.path, lineStart: first, lines: all.slice(first - 1, last), totalLines: all.length };
}

async function grep(ask: Ask, place: Place, text: string, limit: number, signal: AbortSignal) {
  const options = ['-n', '-z', '-F', '-I', '--no-color', '--full-name', '--no-textconv', '--no-recurse-submodules'];
  const answer = await ask(place, ['grep', ...options, '-e', text, place.commit, '--'], signal);
  assertAnswered(answer, 'search the repository');
  return parseGrep(answer.output, place.commit, limit);
}

async function readHistory(ask: Ask, place: Place, path: readonly string[], limit: number, signal: AbortSignal): Promise<CommitInfo[]> {
  const log = (...options: string[]) => ask(place, ['log', '-z', '-n', String(limit), ...options, place.commit, '--', ...path], signal);
  const [facts, names] = await Promise.all([
    log('--format=%H%x00%an%x00%aI%x00%s'),
    log('--name-only', '--no-ext-diff', '--no-textconv', '--no-renames', '--diff-merges=first-parent', '--format=%H'),
  ]);
  assertAnswered(facts, 'read the history');
  assertAnswered(names, 'read the history');
  const commits = parseLog(facts.output);
  const files = parseFiles(
    names.output,
    commits.map((commit) => commit.commit),
  );
  return commits.map((commit) => ({ ...commit, files: files.get(commit.commit) ?? [] }));
}

/** Lists a commit's files, remembering the last few lists. */
function createFileLister(ask: Ask): (place: Place, signal: AbortSignal) => Promise<readonly string[]> {
  const kept = new Map<string, readonly string[]>();
  return async (place, signal) => {
    const key = `${place.folder}\0${place.commit}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const answer = await ask(place, ['ls-tree', '-r', '-z', '--name-only', '--full-tree', place.commit], signal);
    assertAnswered(answer, 'list the files');
    const paths = answer.output.split('\0').slice(0, -1);
    const oldest = kept.keys().next().value;
    if (kept.size >= KEPT_LISTS && oldest !== undefined) kept.delete(oldest);
    kept.set(key, paths);
    return paths;
  };
}
