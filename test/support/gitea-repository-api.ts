import { type GitRepository, readGitBytes, tryGit } from './git-repository.ts';
import { type LoopbackServer, sendJson, startLoopback } from './loopback-server.ts';

export interface GiteaRepositoryApi extends LoopbackServer {
  /** `owner/name` → the repository behind it. */
  readonly repositories: Map<string, GitRepository>;
}

interface Ask {
  readonly repository: GitRepository;
  readonly query: URLSearchParams;
}

/**
 * Starts a server with the part of Gitea's API that the code host uses, over real HTTP. Its data comes from a
 * real git repository. If it is null, the server answers 404.
 */
export async function startGiteaRepositoryApi(): Promise<GiteaRepositoryApi> {
  const repositories = new Map<string, GitRepository>();
  const server = await startLoopback((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://x');
    if (pathname === '/api/v1/user/repos') {
      const listed = query.get('page') === '1' ? [...repositories.keys()].map(createRepositoryReply) : [];
      return sendJson(response, 200, listed);
    }
    const [, owner = '', repo = '', rest = ''] =
      /^\/api\/v1\/repos\/([^/]+)\/([^/]+)(?:\/(.+))?$/.exec(pathname) ?? [];
    const name = `${owner}/${repo}`;
    const repository = repositories.get(name);
    if (
      repository !== undefined &&
      rest !== '' &&
      tryGit(repository, 'rev-parse', '--verify', 'HEAD') === null
    )
      return sendJson(response, 409, { message: 'Git Repository is empty.' });
    const reply =
      repository === undefined
        ? null
        : rest === ''
          ? createRepositoryReply(name)
          : answer({ repository, query }, decodeURIComponent(rest));
    if (reply instanceof Buffer)
      return void response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(reply);
    sendJson(response, reply === null ? 404 : 200, reply ?? { errors: null, message: 'not found' });
  });
  return { ...server, repositories };
}

function answer(ask: Ask, rest: string): unknown {
  const { repository } = ask;
  const [kind = '', second = '', third = ''] = rest.split('/');
  if (kind === 'commits' && second === '') return listCommits(ask);
  if (kind === 'compare') return compare(ask, rest.slice('compare/'.length));
  if (kind === 'contents') return createContent(ask, rest.slice('contents/'.length));
  if (`${kind}/${second}` === 'git/trees') return createTree(ask, third);
  if (`${kind}/${second}` === 'git/blobs')
    return {
      encoding: 'base64',
      content: readGitBytes(repository, 'cat-file', 'blob', third).toString('base64'),
    };
  if (`${kind}/${second}` === 'git/commits' && third.endsWith('.diff'))
    return createDiff(repository, third.slice(0, -'.diff'.length));
  if (`${kind}/${second}` === 'git/commits') return commitReply(repository, third);
  return null;
}

function listCommits({ repository, query }: Ask): unknown {
  const ref = tryGit(repository, 'rev-parse', '--verify', '--quiet', `${query.get('sha')}^{commit}`);
  if (ref === null) return null;
  const [limit, page] = [Number(query.get('limit') ?? 50), Number(query.get('page') ?? 1)];
  const path = query.get('path');
  const found = repository.git('log', '--format=%H', ref, '--', ...(path === null ? [] : [path])).split('\n');
  const ids = found.filter(Boolean).slice((page - 1) * limit, page * limit);
  return ids.map((id) => commitReply(repository, id));
}

function compare({ repository }: Ask, basehead: string): unknown {
  const [base, head] = basehead
    .split('...')
    .map((ref) => tryGit(repository, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`));
  if (base == null || head == null || tryGit(repository, 'merge-base', base, head) === null) return null;
  const ids = repository.git('log', '--format=%H', `${base}..${head}`).split('\n').filter(Boolean);
  return { total_commits: ids.length, commits: ids.map((id) => commitReply(repository, id)) };
}

function createTree({ repository, query }: Ask, commit: string): unknown {
  const [size, page] = [Number(query.get('per_page')), Number(query.get('page'))];
  const lines = repository.git('ls-tree', '-r', '-t', '-l', commit).split('\n').filter(Boolean);
  const all = lines.map((line) => {
    const [mode = '', type = '', sha = '', bytes = '', path = ''] = line.split(/[ \t]+/);
    return { path, mode, type, sha, size: Number(bytes) || 0 };
  });
  return {
    sha: commit,
    tree: all.slice((page - 1) * size, page * size),
    truncated: page * size < all.length,
    page,
    total_count: all.length,
  };
}

function createContent({ repository, query }: Ask, path: string): unknown {
  const line = tryGit(repository, 'ls-tree', '-l', query.get('ref') ?? 'HEAD', '--', path) ?? '';
  const [mode, type, sha, size] = line.split(/[ \t]+/);
  if (mode === undefined || mode === '') return null;
  return type === 'tree' ? [] : { type: 'file', path, sha, size: Number(size) || 0 };
}

function createDiff(repository: GitRepository, id: string): Buffer {
  const parent = tryGit(repository, 'rev-parse', '--verify', '--quiet', `${id}^`);
  return readGitBytes(
    repository,
    'diff',
    '-M',
    parent ?? repository.git('hash-object', '-t', 'tree', '/dev/null'),
    id,
  );
}

function commitReply(repository: GitRepository, id: string): unknown {
  const format = '--format=%H%n%P%n%an%n%aI%n%B';
  const [sha = '', parents = '', name = '', date = '', ...message] = repository
    .git('log', '-1', format, id)
    .split('\n');
  const author = { name, email: 'nobody@example.test', date };
  return {
    sha,
    parents: parents
      .split(' ')
      .filter(Boolean)
      .map((one) => ({ sha: one })),
    commit: { message: message.join('\n'), author },
  };
}

function createRepositoryReply(name: string) {
  return { id: 1, full_name: name, default_branch: 'main', description: `The ${name} repository` };
}
