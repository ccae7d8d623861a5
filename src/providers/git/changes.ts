import type { ChangedFile, CodeHost, Comparison } from '../../ports/code-host.ts';
import { MAX_CHANGED_FILES, MAX_COMPARED_COMMITS, pullRequestOf } from '../code-questions.ts';
import { assertAnswered, succeeded } from './command.ts';
import { parseChanges, parsePatches } from './output.ts';
import { type Ask, type Place, readHistory } from './questions.ts';

type CommitDiff = Awaited<ReturnType<CodeHost['commitDiff']>>;
type Changes = Pick<Comparison, 'files' | 'truncated'>;

const DIFF = ['--no-ext-diff', '--no-textconv', '--no-color', '--find-renames', '--submodule=short', '--ignore-submodules=none'];
/** Renames are looked for among at most so many files: the work grows with the square. */
const RENAMES = '-l400';
/** Finding the merge that brought a commit walks the whole history since: a remark is not worth more. */
const MERGE_SEARCH_MS = 3_000;

/** What one commit changed against its first parent. `askPatches` has the smaller output limit: patches beyond it are left out. */
export async function readCommitDiff(ask: Ask, askPatches: Ask, place: Place, signal: AbortSignal): Promise<CommitDiff> {
  const [[commit], isCut] = await Promise.all([readHistory(ask, place, { limit: 1 }, signal), isShallowEnd(ask, place, signal)]);
  if (commit === undefined) return null;
  const pullRequest = commit.pullRequest ?? (await pullRequestOfMerge(ask, place, signal));
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
  return { commit: { ...commit, pullRequest }, ...(await readChanges(ask, askPatches, place, show, signal)) };
}

/** What `place` has that `base` has not, since their merge base; null where they share no history. */
export async function readComparison(
  ask: Ask,
  askPatches: Ask,
  { place, base }: { place: Place; base: Place },
  signal: AbortSignal,
): Promise<Comparison | null> {
  const common = await ask(place, ['merge-base', base.commit, place.commit], signal);
  const from = common.output.trim();
  if (!succeeded(common) || from === '') return null;
  const range = [`^${base.commit}`, place.commit];
  const diff = (kind: readonly string[]) => ['diff', ...kind, ...DIFF, RENAMES, from, place.commit, '--'];
  const [commits, changes] = await Promise.all([
    readHistory(ask, place, { range, limit: MAX_COMPARED_COMMITS + 1 }, signal),
    readChanges(ask, askPatches, place, diff, signal),
  ]);
  const truncated = changes.truncated || commits.length > MAX_COMPARED_COMMITS;
  return { commits: commits.slice(0, MAX_COMPARED_COMMITS), files: changes.files, truncated };
}

async function readChanges(
  ask: Ask,
  askPatches: Ask,
  place: Place,
  command: (kind: readonly string[]) => readonly string[],
  signal: AbortSignal,
): Promise<Changes> {
  const [names, patches] = await Promise.all([
    ask(place, command(['--raw', '--numstat', '-z', '--no-abbrev']), signal),
    askPatches(place, command(['--patch', '--unified=3', '--inter-hunk-context=0']), signal),
  ]);
  assertAnswered(names, 'read the changes');
  assertAnswered(patches, 'read the changes');
  const changes = parseChanges(names.output);
  const texts = parsePatches(patches, changes);
  const files = changes.map((change, index): ChangedFile => {
    const { path, previousPath, status, additions, deletions } = change;
    return { path, previousPath, status, additions, deletions, patch: texts[index] ?? null };
  });
  return { files: files.slice(0, MAX_CHANGED_FILES), truncated: names.cut || patches.cut || files.length > MAX_CHANGED_FILES };
}

/** A commit whose parent the clone does not hold. */
async function isShallowEnd(ask: Ask, place: Place, signal: AbortSignal): Promise<boolean> {
  const [seen, written] = await Promise.all([
    ask(place, ['log', '-1', '--format=%P', place.commit, '--'], signal),
    ask(place, ['cat-file', 'commit', place.commit], signal),
  ]);
  return succeeded(seen) && seen.output.trim() === '' && /^parent /m.test(written.output.slice(0, 200));
}

/** The pull request of the merge that brought a commit to the checked-out branch, where the merge's subject names one. */
async function pullRequestOfMerge(ask: Ask, place: Place, signal: AbortSignal): Promise<number | null> {
  const list = (option: string) => ['rev-list', option, '-n', '5000', `${place.commit}..HEAD`, '--'];
  const soon = AbortSignal.any([signal, AbortSignal.timeout(MERGE_SEARCH_MS)]);
  try {
    const [descendants, trunk] = await Promise.all([ask(place, list('--ancestry-path'), soon), ask(place, list('--first-parent'), soon)]);
    const later = new Set(descendants.output.trim().split('\n'));
    const merge = trunk.output
      .trim()
      .split('\n')
      .findLast((commit) => commit !== '' && later.has(commit));
    if (merge === undefined) return null;
    // What the branch had before that merge came by itself, not with it.
    const [subject, before] = await Promise.all([
      ask(place, ['log', '-1', '--merges', '--format=%s', merge, '--'], soon),
      ask(place, ['merge-base', '--is-ancestor', place.commit, `${merge}^1`], soon),
    ]);
    return succeeded(before) ? null : pullRequestOf(subject.output.trim());
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}
