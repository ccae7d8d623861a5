import { type Git, type GitAnswer, succeeded } from '../../git/command.ts';
import type {
  BlameLine,
  ChangedFile,
  CodeLine,
  CommitInfo,
  Comparison,
  FileHits,
} from '../../ports/code-host.ts';
import {
  assertReadableSize,
  type CommitDiff,
  type FileList,
  type FileWindow,
  lineRange,
  linkError,
  linkTarget,
  MAX_CHANGED_FILES,
  MAX_COMMITS,
  MAX_COMPARED_COMMITS,
  MAX_LINES,
  mostTelling,
  parsePullRequest,
  sliceLines,
  submoduleError,
} from '../code-questions.ts';
import {
  assertAnswered,
  countMatches,
  parseBlame,
  parseChanges,
  parseFiles,
  parseGrep,
  parseLog,
  parsePatches,
} from './git-output.ts';

/** The context of one question: a verified commit of a clone, and git in that clone. */
export interface Place {
  readonly folder: string;
  readonly commit: string;
  git(args: readonly string[], signal: AbortSignal): Promise<GitAnswer>;
  /** Runs git in the same way with a smaller output limit; patches beyond it are left out. */
  patches(args: readonly string[], signal: AbortSignal): Promise<GitAnswer>;
}

export async function isClone(git: Git, folder: string | undefined): Promise<boolean> {
  if (folder === undefined) return false;
  try {
    return succeeded(await git(folder, ['rev-parse', '--git-dir'], AbortSignal.timeout(10_000)));
  } catch {
    return false;
  }
}

/**
 * Returns the branch from which the clone was made, else the one that is checked out; null for a detached
 * head without a remote.
 */
export async function findDefaultBranch(
  git: Git,
  folder: string,
  signal: AbortSignal,
): Promise<string | null> {
  for (const name of ['refs/remotes/origin/HEAD', 'HEAD']) {
    const answer = await git(folder, ['symbolic-ref', '--quiet', '--short', name], signal);
    const branch = answer.output.trim().replace(/^origin\//, '');
    if (succeeded(answer) && branch !== '') return branch;
  }
  return null;
}

export async function resolveCommit(
  git: Git,
  folder: string,
  ref: string,
  signal: AbortSignal,
): Promise<string | null> {
  const answer = await git(
    folder,
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`],
    signal,
  );
  const commit = answer.output.trim();
  return succeeded(answer) && /^[0-9a-f]{40,64}$/.test(commit) ? commit : null;
}

/** Commits whose list of files is kept: it never changes for a commit. */
const KEPT_LISTS = 4;
const MAX_LINKS = 5;

type Range = { readonly lineStart?: number; readonly lineEnd?: number };

/**
 * Reads lines of a committed file; a link is followed within the commit only, and `path` is then the file it
 * leads to.
 */
export async function readWindow(
  place: Place,
  query: { path: string } & Range,
  signal: AbortSignal,
): Promise<FileWindow | null> {
  let path = query.path;
  for (let hops = 0; hops <= MAX_LINKS; hops += 1) {
    const entry = await readEntry(place, path, signal);
    if (entry === null || entry.mode === '040000') {
      if (hops > 0) throw linkError(query.path, path);
      return null;
    }
    if (entry.mode === '160000') throw submoduleError(path);
    if (entry.mode !== '120000')
      return sliceLines(path, await readBlob(place, { path, object: entry.object }, signal), query);
    const link = await readBlob(place, { path, object: entry.object }, signal);
    const target = linkTarget(path, link);
    if (target === null) throw linkError(path, link);
    path = target;
  }
  throw linkError(query.path, path);
}

/**
 * Blames the lines, past changes of white space alone. If the file does not exist or the first line is past the end, git fails and the result is
 * empty.
 */
export async function blameLines(
  place: Place,
  query: { path: string; lineStart: number; lineEnd: number },
  signal: AbortSignal,
): Promise<BlameLine[]> {
  const { first, last } = lineRange(query.lineStart, query.lineEnd, MAX_LINES);
  const args = [
    'blame',
    '--porcelain',
    '-w',
    '--no-textconv',
    '-L',
    `${first},${last}`,
    place.commit,
    '--',
    query.path,
  ];
  const answer = await place.git(args, signal);
  return succeeded(answer) ? parseBlame(answer.output) : [];
}

/** Lists a commit's files (links too, submodules not), remembering the last few lists. */
export function createFileLister(): (place: Place, signal: AbortSignal) => Promise<FileList> {
  const kept = new Map<string, FileList>();
  return async (place, signal) => {
    const key = `${place.folder}\0${place.commit}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const answer = await place.git(['ls-tree', '-r', '-z', '--full-tree', place.commit], signal);
    assertAnswered(answer, 'list the files');
    const entries = answer.output.split('\0').slice(0, -1);
    const paths = entries
      .filter((entry) => !entry.startsWith('160000 '))
      .map((entry) => entry.slice(entry.indexOf('\t') + 1));
    const list = { paths, truncated: answer.cut };
    const oldest = kept.keys().next().value;
    if (kept.size >= KEPT_LISTS && oldest !== undefined) kept.delete(oldest);
    kept.set(key, list);
    return list;
  };
}

async function readEntry(place: Place, path: string, signal: AbortSignal) {
  const answer = await place.git(['ls-tree', '-z', '--full-tree', place.commit, '--', path], signal);
  const fields = succeeded(answer) ? /^(\d{6}) [a-z]{1,10} ([0-9a-f]{40,64})\t/.exec(answer.output) : null;
  return fields === null ? null : { mode: fields[1] ?? '', object: fields[2] ?? '' };
}

async function readBlob(
  place: Place,
  { path, object }: { path: string; object: string },
  signal: AbortSignal,
): Promise<string> {
  const size = await place.git(['cat-file', '-s', object], signal);
  assertAnswered(size, `read ${path}; a partial clone may not hold it`);
  assertReadableSize(path, Number(size.output));
  const blob = await place.git(['cat-file', 'blob', object], signal);
  assertAnswered(blob, `read ${path}`);
  return blob.output;
}

const FACTS = '--format=%H%x00%an%x00%aI%x00%s';
const NAMES = [
  '--name-only',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
  '--diff-merges=first-parent',
  '--format=%H',
];
/** Commits whose files are asked for in one command: well below the longest command line of any system. */
const COMMITS_A_COMMAND = 250;

/** Commits of a range (`commit` or `^base commit`), newest first, with their files. */
export async function readHistory(
  place: Place,
  query: { range?: readonly string[]; path?: string | undefined; limit: number },
  signal: AbortSignal,
): Promise<CommitInfo[]> {
  const { range = [place.commit], path, limit } = query;
  const args = [
    'log',
    '-z',
    '-n',
    String(limit),
    FACTS,
    ...range,
    '--',
    ...(path === undefined ? [] : [path]),
  ];
  return withFiles(place, await place.git(args, signal), signal);
}

/**
 * Runs `git log -L` without its diff. If the file or the lines do not exist, git fails and the result is
 * empty.
 */
export async function readLineHistory(
  place: Place,
  query: { path: string; lineStart: number; lineEnd: number; limit: number },
  signal: AbortSignal,
): Promise<CommitInfo[]> {
  const { first, last } = lineRange(query.lineStart, query.lineEnd, MAX_LINES);
  const limit = String(Math.min(query.limit, MAX_COMMITS));
  const args = [
    'log',
    '-z',
    '-n',
    limit,
    '-L',
    `${first},${last}:${query.path}`,
    '--no-patch',
    '--no-ext-diff',
    '--no-textconv',
    FACTS,
  ];
  const answer = await place.git([...args, place.commit, '--'], signal);
  return succeeded(answer) ? withFiles(place, answer, signal) : [];
}

async function withFiles(place: Place, facts: GitAnswer, signal: AbortSignal): Promise<CommitInfo[]> {
  assertAnswered(facts, 'read the history');
  const commits = parseLog(facts.output);
  const ids = commits.map((commit) => commit.commit).slice(0, COMMITS_A_COMMAND);
  // Without a commit named, git would tell of its own HEAD.
  if (ids.length === 0) return [];
  const names = await place.git(['log', '-z', '--no-walk=unsorted', ...NAMES, ...ids, '--'], signal);
  assertAnswered(names, 'read the history');
  const files = parseFiles(names.output, ids);
  return commits.map((commit) => ({ ...commit, files: files.get(commit.commit) ?? [] }));
}

const OPTIONS = ['-z', '-F', '-I', '--no-color', '--full-name', '--no-textconv', '--no-recurse-submodules'];

/** Finds the lines that contain a text, case-sensitively. */
export async function grepLines(
  place: Place,
  { text, limit }: { text: string; limit: number },
  signal: AbortSignal,
): Promise<CodeLine[]> {
  const answer = await place.git(['grep', '-n', ...OPTIONS, '-e', text, place.commit, '--'], signal);
  assertAnswered(answer, 'search the repository');
  return parseGrep(answer.output, place.commit, limit);
}

/**
 * Ranks files by the number of distinct words that they contain. `-o` prints every occurrence, whereas `-c`
 * would count lines and not distinguish the words.
 */
export async function grepFiles(
  place: Place,
  { words, limit }: { words: readonly string[]; limit: number },
  signal: AbortSignal,
): Promise<FileHits[]> {
  const patterns = words.flatMap((word) => ['-e', word]);
  const answer = await place.git(['grep', '-o', '-i', ...OPTIONS, ...patterns, place.commit, '--'], signal);
  assertAnswered(answer, 'search the repository');
  return mostTelling(countMatches(answer.output, place.commit, words), limit);
}

type Changes = Pick<Comparison, 'files' | 'truncated'>;

const DIFF = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--find-renames',
  '--submodule=short',
  '--ignore-submodules=none',
];
/** Renames are searched for among at most so many files: the work grows with the square. */
const RENAMES = '-l400';
/** Finding the merge that brought a commit walks the whole history since: a remark is not worth more. */
const MERGE_SEARCH_MS = 3_000;

/** Returns the changes of one commit against its first parent. */
export async function readCommitDiff(place: Place, signal: AbortSignal): Promise<CommitDiff | null> {
  const [[commit], isCut] = await Promise.all([
    readHistory(place, { limit: 1 }, signal),
    isShallowEnd(place, signal),
  ]);
  if (commit === undefined) return null;
  const pullRequest = commit.pullRequest ?? (await pullRequestOfMerge(place, signal));
  // What the last commit of a shallow clone changed is not known: git would call every file new.
  if (isCut) return { commit: { ...commit, files: [], pullRequest }, files: [], truncated: true };
  const show = (kind: readonly string[]) => [
    'show',
    '--diff-merges=first-parent',
    '--format=',
    ...kind,
    ...DIFF,
    RENAMES,
    place.commit,
    '--',
  ];
  return { commit: { ...commit, pullRequest }, ...(await readChanges(place, show, signal)) };
}

/** Returns the changes of `place` since its merge base with `base`; null if they have no common history. */
export async function readComparison(
  place: Place,
  base: string,
  signal: AbortSignal,
): Promise<Comparison | null> {
  const common = await place.git(['merge-base', base, place.commit], signal);
  const from = common.output.trim();
  if (!succeeded(common) || from === '') return null;
  const range = [`^${base}`, place.commit];
  const diff = (kind: readonly string[]) => ['diff', ...kind, ...DIFF, RENAMES, from, place.commit, '--'];
  const [commits, changes] = await Promise.all([
    readHistory(place, { range, limit: MAX_COMPARED_COMMITS + 1 }, signal),
    readChanges(place, diff, signal),
  ]);
  const truncated = changes.truncated || commits.length > MAX_COMPARED_COMMITS;
  return { commits: commits.slice(0, MAX_COMPARED_COMMITS), files: changes.files, truncated };
}

async function readChanges(
  place: Place,
  command: (kind: readonly string[]) => readonly string[],
  signal: AbortSignal,
): Promise<Changes> {
  const [names, patches] = await Promise.all([
    place.git(command(['--raw', '--numstat', '-z', '--no-abbrev']), signal),
    place.patches(command(['--patch', '--unified=3', '--inter-hunk-context=0']), signal),
  ]);
  assertAnswered(names, 'read the changes');
  assertAnswered(patches, 'read the changes');
  const changes = parseChanges(names.output);
  const texts = parsePatches(patches, changes);
  const files = changes.map((change, index): ChangedFile => {
    const { path, previousPath, status, additions, deletions } = change;
    return { path, previousPath, status, additions, deletions, patch: texts[index] ?? null };
  });
  return {
    files: files.slice(0, MAX_CHANGED_FILES),
    truncated: names.cut || patches.cut || files.length > MAX_CHANGED_FILES,
  };
}

/** Checks whether the clone lacks the parent of the commit. */
async function isShallowEnd(place: Place, signal: AbortSignal): Promise<boolean> {
  const [seen, written] = await Promise.all([
    place.git(['log', '-1', '--format=%P', place.commit, '--'], signal),
    place.git(['cat-file', 'commit', place.commit], signal),
  ]);
  return succeeded(seen) && seen.output.trim() === '' && /^parent /m.test(written.output.slice(0, 200));
}

/**
 * Returns the pull request of the merge that brought a commit into the checked-out branch, if the subject of
 * the merge names one.
 */
async function pullRequestOfMerge(place: Place, signal: AbortSignal): Promise<number | null> {
  const list = (option: string) => ['rev-list', option, '-n', '5000', `${place.commit}..HEAD`, '--'];
  const soon = AbortSignal.any([signal, AbortSignal.timeout(MERGE_SEARCH_MS)]);
  try {
    const [descendants, trunk] = await Promise.all([
      place.git(list('--ancestry-path'), soon),
      place.git(list('--first-parent'), soon),
    ]);
    const later = new Set(descendants.output.trim().split('\n'));
    const merge = trunk.output
      .trim()
      .split('\n')
      .findLast((commit) => commit !== '' && later.has(commit));
    if (merge === undefined) return null;
    // What the branch had before that merge came by itself, not with it.
    const [subject, before] = await Promise.all([
      place.git(['log', '-1', '--merges', '--format=%s', merge, '--'], soon),
      place.git(['merge-base', '--is-ancestor', place.commit, `${merge}^1`], soon),
    ]);
    return succeeded(before) ? null : parsePullRequest(subject.output.trim());
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}
