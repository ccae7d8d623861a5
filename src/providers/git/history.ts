import { type GitAnswer, isSuccess } from '../../git/command.ts';
import type { ChangedFile, CommitInfo, Comparison } from '../../ports/code-host.ts';
import {
  type CommitDiff,
  checkLineRange,
  MAX_CHANGED_FILES,
  MAX_COMMITS,
  MAX_COMPARED_COMMITS,
  MAX_LINES,
  parsePullRequest,
} from '../code-questions.ts';
import { assertAnswered, parseChanges, parseFiles, parseLog, parsePatches } from './git-output.ts';
import type { Place } from './questions.ts';

const FACTS = '--format=%H%x00%an%x00%aI%x00%s';
const NAMES = [
  '--name-only',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
  '--diff-merges=first-parent',
  '--format=%H',
];
/**
 * The maximum number of commits whose files are requested in one command, well below the longest command line
 * of any system.
 */
const COMMITS_A_COMMAND = 250;

/** Lists commits of a range (`commit` or `^base commit`), newest first, with their files. */
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
  const { first, last } = checkLineRange(query.lineStart, query.lineEnd, MAX_LINES);
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
  return isSuccess(answer) ? withFiles(place, answer, signal) : [];
}

async function withFiles(place: Place, facts: GitAnswer, signal: AbortSignal): Promise<CommitInfo[]> {
  assertAnswered(facts, 'read the history');
  const commits = parseLog(facts.output);
  const ids = commits.map((commit) => commit.commit).slice(0, COMMITS_A_COMMAND);
  // Without a commit, git would use its own HEAD.
  if (ids.length === 0) return [];
  const names = await place.git(['log', '-z', '--no-walk=unsorted', ...NAMES, ...ids, '--'], signal);
  assertAnswered(names, 'read the history');
  const files = parseFiles(names.output, ids);
  return commits.map((commit) => ({ ...commit, files: files.get(commit.commit) ?? [] }));
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
/** The maximum number of files in a search for renames. The work grows with its square. */
const RENAMES = '-l400';
/**
 * The time limit, in milliseconds, of the search for the merge of a commit. It walks the whole later history,
 * and its result is only a remark.
 */
const MERGE_SEARCH_MS = 3_000;

/** Returns the changes of one commit against its first parent. */
export async function readCommitDiff(place: Place, signal: AbortSignal): Promise<CommitDiff | null> {
  const [[commit], isCut] = await Promise.all([
    readHistory(place, { limit: 1 }, signal),
    isShallowEnd(place, signal),
  ]);
  if (commit === undefined) return null;
  const pullRequest = commit.pullRequest ?? (await pullRequestOfMerge(place, signal));
  // The changes of the last commit of a shallow clone are unknown, because git would list every file as new.
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
  if (!isSuccess(common) || from === '') return null;
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
  return isSuccess(seen) && seen.output.trim() === '' && /^parent /m.test(written.output.slice(0, 200));
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
    // If the branch already had the commit before that merge, the merge did not bring it.
    const [subject, before] = await Promise.all([
      place.git(['log', '-1', '--merges', '--format=%s', merge, '--'], soon),
      place.git(['merge-base', '--is-ancestor', place.commit, `${merge}^1`], soon),
    ]);
    return isSuccess(before) ? null : parsePullRequest(subject.output.trim());
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}
