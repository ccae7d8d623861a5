import { execFileSync } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type GitRepository, tryGit } from './git-repository.ts';
import { answerForApp, type TestGithubApp } from './github-app.ts';
import { type GithubPlace, takePrefix } from './github-place.ts';
import { type LoopbackServer, sendJson, startLoopback } from './loopback-server.ts';

/** The data of the fake GitHub in addition to the repository. A test may change it at any time. */
export interface GithubRepositoryState {
  /** The repositories by `owner/name`. */
  readonly repositories: Map<string, GitRepository>;
  /** The new `owner/name` by the old one. Requests for the old one are redirected. */
  readonly renamed: Map<string, string>;
  /** The pull requests that contain a commit, by commit. */
  readonly pulls: Map<string, { number: number; merged_at: string | null }[]>;
  /** The maximum number of entries of a tree before it is cut. */
  maxTreeEntries: number;
  /** Answers a request instead of the API if it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
}

export interface GithubRepositoryApi {
  readonly url: string;
  readonly state: GithubRepositoryState;
  readonly server: LoopbackServer;
  close(): Promise<void>;
}

interface Ask {
  readonly state: GithubRepositoryState;
  readonly name: string;
  readonly repository: GitRepository;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly response: ServerResponse;
}

/**
 * Starts a server with the part of GitHub's API that the code host uses, over real HTTP. Its data comes from
 * a real git repository.
 */
export async function startGithubRepositoryApi({
  app = null,
  place = 'github.com',
}: {
  readonly app?: TestGithubApp | null;
  readonly place?: GithubPlace;
} = {}): Promise<GithubRepositoryApi> {
  const state: GithubRepositoryState = {
    repositories: new Map(),
    renamed: new Map(),
    pulls: new Map(),
    maxTreeEntries: 100_000,
    intercept: null,
  };
  const server = await startLoopback((request, response) => {
    if (state.intercept?.(request, response) === true) return;
    if (!takePrefix(place, request)) return replyNotFound(response);
    if (app !== null && answerForApp(app, request, response)) return;
    if (request.method === 'POST' && request.url === '/graphql')
      return void answerGraphql(state, request, response);
    answer(state, request, response);
  });
  return { url: server.url, state, server, close: () => server.close() };
}

function answer(state: GithubRepositoryState, request: IncomingMessage, response: ServerResponse) {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://x');
  const accept = request.headers.accept ?? '';
  const listed = [...state.repositories.keys()].sort().map(createRepositoryReply);
  if (pathname === '/user/repos') return sendJson(response, 200, listed);
  if (pathname === '/installation/repositories')
    return sendJson(response, 200, { total_count: listed.length, repositories: listed });
  if (pathname === '/search/code') return searchCode(state, query, response);
  const [, owner = '', repo = '', rest = ''] = /^\/repos\/([^/]+)\/([^/]+)(?:\/(.+))?$/.exec(pathname) ?? [];
  const name = `${owner}/${repo}`;
  const moved = state.renamed.get(name);
  if (moved !== undefined) {
    response
      .writeHead(301, {
        location: `http://${request.headers.host}/repos/${moved}${rest === '' ? '' : `/${rest}`}`,
      })
      .end();
    return;
  }
  const repository = state.repositories.get(name);
  if (repository === undefined) return replyNotFound(response);
  if (rest === '') return sendJson(response, 200, createRepositoryReply(name));
  answerRepository({ state, name, repository, query, accept, response }, decodeURIComponent(rest));
}

function answerRepository(ask: Ask, rest: string) {
  const { repository, response } = ask;
  if (!tryGit(repository, 'rev-parse', '--verify', 'HEAD'))
    return sendJson(response, 409, { message: 'Git Repository is empty.' });
  const [kind = '', second = '', ...others] = rest.split('/');
  if (kind === 'commits' && second === '') return listCommits(ask);
  if (kind === 'commits' && others[0] === 'pulls')
    return sendJson(response, 200, ask.state.pulls.get(second) ?? []);
  if (kind === 'commits') return showCommit(ask, rest.slice('commits/'.length));
  if (kind === 'compare') return compare(ask, rest.slice('compare/'.length));
  if (kind === 'git' && second === 'trees') return createTree(ask, others.join('/'));
  if (kind === 'git' && second === 'blobs') return createBlob(ask, others[0] ?? '');
  if (kind === 'contents') return createContent(ask, rest.slice('contents/'.length));
  replyNotFound(response);
}

function listCommits({ repository, query, response }: Ask) {
  const path = query.get('path');
  const args = [
    'log',
    '--format=%H',
    '-n',
    query.get('per_page') ?? '30',
    query.get('sha') ?? 'HEAD',
    '--',
    ...(path === null ? [] : [path]),
  ];
  const ids = repository.git(...args).split('\n');
  const commits = ids.filter((id) => id !== '').map((id) => commitReply(repository, id));
  sendJson(response, 200, commits);
}

function showCommit({ repository, accept, response }: Ask, ref: string) {
  const id = tryGit(repository, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`);
  if (id === null) return sendJson(response, 422, { message: `No commit found for SHA: ${ref}` });
  if (accept.includes('.sha'))
    return void response
      .writeHead(200, { 'content-type': 'application/vnd.github.sha; charset=utf-8' })
      .end(id);
  const parent =
    tryGit(repository, 'rev-parse', '--verify', '--quiet', `${id}^`) ??
    repository.git('hash-object', '-t', 'tree', '/dev/null');
  sendJson(response, 200, {
    ...commitReply(repository, id),
    files: listFilesBetween(repository, parent, id),
  });
}

function compare({ repository, response }: Ask, basehead: string) {
  const [base = '', head = ''] = basehead
    .split('...')
    .map((ref) => tryGit(repository, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`) ?? '');
  const common = base === '' || head === '' ? null : tryGit(repository, 'merge-base', base, head);
  if (common === null) return replyNotFound(response);
  const ids = repository
    .git('log', '--reverse', '--format=%H', `${base}..${head}`)
    .split('\n')
    .filter(Boolean);
  const commits = ids.map((id) => commitReply(repository, id));
  sendJson(response, 200, {
    total_commits: ids.length,
    commits,
    files: listFilesBetween(repository, common, head),
  });
}

function createTree({ state, repository, response }: Ask, commit: string) {
  const lines = repository.git('ls-tree', '-r', '-t', '-l', commit).split('\n').filter(Boolean);
  const all = lines.map((line) => {
    const [mode = '', type = '', sha = '', size = '', path = ''] = line.split(/[ \t]+/);
    return { path, mode, type, sha, ...(type === 'blob' ? { size: Number(size) } : {}) };
  });
  sendJson(response, 200, {
    sha: commit,
    tree: all.slice(0, state.maxTreeEntries),
    truncated: all.length > state.maxTreeEntries,
  });
}

function createBlob({ repository, response }: Ask, sha: string) {
  const bytes = execFileSync('git', ['cat-file', 'blob', sha], {
    cwd: repository.folder,
    maxBuffer: 256 * 1024 * 1024,
  });
  response.writeHead(200, { 'content-type': 'application/vnd.github.raw; charset=utf-8' }).end(bytes);
}

function createContent({ repository, query, response }: Ask, path: string) {
  const line = tryGit(repository, 'ls-tree', '-l', query.get('ref') ?? 'HEAD', '--', path) ?? '';
  const [mode, type, sha, size] = line.split(/[ \t]+/);
  if (mode === undefined || mode === '') return replyNotFound(response);
  const kinds: Record<string, string> = { tree: 'dir', commit: 'submodule' };
  sendJson(response, 200, { type: kinds[type ?? ''] ?? 'file', path, sha, size: Number(size) || 0 });
}

/** Searches the code of the default branch and ignores case, like GitHub's own search. */
function searchCode(state: GithubRepositoryState, query: URLSearchParams, response: ServerResponse) {
  const [, text = '', name = ''] = /^"([^"]*)" repo:(\S+)$/.exec(query.get('q') ?? '') ?? [];
  const repository = state.repositories.get(name);
  const found =
    repository === undefined ? null : tryGit(repository, 'grep', '-l', '-i', '-F', '-e', text, 'HEAD');
  const items = (found ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ path: line.slice('HEAD:'.length) }));
  sendJson(response, 200, { total_count: items.length, incomplete_results: false, items });
}

async function answerGraphql(
  state: GithubRepositoryState,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const { variables } = JSON.parse(Buffer.concat(chunks).toString());
  const repository = state.repositories.get(`${variables.owner}/${variables.repo}`);
  if (request.headers.authorization === undefined)
    return sendJson(response, 401, { message: 'This endpoint requires you to be authenticated.' });
  if (repository === undefined)
    return sendJson(response, 200, {
      data: null,
      errors: [{ type: 'NOT_FOUND', message: 'No such repository' }],
    });
  const blamed = repository
    .git('blame', '-s', '-l', '--root', variables.commit, '--', variables.path)
    .split('\n');
  const ranges = blamed.map((line, index) => {
    const { sha, commit } = commitReply(repository, line.slice(0, 40));
    const author = { name: commit.author.name };
    const facts = {
      oid: sha,
      authoredDate: commit.author.date,
      messageHeadline: commit.message.split('\n')[0],
      author,
    };
    return { startingLine: index + 1, endingLine: index + 1, commit: facts };
  });
  sendJson(response, 200, { data: { repository: { object: { blame: { ranges } } } } });
}

function commitReply(repository: GitRepository, id: string) {
  const [sha = '', name = '', date = '', ...message] = repository
    .git('log', '-1', '--format=%H%n%an%n%aI%n%B', id)
    .split('\n');
  return {
    sha,
    commit: { message: message.join('\n'), author: { name, email: 'nobody@example.test', date } },
  };
}

const STATUS: Readonly<Record<string, string>> = { A: 'added', D: 'removed', R: 'renamed', C: 'copied' };

function listFilesBetween(repository: GitRepository, from: string, to: string) {
  const lines = repository.git('diff', '-M', '--name-status', from, to).split('\n').filter(Boolean);
  return lines.map((line) => {
    const [letters = '', first = '', second] = line.split('\t');
    const filename = second ?? first;
    const paths = second === undefined ? [first] : [first, second];
    const patch = repository
      .git('diff', '-M', from, to, '--', ...paths)
      .split(/\n(?=@@ )/)
      .slice(1)
      .join('\n');
    const count = (mark: string) => patch.split('\n').filter((text) => text.startsWith(mark)).length;
    const moved = second === undefined ? {} : { previous_filename: first };
    const status = STATUS[letters[0] ?? ''] ?? 'modified';
    return {
      filename,
      ...moved,
      status,
      additions: count('+'),
      deletions: count('-'),
      ...(patch === '' ? {} : { patch }),
    };
  });
}

function createRepositoryReply(name: string) {
  return { id: 1, full_name: name, default_branch: 'main', description: `The ${name} repository` };
}

export function replyNotFound(response: ServerResponse) {
  sendJson(response, 404, {
    message: 'Not Found',
    documentation_url: 'https://docs.github.com/rest',
    status: '404',
  });
}
