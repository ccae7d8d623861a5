import type { CommitInfo } from '../../ports/code-host.ts';
import { lineRange } from './git-arguments.ts';
import { assertAnswered, type GitAnswer, succeeded } from './git-command.ts';
import { parseFiles, parseLog } from './git-output.ts';
import type { Ask, Place } from './git-place.ts';
import { MAX_COMMITS, MAX_LINES } from './limits.ts';

const FACTS = '--format=%H%x00%an%x00%aI%x00%s';
const NAMES = ['--name-only', '--no-ext-diff', '--no-textconv', '--no-renames', '--diff-merges=first-parent', '--format=%H'];
/** Commits whose files are asked for in one command: well below the longest command line of any system. */
const COMMITS_A_COMMAND = 250;

/** Commits of a range (`commit` or `^base commit`), newest first, with their files. */
export async function readHistory(
  ask: Ask,
  place: Place,
  query: { range?: readonly string[]; path?: string | undefined; limit: number },
  signal: AbortSignal,
): Promise<CommitInfo[]> {
  const { range = [place.commit], path, limit } = query;
  const args = ['log', '-z', '-n', String(limit), FACTS, ...range, '--', ...(path === undefined ? [] : [path])];
  return withFiles(ask, place, await ask(place, args, signal), signal);
}

/** `git log -L` without its diff. Git gives up on lines and files that are not there: nobody touched them. */
export async function readLineHistory(
  ask: Ask,
  place: Place,
  query: { path: string; lineStart: number; lineEnd: number; limit: number },
  signal: AbortSignal,
): Promise<CommitInfo[]> {
  const { first, last } = lineRange(query.lineStart, query.lineEnd, MAX_LINES);
  const limit = String(Math.min(query.limit, MAX_COMMITS));
  const args = ['log', '-z', '-n', limit, '-L', `${first},${last}:${query.path}`, '--no-patch', '--no-ext-diff', '--no-textconv', FACTS];
  const answer = await ask(place, [...args, place.commit, '--'], signal);
  return succeeded(answer) ? withFiles(ask, place, answer, signal) : [];
}

async function withFiles(ask: Ask, place: Place, facts: GitAnswer, signal: AbortSignal): Promise<CommitInfo[]> {
  assertAnswered(facts, 'read the history');
  const commits = parseLog(facts.output);
  const ids = commits.map((commit) => commit.commit).slice(0, COMMITS_A_COMMAND);
  // Without a commit named, git would tell of its own HEAD.
  if (ids.length === 0) return [];
  const names = await ask(place, ['log', '-z', '--no-walk=unsorted', ...NAMES, ...ids, '--'], signal);
  assertAnswered(names, 'read the history');
  const files = parseFiles(names.output, ids);
  return commits.map((commit) => ({ ...commit, files: files.get(commit.commit) ?? [] }));
}
