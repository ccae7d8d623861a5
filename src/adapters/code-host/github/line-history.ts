import type { ChangedFile, CommitInfo } from '../../../ports/code-host.ts';
import { lineRange } from '../git-arguments.ts';
import { MAX_COMMITS, MAX_LINES, MAX_PATCH } from '../limits.ts';
import type { GithubApi } from './api.ts';
import { type Changes, listCommits } from './changes.ts';
import { type LineRange, traceBack } from './line-tracking.ts';
import type { Objects } from './objects.ts';
import type { GithubPlace } from './places.ts';

/** Commits looked at: each is a call, where it was not read before. */
const MAX_LOOKED_AT = 30;
const MAX_RENAMES = 3;

interface Trail {
  readonly path: string;
  readonly lines: LineRange;
  /** The commit that gave the file its later name: what it and newer ones did to this path is another file's story. */
  readonly before: string | null;
}

/**
 * The commits that touched some lines, by following the lines back through the patches of the file's last 30 commits, over
 * renames too. GitHub has no question for it. Ends early where a patch is missing or cut: from there on the lines' places
 * are not known.
 */
export async function readLineHistory(
  parts: { api: GithubApi; objects: Objects; changes: Changes },
  place: GithubPlace,
  query: { path: string; lineStart: number; lineEnd: number; limit: number },
  signal: AbortSignal,
): Promise<CommitInfo[]> {
  const { first, last } = lineRange(query.lineStart, query.lineEnd, MAX_LINES);
  const file = await parts.objects.readFile(place, { path: query.path, lineStart: first, lineEnd: first }, signal);
  if (file === null || first > file.totalLines) return [];
  const limit = Math.min(query.limit, MAX_COMMITS);
  const found: CommitInfo[] = [];
  const lines = { first, last: Math.min(last, file.totalLines) };
  let trail: Trail | null = { path: file.path, lines, before: null };
  for (let renames = 0; trail !== null && renames <= MAX_RENAMES; renames += 1) {
    trail = await follow(parts, place, trail, { found, limit }, signal);
  }
  return found;
}

/** Follows the lines under one name. The trail goes on where the file had another name before. */
async function follow(
  { api, changes }: { api: GithubApi; changes: Changes },
  place: GithubPlace,
  { path, lines: start, before }: Trail,
  { found, limit }: { found: CommitInfo[]; limit: number },
  signal: AbortSignal,
): Promise<Trail | null> {
  let lines = start;
  const commits = (await listCommits(api, place, { path, limit: MAX_LOOKED_AT }, signal)).map(({ commit }) => commit);
  for (const commit of commits.slice(before === null ? 0 : commits.indexOf(before) + 1)) {
    if (found.length >= limit) return null;
    const diff = await changes.commit({ ...place, commit }, signal);
    const change = diff.files.find((file) => file.path === path);
    // A merge that took the file as its first parent had it; a huge commit may have left the file out.
    if (change === undefined && diff.truncated) return null;
    if (change === undefined) continue;
    const traced = trace(change, lines);
    if (traced === null) return null;
    if (traced.touched) found.push(diff.commit);
    if (traced.before === null) return null;
    lines = traced.before;
    if (change.previousPath !== null) return { path: change.previousPath, lines, before: commit };
  }
  return null;
}

function trace(change: ChangedFile, lines: LineRange): ReturnType<typeof traceBack> | null {
  if (change.status === 'added') return { touched: true, before: null };
  if (change.patch === null) return change.status === 'renamed' ? { touched: false, before: lines } : null;
  return change.patch.length >= MAX_PATCH ? null : traceBack(change.patch, lines);
}
