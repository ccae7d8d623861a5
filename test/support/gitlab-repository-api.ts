import { type GitRepository, readGitBytes, tryGit } from './git-repository.ts';
import { type LoopbackServer, sendJson, startLoopback } from './loopback-server.ts';

export interface GitlabRepositoryApi extends LoopbackServer {
  /** The repositories by the path of their project. */
  readonly repositories: Map<string, GitRepository>;
}

interface Ask {
  readonly repository: GitRepository;
  readonly query: URLSearchParams;
}

/**
 * Starts a server with the part of GitLab's API that the code host uses, over real HTTP. Its data comes from
 * a real git repository. If it is null, the server answers 404.
 */
export async function startGitlabRepositoryApi(): Promise<GitlabRepositoryApi> {
  const repositories = new Map<string, GitRepository>();
  const server = await startLoopback((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://x');
    if (pathname === '/api/v4/projects')
      return sendJson(response, 200, takePage([...repositories.keys()].map(createProjectReply), query));
    const [, encoded = '', rest = ''] = /^\/api\/v4\/projects\/([^/]+)(?:\/(.+))?$/.exec(pathname) ?? [];
    const name = decodeURIComponent(encoded);
    const repository = repositories.get(name);
    const reply =
      repository === undefined
        ? null
        : rest === ''
          ? createProjectReply(name)
          : answer({ repository, query }, rest);
    if (reply instanceof Buffer)
      return void response.writeHead(200, { 'content-type': 'text/plain' }).end(reply);
    sendJson(response, reply === null ? 404 : 200, reply ?? { message: '404 Not Found' });
  });
  return { ...server, repositories };
}

function answer(ask: Ask, rest: string): unknown {
  const { repository, query } = ask;
  const [kind = '', what = '', name = '', more = ''] = rest.split('/').map(decodeURIComponent);
  if (kind === 'search') return search(ask);
  if (kind !== 'repository') return null;
  if (what === 'tree') return takePage(listTree(repository, query.get('ref') ?? 'HEAD'), query);
  if (what === 'blobs')
    return tryGit(repository, 'cat-file', '-t', name) === null
      ? null
      : readGitBytes(repository, 'cat-file', 'blob', name);
  if (what === 'compare') return compare(ask);
  if (what === 'files') return more === 'blame' ? blame(ask, name) : writeFileWith(ask, name);
  if (what === 'commits' && name === '') return listCommits(ask);
  const id = tryGit(repository, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`);
  if (what !== 'commits' || id === null) return null;
  if (more === 'diff') return takePage(listDiffs(repository, findParent(repository, id), id), query);
  return more === 'merge_requests' ? [] : commitReply(repository, id);
}

function listCommits({ repository, query }: Ask): unknown {
  const ref = tryGit(repository, 'rev-parse', '--verify', '--quiet', `${query.get('ref_name')}^{commit}`);
  if (ref === null) return null;
  const path = query.get('path');
  const ids = repository
    .git('log', '--format=%H', ref, '--', ...(path === null ? [] : [path]))
    .split('\n')
    .filter(Boolean);
  return takePage(ids, query).map((id) => commitReply(repository, id));
}

function compare({ repository, query }: Ask): unknown {
  const findCommit = (name: string) =>
    tryGit(repository, 'rev-parse', '--verify', '--quiet', `${query.get(name)}^{commit}`);
  const [from, to] = [findCommit('from'), findCommit('to')];
  const common = from === null || to === null ? null : tryGit(repository, 'merge-base', from, to);
  if (from === null || to === null || common === null) return null;
  const ids = repository.git('log', '--reverse', '--format=%H', `${from}..${to}`).split('\n').filter(Boolean);
  return {
    commits: ids.map((id) => commitReply(repository, id)),
    diffs: listDiffs(repository, common, to),
    compare_timeout: false,
  };
}

function listTree(repository: GitRepository, ref: string) {
  const lines = repository.git('ls-tree', '-r', '-t', ref).split('\n').filter(Boolean);
  return lines.map((line) => {
    const [mode = '', type = '', id = '', path = ''] = line.split(/[ \t]+/);
    return { id, name: path.split('/').at(-1), type, path, mode };
  });
}

function writeFileWith({ repository, query }: Ask, path: string): unknown {
  const [, type, id, size] = (
    tryGit(repository, 'ls-tree', '-l', query.get('ref') ?? 'HEAD', '--', path) ?? ''
  ).split(/[ \t]+/);
  return type === 'blob' ? { file_path: path, blob_id: id, size: Number(size) } : null;
}

function blame({ repository, query }: Ask, path: string): unknown {
  const range = `${query.get('range[start]')},${query.get('range[end]')}`;
  const said = tryGit(
    repository,
    'blame',
    '-s',
    '-l',
    '--root',
    '-L',
    range,
    query.get('ref') ?? 'HEAD',
    '--',
    path,
  );
  const lines = said
    ?.split('\n')
    .map((line) => ({ id: line.slice(0, 40), text: line.slice(line.indexOf(')') + 2) }));
  return lines?.map(({ id, text }) => ({ commit: commitReply(repository, id), lines: [text] })) ?? null;
}

function search({ repository, query }: Ask): unknown {
  const found =
    tryGit(
      repository,
      'grep',
      '-l',
      '-i',
      '-F',
      '-e',
      query.get('search') ?? '',
      query.get('ref') ?? 'HEAD',
    ) ?? '';
  return found
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ path: line.slice(line.indexOf(':') + 1) }));
}

function listDiffs(repository: GitRepository, from: string, to: string) {
  const lines = repository.git('diff', '-M', '--name-status', from, to).split('\n').filter(Boolean);
  return lines.map((line) => {
    const [letters = '', first = '', second = first] = line.split('\t');
    const text = repository.git('diff', '-M', from, to, '--', first, second);
    const hunks = text.indexOf('\n@@ ');
    return {
      old_path: first,
      new_path: second,
      diff: hunks === -1 ? '' : `${text.slice(hunks + 1)}\n`,
      new_file: letters.startsWith('A'),
      deleted_file: letters.startsWith('D'),
      renamed_file: letters.startsWith('R'),
    };
  });
}

function findParent(repository: GitRepository, id: string): string {
  const parent = tryGit(repository, 'rev-parse', '--verify', '--quiet', `${id}^`);
  return parent ?? repository.git('hash-object', '-t', 'tree', '/dev/null');
}

function commitReply(repository: GitRepository, id: string): unknown {
  const [sha = '', author_name = '', authored_date = '', ...message] = repository
    .git('log', '-1', '--format=%H%n%an%n%aI%n%B', id)
    .split('\n');
  return {
    id: sha,
    short_id: sha.slice(0, 8),
    title: message[0],
    message: message.join('\n'),
    author_name,
    authored_date,
  };
}

function createProjectReply(name: string) {
  return { id: 1, path_with_namespace: name, default_branch: 'main', description: `The ${name} repository` };
}

function takePage<Item>(items: readonly Item[], query: URLSearchParams): Item[] {
  const [size, page] = [Number(query.get('per_page') ?? 20), Number(query.get('page') ?? 1)];
  return items.slice((page - 1) * size, page * size);
}
