import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { BlameLine, ChangedFile, CodeHost, CommitInfo, Comparison } from '../../ports/code-host.ts';
import { lineRange, MAX_CHANGED_FILES, MAX_LINES, MAX_PATCH, pullRequestOf } from '../code-questions.ts';
import { concurrently } from '../concurrently.ts';
import { createBoundedCache } from '../memory.ts';
import {
  Blame,
  Commit,
  type CommitReply,
  Comparison as ComparisonReply,
  type FileReply,
  type GithubApi,
  orNull,
  PullRequests,
} from './code-api.ts';
import type { Objects } from './code-objects.ts';
import type { GithubPlace, KnownRepository } from './code-places.ts';

type CommitDiff = NonNullable<Awaited<ReturnType<CodeHost['commitDiff']>>>;

/** Commits and what they changed. */
export interface Changes {
  commit(place: GithubPlace, signal: AbortSignal): Promise<CommitDiff>;
  /** Newest first; the files of the first 20 only, as each commit is a call of its own. */
  history(place: GithubPlace, query: { path?: string | undefined; limit: number }, signal: AbortSignal): Promise<CommitInfo[]>;
  compare(place: KnownRepository, query: { base: string; head: string }, signal: AbortSignal): Promise<Comparison | null>;
  pullRequestOf(place: GithubPlace, commit: CommitInfo, signal: AbortSignal): Promise<number | null>;
}

/** Characters of the diffs that are kept. */
const KEPT_CHARACTERS = 32 * 1024 * 1024;
const WITH_FILES = 20;
const AT_ONCE = 6;
const STATUS: Readonly<Record<string, ChangedFile['status']>> = { added: 'added', copied: 'added', removed: 'removed', renamed: 'renamed' };

export function createChanges(api: GithubApi): Changes {
  const kept = createBoundedCache<CommitDiff>(KEPT_CHARACTERS, weightOf);
  async function commit(place: GithubPlace, signal: AbortSignal): Promise<CommitDiff> {
    const key = `${place.owner}/${place.repo} ${place.commit}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const diff = await askCommit(api, place, signal);
    kept.set(key, diff);
    return diff;
  }
  const withFiles = (place: GithubPlace, commits: readonly CommitInfo[], signal: AbortSignal) =>
    concurrently([...commits.entries()], AT_ONCE, async ([index, info]): Promise<CommitInfo> => {
      if (index >= WITH_FILES) return info;
      return { ...info, files: (await commit({ ...place, commit: info.commit }, signal)).commit.files };
    });
  return {
    commit,
    async history(place, { path, limit }, signal) {
      return withFiles(place, await listCommits(api, place, { path, limit }, signal), signal);
    },
    async compare(place, query, signal) {
      const reply = await askComparison(api, place, query, signal);
      if (reply === null) return null;
      const commits = reply.commits.map(infoOf).reverse();
      const { owner, repo, defaultBranch } = place;
      return {
        commits: await withFiles({ owner, repo, defaultBranch, commit: query.head }, commits, signal),
        files: reply.files.slice(0, MAX_CHANGED_FILES).map(changeOf),
        truncated: reply.total_commits > reply.commits.length || reply.files.length >= MAX_CHANGED_FILES,
      };
    },
    pullRequestOf: async (place, info, signal) => info.pullRequest ?? (await askPullRequest(api, place, info.commit, signal)),
  };
}

/** Commits of a path, or all; without their files. */
export async function listCommits(
  api: GithubApi,
  { owner, repo, commit }: GithubPlace,
  { path, limit }: { path?: string | undefined; limit: number },
  signal: AbortSignal,
): Promise<CommitInfo[]> {
  const route = 'GET /repos/{owner}/{repo}/commits';
  const parameters = { owner, repo, sha: commit, per_page: Math.min(100, limit), ...(path === undefined ? {} : { path }) };
  const reply = await orNull(api.get({ owner, repo }, z.array(Commit), { route, parameters, what: 'the history', signal }));
  return (reply ?? []).slice(0, limit).map(infoOf);
}

async function askCommit(api: GithubApi, { owner, repo, commit }: GithubPlace, signal: AbortSignal): Promise<CommitDiff> {
  const route = 'GET /repos/{owner}/{repo}/commits/{commit}';
  // Without paging GitHub gives the most it gives at once: 300 files.
  const parameters = { owner, repo, commit };
  const reply = await api.get({ owner, repo }, Commit, { route, parameters, what: `the commit ${commit.slice(0, 10)}`, signal });
  const files = (reply.files ?? []).map(changeOf);
  const names = files.map((file) => file.path);
  return { commit: { ...infoOf(reply), files: names }, files, truncated: files.length >= MAX_CHANGED_FILES };
}

/** Null too where they share no history. */
async function askComparison(api: GithubApi, { owner, repo }: KnownRepository, query: { base: string; head: string }, signal: AbortSignal) {
  const { base, head } = query;
  const route = 'GET /repos/{owner}/{repo}/compare/{base}...{head}';
  // Without paging: 250 commits, oldest first, and 300 files.
  const parameters = { owner, repo, base, head };
  return orNull(
    api.get({ owner, repo }, ComparisonReply, {
      route,
      parameters,
      what: `what is between ${base.slice(0, 10)} and ${head.slice(0, 10)}`,
      signal,
    }),
  );
}

/** The merged pull request that holds a commit, else any. A token that may not see pull requests is no reason to fail. */
async function askPullRequest(api: GithubApi, { owner, repo }: GithubPlace, commit: string, signal: AbortSignal): Promise<number | null> {
  const route = 'GET /repos/{owner}/{repo}/commits/{commit}/pulls';
  const parameters = { owner, repo, commit, per_page: 10 };
  try {
    const pulls = await api.get({ owner, repo }, PullRequests, {
      route,
      parameters,
      what: `the pull requests of ${commit.slice(0, 10)}`,
      signal,
    });
    return (pulls.find((pull) => pull.merged_at != null) ?? pulls[0])?.number ?? null;
  } catch (error) {
    if (error instanceof TriageError && (error.code === 'not-found' || error.code === 'upstream-auth')) return null;
    throw error;
  }
}

function infoOf({ sha, commit }: CommitReply): CommitInfo {
  const subject = commit.message.split('\n')[0] ?? '';
  const { name, date } = commit.author ?? {};
  return { commit: sha, author: name ?? '', at: date ?? '', subject, files: [], pullRequest: pullRequestOf(subject) };
}

function changeOf(file: FileReply): ChangedFile {
  const status = STATUS[file.status] ?? 'modified';
  const previousPath = status === 'renamed' ? (file.previous_filename ?? null) : null;
  const patch = file.patch === undefined || file.patch === '' ? null : file.patch.slice(0, MAX_PATCH);
  return { path: file.filename, previousPath, status, additions: file.additions, deletions: file.deletions, patch };
}

function weightOf({ files }: CommitDiff): number {
  return files.reduce((sum, file) => sum + file.path.length + (file.patch?.length ?? 0) + 100, 100);
}

const QUERY = `query($owner: String!, $repo: String!, $commit: GitObjectID!, $path: String!) {
  repository(owner: $owner, name: $repo) {
    object(oid: $commit) {
      ... on Commit {
        blame(path: $path) {
          ranges { startingLine endingLine commit { oid authoredDate messageHeadline author { name } } }
        }
      }
    }
  }
}`;

/** Who last changed each line. Only GraphQL tells, and it answers nobody without a token or an App: `forbidden` says so. */
export async function readBlame(
  { api, objects }: { api: GithubApi; objects: Objects },
  place: GithubPlace,
  query: { path: string; lineStart: number; lineEnd: number },
  signal: AbortSignal,
): Promise<BlameLine[]> {
  const { first, last } = lineRange(query.lineStart, query.lineEnd, MAX_LINES);
  const file = await objects.readFile(place, { path: query.path, lineStart: first, lineEnd: last }, signal);
  if (file === null || file.lines.length === 0) return [];
  if (!(await api.isSigned(place, signal))) {
    throw new TriageError('forbidden', 'GitHub shows who changed a line only with a token or an App: set FAULTLINE_GITHUB_TOKEN.');
  }
  const { owner, repo, commit } = place;
  const parameters = { owner, repo, commit, path: file.path };
  const reply = await orNull(api.graphql(place, Blame, QUERY, { parameters, what: `who changed ${file.path}`, signal }));
  const ranges = reply?.repository?.object?.blame?.ranges ?? [];
  return file.lines.flatMap((text, index): BlameLine[] => {
    const line = first + index;
    const range = ranges.find(({ startingLine, endingLine }) => startingLine <= line && line <= endingLine);
    if (range === undefined) return [];
    const { oid, author, authoredDate, messageHeadline } = range.commit;
    const at = new Date(authoredDate).toISOString();
    return [{ line, commit: oid, author: author?.name ?? '', at, subject: messageHeadline, text: text.slice(0, 1_000) }];
  });
}
