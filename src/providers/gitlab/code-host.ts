import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { ChangedFile, CodeHost, CommitInfo } from '../../ports/code-host.ts';
import {
  commitInfo,
  MAX_CHANGED_FILES,
  MAX_COMPARED_COMMITS,
  MAX_FILE_BYTES,
  MAX_PATCH,
} from '../code-questions.ts';
import { countLines } from '../patches.ts';
import type { BlamedRange, KnownRepository, LinesOf, Place, RemoteCode } from '../remote-code.ts';
import { createRemoteHost } from '../remote-host.ts';
import { buildPath, type RestClient } from '../rest-client.ts';
import { createGitlabClient, type GitlabOptions, getProjectPath, PAGE } from './client.ts';

/** Reads projects over GitLab's API, on gitlab.com or a self-managed server. */
export function createGitlabHost(options: GitlabOptions & { readonly timeoutMs: number }): CodeHost {
  const client = createGitlabClient(options, options.timeoutMs);
  return createRemoteHost({
    driver: 'gitlab',
    label: 'GitLab',
    ...createFileQuestions(client),
    ...changeQuestions(client),
  });
}

const MAX_TREE_PAGES = 100;
const MAX_DIFF_PAGES = 3;

const Project = z.object({
  path_with_namespace: z.string(),
  default_branch: z.string().nullish(),
  description: z.string().nullish(),
});
const Entry = z.object({ id: z.string(), path: z.string(), mode: z.string(), type: z.string() });
const File = z.object({ blob_id: z.string(), size: z.number() });
const Commit = z.object({
  id: z.string(),
  message: z.string().nullish(),
  author_name: z.string().nullish(),
  authored_date: z.string().nullish(),
});
const Diff = z.object({
  old_path: z.string(),
  new_path: z.string(),
  new_file: z.boolean().nullish(),
  renamed_file: z.boolean().nullish(),
  deleted_file: z.boolean().nullish(),
  diff: z.string().nullish(),
});
const Compared = z.object({
  commits: z.array(Commit),
  diffs: z.array(Diff),
  compare_timeout: z.boolean().nullish(),
});
const Blame = z.array(z.object({ commit: Commit, lines: z.array(z.string()) }));
const MergeRequests = z.array(z.object({ iid: z.int(), merged_at: z.string().nullish() }));

type FileQuestion = 'repository' | 'findCommit' | 'tree' | 'entry' | 'blob' | 'searchPaths' | 'repositories';

function createFileQuestions(client: RestClient): Pick<RemoteCode, FileQuestion> {
  return {
    async repository(name, signal) {
      const reply = await client.get(Project, {
        path: getProjectPath(name),
        what: `the project ${name}`,
        signal,
      });
      return { ...splitName(reply.path_with_namespace), defaultBranch: reply.default_branch ?? null };
    },
    async findCommit(repository, ref, signal) {
      const path = `${toProjectPath(repository)}${buildPath`/repository/commits/${ref}`}`;
      return (
        await client.get(Commit, { path, query: { stats: 'false' }, what: `the commit ${ref}`, signal })
      ).id;
    },
    async tree(place, signal) {
      const path = `${toProjectPath(place)}/repository/tree`;
      const question = {
        path,
        query: { ref: place.commit, recursive: 'true' },
        what: `the files of ${place.commit.slice(0, 10)}`,
        signal,
      };
      const listed = await client.list(z.array(Entry), question, { ...PAGE, maxPages: MAX_TREE_PAGES });
      const entries = listed.map(({ id: sha, path: name, mode, type }) => ({ path: name, mode, type, sha }));
      return { entries, truncated: entries.length === MAX_TREE_PAGES * PAGE.size };
    },
    async entry(place, path, signal) {
      const address = `${toProjectPath(place)}${buildPath`/repository/files/${path}`}`;
      const found = await client.get(File, {
        path: address,
        query: { ref: place.commit },
        what: path,
        signal,
      });
      return { path, mode: '100644', type: 'blob', sha: found.blob_id, size: found.size };
    },
    async blob(place, { path, sha }, signal) {
      const address = `${toProjectPath(place)}${buildPath`/repository/blobs/${sha}/raw`}`;
      return (await client.bytes({ path: address, what: path, signal, maxBytes: MAX_FILE_BYTES })).toString(
        'utf8',
      );
    },
    async searchPaths(place, word, limit, signal) {
      const query = { scope: 'blobs', search: word.slice(0, 200), ref: place.commit, per_page: limit };
      try {
        const found = await client.get(z.array(z.object({ path: z.string() })), {
          path: `${toProjectPath(place)}/search`,
          query,
          what: 'a code search',
          signal,
        });
        return found.map(({ path }) => path);
      } catch (error) {
        // Search has a low rate limit, and not everyone may use it. Then only the paths are used.
        if (error instanceof TriageError && error.code !== 'cancelled' && error.code !== 'timeout') return [];
        throw error;
      }
    },
    async repositories(limit, signal) {
      const question = {
        path: '/projects',
        query: { membership: 'true', order_by: 'path', sort: 'asc' },
        what: 'the projects that may be read',
        signal,
      };
      const listed = await client.list(z.array(Project), question, {
        ...PAGE,
        maxPages: Math.min(10, Math.ceil(limit / PAGE.size)),
      });
      return listed.map(({ path_with_namespace: repository, default_branch, description }) => ({
        repository,
        defaultBranch: default_branch ?? null,
        description: description ?? null,
      }));
    },
  };
}

function changeQuestions(
  client: RestClient,
): Pick<RemoteCode, 'commits' | 'commit' | 'compare' | 'blame' | 'findPullRequest'> {
  return {
    async commits(place, { path, limit }, signal) {
      const question = {
        path: `${toProjectPath(place)}/repository/commits`,
        query: { ref_name: place.commit, path },
        what: 'the history',
        signal,
      };
      const pages = { sizeName: PAGE.sizeName, size: Math.min(PAGE.size, limit), maxPages: 1 };
      return (await client.list(z.array(Commit), question, pages)).map(toCommitInfo);
    },
    async commit(place, signal) {
      const path = `${toProjectPath(place)}${buildPath`/repository/commits/${place.commit}`}`;
      const what = `the commit ${place.commit.slice(0, 10)}`;
      const [reply, diffs] = await Promise.all([
        client.get(Commit, { path, what, signal }),
        client.list(
          z.array(Diff),
          { path: `${path}/diff`, what, signal },
          { ...PAGE, maxPages: MAX_DIFF_PAGES },
        ),
      ]);
      return { commit: toCommitInfo(reply), files: diffs.map(toChangedFile) };
    },
    async compare(repository, { base, head }, signal) {
      const query = { from: base, to: head, straight: 'false' };
      const what = `what is between ${base.slice(0, 10)} and ${head.slice(0, 10)}`;
      const path = `${toProjectPath(repository)}/repository/compare`;
      const {
        commits,
        diffs,
        compare_timeout: isCut,
      } = await client.get(Compared, { path, query, what, signal });
      return {
        commits: commits.slice(-MAX_COMPARED_COMMITS).reverse().map(toCommitInfo),
        files: diffs.slice(0, MAX_CHANGED_FILES).map(toChangedFile),
        truncated:
          isCut === true || commits.length > MAX_COMPARED_COMMITS || diffs.length >= MAX_CHANGED_FILES,
      };
    },
    blame: (place, query, signal) => askBlame(client, place, query, signal),
    async findPullRequest(place, commit, signal) {
      const path = `${toProjectPath(place)}${buildPath`/repository/commits/${commit}/merge_requests`}`;
      const found = await client.get(MergeRequests, {
        path,
        what: `the merge requests of ${commit.slice(0, 10)}`,
        signal,
      });
      return (found.find(({ merged_at }) => merged_at != null) ?? found[0])?.iid ?? null;
    },
  };
}

/** Requests the blame. Returns blocks of lines in order. */
async function askBlame(
  client: RestClient,
  place: Place,
  { path, first, last }: LinesOf,
  signal: AbortSignal,
): Promise<BlamedRange[]> {
  const address = `${toProjectPath(place)}${buildPath`/repository/files/${path}/blame`}`;
  const query = { ref: place.commit, 'range[start]': first, 'range[end]': last };
  const blocks = await client.get(Blame, { path: address, query, what: `who changed ${path}`, signal });
  let line = first;
  return blocks.map(({ commit, lines }) => {
    const from = line;
    line += lines.length;
    return { first: from, last: line - 1, ...toCommitInfo(commit) };
  });
}

function splitName(name: string): { readonly owner: string; readonly repo: string } {
  const slash = name.lastIndexOf('/');
  return { owner: name.slice(0, slash), repo: name.slice(slash + 1) };
}

function toProjectPath({ owner, repo }: KnownRepository): string {
  return getProjectPath(`${owner}/${repo}`);
}

function toCommitInfo({ id, message, author_name, authored_date }: z.infer<typeof Commit>): CommitInfo {
  return commitInfo(id, message, { author: author_name ?? '', at: authored_date ?? '' });
}

function toChangedFile({
  old_path,
  new_path,
  new_file,
  renamed_file,
  deleted_file,
  diff,
}: z.infer<typeof Diff>): ChangedFile {
  const start = /^@@ /m.exec(diff ?? '')?.index;
  const patch = diff == null || start === undefined ? null : diff.slice(start).replace(/\n$/, '');
  return {
    path: new_path,
    previousPath: renamed_file === true ? old_path : null,
    status:
      new_file === true
        ? 'added'
        : deleted_file === true
          ? 'removed'
          : renamed_file === true
            ? 'renamed'
            : 'modified',
    ...countLines(patch ?? ''),
    patch: patch === null ? null : patch.slice(0, MAX_PATCH),
  };
}
