import { z } from 'zod';
import type { ChangedFile, CodeHost, CommitInfo, Comparison } from '../../ports/code-host.ts';
import { commitInfo, MAX_CHANGED_FILES, MAX_COMPARED_COMMITS, MAX_PATCH } from '../code-questions.ts';
import { splitFilesOfDiff } from '../patches.ts';
import type { KnownRepository, Place, RemoteCode, TreeEntry } from '../remote-code.ts';
import { createRemoteHost } from '../remote-host.ts';
import { buildPath, type RestClient } from '../rest-client.ts';
import { createGiteaClient, type GiteaOptions, PAGE, splitOwnerAndName } from './client.ts';

/** Reads repositories over the API of Gitea or Forgejo. The API has neither blame nor code search. */
export function createGiteaHost(options: GiteaOptions & { readonly timeoutMs: number }): CodeHost {
  const client = createGiteaClient(options, options.timeoutMs);
  return createRemoteHost({
    driver: 'gitea',
    label: 'Gitea',
    ...createFileQuestions(client),
    ...changeQuestions(client),
  });
}

const MAX_PAGES = 10;
const TREE_PAGE = 1_000;
const MAX_TREE_PAGES = 100;
/** The maximum number of commits in a comparison whose changes are read. */
const MAX_READ_COMMITS = 20;
/** Query parameters that omit slow details of the commits in a list: counts, files and signatures. */
const BARE = { stat: 'false', files: 'false', verification: 'false' };

const Repository = z.object({
  full_name: z.string(),
  default_branch: z.string().nullish(),
  description: z.string().nullish(),
});
const Tree = z.object({
  tree: z
    .array(
      z.object({
        path: z.string(),
        mode: z.string(),
        type: z.string(),
        sha: z.string(),
        size: z.number().optional(),
      }),
    )
    .nullable(),
  truncated: z.boolean().default(false),
});
const Content = z.union([
  z.object({ type: z.string(), sha: z.string(), size: z.number().default(0) }),
  z.array(z.unknown()),
]);
const Blob = z.object({ content: z.string(), encoding: z.string().nullish() });
const Commit = z.object({
  sha: z.string(),
  commit: z.object({
    message: z.string(),
    author: z.object({ name: z.string().nullish(), date: z.string().nullish() }).nullish(),
  }),
  parents: z.array(z.unknown()).nullish(),
});
const Compared = z.object({ total_commits: z.number(), commits: z.array(Commit).nullable() });
const PullRequest = z.object({ number: z.int() });

type FileQuestion = 'repository' | 'findCommit' | 'tree' | 'entry' | 'blob' | 'searchPaths' | 'repositories';

function createFileQuestions(client: RestClient): Pick<RemoteCode, FileQuestion> {
  return {
    async repository(name, signal) {
      const { owner, repo } = splitOwnerAndName(name);
      const reply = await client.get(Repository, {
        path: buildPath`/repos/${owner}/${repo}`,
        what: `the repository ${name}`,
        signal,
      });
      return { ...splitOwnerAndName(reply.full_name), defaultBranch: reply.default_branch ?? null };
    },
    // This list accepts branches with slashes, in contrast to the path of a single commit.
    async findCommit({ owner, repo }, ref, signal) {
      const path = buildPath`/repos/${owner}/${repo}/commits`;
      const query = { ...BARE, sha: ref, limit: 1 };
      const [found] = await client.get(z.array(Commit), { path, query, what: `the commit ${ref}`, signal });
      return found?.sha ?? null;
    },
    tree: (place, signal) => listTree(client, place, signal),
    async entry({ owner, repo, commit }, path, signal) {
      const address = `${buildPath`/repos/${owner}/${repo}/contents/`}${path.split('/').map(encodeURIComponent).join('/')}`;
      const found = await client.get(Content, { path: address, query: { ref: commit }, what: path, signal });
      if (Array.isArray(found)) return null;
      const modes: Readonly<Record<string, string>> = { submodule: '160000', symlink: '120000' };
      return { path, mode: modes[found.type] ?? '100644', type: 'blob', sha: found.sha, size: found.size };
    },
    async blob({ owner, repo }, { path, sha }, signal) {
      const { content } = await client.get(Blob, {
        path: buildPath`/repos/${owner}/${repo}/git/blobs/${sha}`,
        what: path,
        signal,
      });
      return Buffer.from(content, 'base64').toString('utf8');
    },
    searchPaths: async () => [],
    async repositories(limit, signal) {
      const question = { path: '/user/repos', what: 'the repositories that may be read', signal };
      const pages = { sizeName: 'limit', size: PAGE, maxPages: Math.min(MAX_PAGES, Math.ceil(limit / PAGE)) };
      return (await client.list(z.array(Repository), question, pages)).map(
        ({ full_name, default_branch, description }) => ({
          repository: full_name,
          defaultBranch: default_branch ?? null,
          description: description ?? null,
        }),
      );
    },
  };
}

async function listTree(client: RestClient, { owner, repo, commit }: Place, signal: AbortSignal) {
  const entries: TreeEntry[] = [];
  for (let page = 1; page <= MAX_TREE_PAGES; page += 1) {
    const question = {
      path: buildPath`/repos/${owner}/${repo}/git/trees/${commit}`,
      what: `the files of ${commit.slice(0, 10)}`,
      signal,
    };
    const reply = await client.get(Tree, {
      ...question,
      query: { recursive: 'true', per_page: TREE_PAGE, page },
    });
    for (const entry of reply.tree ?? []) entries.push(entry);
    // True on each page but the last.
    if (!reply.truncated || reply.tree === null || reply.tree.length === 0)
      return { entries, truncated: false };
  }
  return { entries, truncated: true };
}

function changeQuestions(
  client: RestClient,
): Pick<RemoteCode, 'commits' | 'commit' | 'compare' | 'blame' | 'findPullRequest'> {
  return {
    async commits({ owner, repo, commit }, { path, limit }, signal) {
      const question = {
        path: buildPath`/repos/${owner}/${repo}/commits`,
        query: { ...BARE, sha: commit, path },
        what: 'the history',
        signal,
      };
      const pages = { sizeName: 'limit', size: Math.min(PAGE, limit), maxPages: Math.ceil(limit / PAGE) };
      return (await client.list(z.array(Commit), question, pages)).map(toCommitInfo);
    },
    commit: (place, signal) => askCommit(client, place, signal),
    compare: (repository, refs, signal) => compare(client, repository, refs, signal),
    blame: null,
    async findPullRequest({ owner, repo }, commit, signal) {
      const question = {
        path: buildPath`/repos/${owner}/${repo}/commits/${commit}/pull`,
        what: `the pull request of ${commit.slice(0, 10)}`,
        signal,
      };
      return (await client.get(PullRequest, question)).number;
    },
  };
}

async function askCommit(client: RestClient, { owner, repo, commit }: Place, signal: AbortSignal) {
  const what = `the commit ${commit.slice(0, 10)}`;
  const [reply, diff] = await Promise.all([
    client.get(Commit, {
      path: buildPath`/repos/${owner}/${repo}/git/commits/${commit}`,
      query: BARE,
      what,
      signal,
    }),
    client.bytes({ path: buildPath`/repos/${owner}/${repo}/git/commits/${`${commit}.diff`}`, what, signal }),
  ]);
  return { commit: toCommitInfo(reply), files: splitFilesOfDiff(diff.toString('utf8')) };
}

/**
 * Compares two commits. The API lists the commits between them without their changes, so the changes of each
 * commit are read and merged, oldest first.
 */
async function compare(
  client: RestClient,
  repository: KnownRepository,
  { base, head }: { base: string; head: string },
  signal: AbortSignal,
): Promise<Comparison> {
  const { owner, repo } = repository;
  const path = `${buildPath`/repos/${owner}/${repo}/compare/`}${encodeURIComponent(base)}...${encodeURIComponent(head)}`;
  const what = `what is between ${base.slice(0, 10)} and ${head.slice(0, 10)}`;
  const reply = await client.get(Compared, { path, what, signal });
  const listed = reply.commits ?? [];
  const nonMerges = listed.filter(({ parents }) => (parents?.length ?? 1) < 2).slice(0, MAX_READ_COMMITS);
  const files = new Map<string, ChangedFile>();
  for (const { sha } of nonMerges.reverse())
    for (const file of (await askCommit(client, { ...repository, commit: sha }, signal)).files) {
      const name = file.previousPath ?? file.path;
      const before = files.get(name);
      files.delete(name);
      // A file that was added and removed in between is not a change.
      if (before?.status !== 'added' || file.status !== 'removed')
        files.set(file.path, before === undefined ? file : mergeChanges(before, file));
    }
  const commits = listed.slice(0, MAX_COMPARED_COMMITS).map(toCommitInfo);
  const all = [...files.values()];
  return {
    commits,
    files: all.slice(0, MAX_CHANGED_FILES),
    truncated:
      reply.total_commits > commits.length ||
      listed.length > MAX_READ_COMMITS ||
      all.length > MAX_CHANGED_FILES,
  };
}

/** Merges the changes of a file by two commits, with both patches. */
function mergeChanges(before: ChangedFile, file: ChangedFile): ChangedFile {
  const patches = [before.patch, file.patch].filter((patch) => patch !== null);
  const isKept = file.status === 'modified' || file.status === 'renamed';
  return {
    path: file.path,
    previousPath: before.status === 'added' ? null : (before.previousPath ?? file.previousPath),
    status: isKept && before.status !== 'modified' ? before.status : file.status,
    additions: before.additions + file.additions,
    deletions: before.deletions + file.deletions,
    patch: patches.length === 0 ? null : patches.join('\n').slice(0, MAX_PATCH),
  };
}

function toCommitInfo({ sha, commit }: z.infer<typeof Commit>): CommitInfo {
  return commitInfo(sha, commit.message, {
    author: commit.author?.name ?? '',
    at: commit.author?.date ?? '',
  });
}
