import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { ChangedFile, CodeHost, CommitInfo, RepositoryInfo } from '../../ports/code-host.ts';
import { commitInfo, MAX_CHANGED_FILES, MAX_PATCH } from '../code-questions.ts';
import type { BlamedRange, KnownRepository, Place, RemoteCode, TreeEntry } from '../remote-code.ts';
import { createRemoteHost } from '../remote-host.ts';
import { createGithubApi, type GithubApi, type GithubApiOptions, type Lister } from './api.ts';
import {
  Blame,
  CodeSearch,
  Commit,
  type CommitReply,
  Comparison,
  Content,
  type FileReply,
  InstallationRepositories,
  PullRequests,
  Repository,
  Tree,
} from './replies.ts';

/**
 * Reads repositories over GitHub's API (github.com or an Enterprise server). Without a token, it reads only
 * public repositories and has neither blame nor code search.
 */
export function createGithubHost(options: GithubApiOptions): CodeHost {
  const api = createGithubApi(options);
  return createRemoteHost({
    driver: 'github',
    label: 'GitHub',
    ...createFileQuestions(api),
    ...changeQuestions(api),
  });
}

const NAME = /^([A-Za-z0-9][A-Za-z0-9_-]{0,99})\/([A-Za-z0-9._-]{1,100})$/;
const PAGE = 100;
const MAX_PAGES = 10;

type FileQuestion = 'repository' | 'findCommit' | 'tree' | 'entry' | 'blob' | 'searchPaths' | 'repositories';

function createFileQuestions(api: GithubApi): Pick<RemoteCode, FileQuestion> {
  return {
    async repository(name, signal) {
      const [, owner, repo] = NAME.exec(name) ?? [];
      if (owner === undefined || repo === undefined || /^\.+$/.test(repo)) return null;
      const place = { owner, repo };
      const question = {
        route: 'GET /repos/{owner}/{repo}',
        parameters: place,
        what: `the repository ${name}`,
        signal,
      };
      const reply = await api.get(place, Repository, question);
      const [, newOwner = owner, newRepo = repo] = NAME.exec(reply.full_name) ?? [];
      return { owner: newOwner, repo: newRepo, defaultBranch: reply.default_branch ?? null };
    },
    async findCommit({ owner, repo }, ref, signal) {
      const route = 'GET /repos/{owner}/{repo}/commits/{ref}';
      return (
        await api.text({ owner, repo }, 'sha', {
          route,
          parameters: { owner, repo, ref },
          what: `the commit ${ref}`,
          signal,
        })
      ).trim();
    },
    // GitHub lists at most 100,000 entries.
    async tree({ owner, repo, commit }, signal) {
      const route = 'GET /repos/{owner}/{repo}/git/trees/{commit}';
      const parameters = { owner, repo, commit, recursive: 1 };
      const what = `the files of ${commit.slice(0, 10)}`;
      const { tree: entries, truncated } = await api.get({ owner, repo }, Tree, {
        route,
        parameters,
        what,
        signal,
      });
      return { entries, truncated };
    },
    entry: (place, path, signal) => askEntry(api, place, path, signal),
    blob: async ({ owner, repo }, { path, sha }, signal) => {
      const route = 'GET /repos/{owner}/{repo}/git/blobs/{sha}';
      return api.text({ owner, repo }, 'raw', {
        route,
        parameters: { owner, repo, sha },
        what: path,
        signal,
      });
    },
    searchPaths: async (place, word, limit, signal) =>
      (await api.isSigned(place, signal)) ? askPaths(api, place, word, limit, signal) : [],
    repositories: (limit, signal) => listRepositories(api, limit, signal),
  };
}

async function askEntry(
  api: GithubApi,
  { owner, repo, commit }: Place,
  path: string,
  signal: AbortSignal,
): Promise<TreeEntry | null> {
  const route = 'GET /repos/{owner}/{repo}/contents/{path}';
  const parameters = { owner, repo, path, ref: commit };
  const found = await api.get({ owner, repo }, Content, {
    route,
    parameters,
    what: path,
    signal,
    format: 'object',
  });
  if (found.type === 'dir') return null;
  const modes: Readonly<Record<string, string>> = { submodule: '160000', symlink: '120000' };
  return { path, mode: modes[found.type] ?? '100644', type: 'blob', sha: found.sha, size: found.size };
}

async function askPaths(
  api: GithubApi,
  { owner, repo }: Place,
  word: string,
  limit: number,
  signal: AbortSignal,
): Promise<string[]> {
  // A quotation mark would end the quoted text; code search ignores such marks anyway.
  const quoted = word.replace(/["\\]/g, ' ').trim().slice(0, 200);
  if (quoted === '') return [];
  const parameters = { q: `"${quoted}" repo:${owner}/${repo}`, per_page: limit };
  try {
    const question = { route: 'GET /search/code', parameters, what: 'a code search', signal };
    return (await api.get({ owner, repo }, CodeSearch, question)).items.map((item) => item.path);
  } catch (error) {
    // Code search has a low rate limit and does not cover forks and archives. Then only the paths are used.
    if (error instanceof TriageError && (error.code === 'upstream-failed' || error.code === 'not-found'))
      return [];
    throw error;
  }
}

/**
 * Lists the repositories that the App or the token can read. Empty without either, because there are too many
 * public repositories.
 */
async function listRepositories(
  api: GithubApi,
  limit: number,
  signal: AbortSignal,
): Promise<RepositoryInfo[]> {
  const found: RepositoryInfo[] = [];
  for (const lister of await api.listers(signal)) {
    for (let page = 1; page <= MAX_PAGES && found.length < limit; page += 1) {
      const listed = await askPage(lister, page, signal);
      for (const { full_name, default_branch, description } of listed) {
        found.push({
          repository: full_name,
          defaultBranch: default_branch ?? null,
          description: description ?? null,
        });
      }
      if (listed.length < PAGE) break;
    }
  }
  return found;
}

async function askPage(lister: Lister, page: number, signal: AbortSignal) {
  const what = 'the repositories that may be read';
  if (lister.as === 'installation') {
    const parameters = { per_page: PAGE, page };
    const question = { route: 'GET /installation/repositories', parameters, what, signal };
    return (await lister.get(InstallationRepositories, question)).repositories;
  }
  const parameters = { per_page: PAGE, page, sort: 'full_name', direction: 'asc' };
  return lister.get(z.array(Repository), { route: 'GET /user/repos', parameters, what, signal });
}

function changeQuestions(
  api: GithubApi,
): Pick<RemoteCode, 'commits' | 'commit' | 'compare' | 'blame' | 'findPullRequest'> {
  return {
    async commits({ owner, repo, commit }, { path, limit }, signal) {
      const route = 'GET /repos/{owner}/{repo}/commits';
      const parameters = {
        owner,
        repo,
        sha: commit,
        per_page: Math.min(100, limit),
        ...(path === undefined ? {} : { path }),
      };
      return (
        await api.get({ owner, repo }, z.array(Commit), { route, parameters, what: 'the history', signal })
      ).map(toCommitInfo);
    },
    async commit({ owner, repo, commit }, signal) {
      // Without paging, GitHub returns its maximum of 300 files.
      const question = {
        route: 'GET /repos/{owner}/{repo}/commits/{commit}',
        parameters: { owner, repo, commit },
        signal,
      };
      const reply = await api.get({ owner, repo }, Commit, {
        ...question,
        what: `the commit ${commit.slice(0, 10)}`,
      });
      return { commit: toCommitInfo(reply), files: (reply.files ?? []).map(toChangedFile) };
    },
    async compare({ owner, repo }: KnownRepository, { base, head }, signal) {
      // Without paging, GitHub returns 250 commits, oldest first, and 300 files.
      const question = {
        route: 'GET /repos/{owner}/{repo}/compare/{base}...{head}',
        parameters: { owner, repo, base, head },
        signal,
      };
      const what = `what is between ${base.slice(0, 10)} and ${head.slice(0, 10)}`;
      const reply = await api.get({ owner, repo }, Comparison, { ...question, what });
      return {
        commits: reply.commits.map(toCommitInfo).reverse(),
        files: reply.files.slice(0, MAX_CHANGED_FILES).map(toChangedFile),
        truncated: reply.total_commits > reply.commits.length || reply.files.length >= MAX_CHANGED_FILES,
      };
    },
    blame: (place, { path }, signal) => askBlame(api, place, path, signal),
    findPullRequest: (place, commit, signal) => askPullRequest(api, place, commit, signal),
  };
}

const BLAME = `query($owner: String!, $repo: String!, $commit: GitObjectID!, $path: String!) {
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

/** Requests the blame. Only the GraphQL API has it, and it requires a token or an App. */
async function askBlame(
  api: GithubApi,
  place: Place,
  path: string,
  signal: AbortSignal,
): Promise<BlamedRange[]> {
  if (!(await api.isSigned(place, signal)))
    throw new TriageError(
      'forbidden',
      'GitHub shows who changed a line only with a token or an App: set FAULTLINE_GITHUB_TOKEN.',
    );
  const { owner, repo, commit } = place;
  const question = { parameters: { owner, repo, commit, path }, what: `who changed ${path}`, signal };
  const reply = await api.graphql(place, Blame, BLAME, question);
  return (reply.repository?.object?.blame?.ranges ?? []).map(
    ({ startingLine, endingLine, commit: changed }) => ({
      first: startingLine,
      last: endingLine,
      commit: changed.oid,
      author: changed.author?.name ?? '',
      at: new Date(changed.authoredDate).toISOString(),
      subject: changed.messageHeadline,
    }),
  );
}

async function askPullRequest(
  api: GithubApi,
  { owner, repo }: Place,
  commit: string,
  signal: AbortSignal,
): Promise<number | null> {
  const route = 'GET /repos/{owner}/{repo}/commits/{commit}/pulls';
  const question = {
    route,
    parameters: { owner, repo, commit, per_page: 10 },
    what: `the pull requests of ${commit.slice(0, 10)}`,
    signal,
  };
  const pulls = await api.get({ owner, repo }, PullRequests, question);
  return (pulls.find((pull) => pull.merged_at != null) ?? pulls[0])?.number ?? null;
}

function toCommitInfo({ sha, commit }: CommitReply): CommitInfo {
  return commitInfo(sha, commit.message, {
    author: commit.author?.name ?? '',
    at: commit.author?.date ?? '',
  });
}

const STATUS: Readonly<Record<string, ChangedFile['status']>> = {
  added: 'added',
  copied: 'added',
  removed: 'removed',
  renamed: 'renamed',
};

function toChangedFile(file: FileReply): ChangedFile {
  const status = STATUS[file.status] ?? 'modified';
  const previousPath = status === 'renamed' ? (file.previous_filename ?? null) : null;
  const patch = file.patch === undefined || file.patch === '' ? null : file.patch.slice(0, MAX_PATCH);
  return {
    path: file.filename,
    previousPath,
    status,
    additions: file.additions,
    deletions: file.deletions,
    patch,
  };
}
