import { assertReadableSize, type FileWindow, linkError, linkTarget, submoduleError, windowOf } from '../code-questions.ts';
import { createBoundedCache, createTogether } from '../memory.ts';
import { Content, type GithubApi, orNull, Tree, type TreeEntry } from './code-api.ts';
import type { GithubPlace } from './code-places.ts';

/** A commit's files. `truncated`: GitHub lists at most 100,000 entries. */
export interface CommitTree {
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly paths: readonly string[];
  readonly truncated: boolean;
}

/** Trees and blobs never change for their id, so the last ones are kept. */
export interface Objects {
  tree(place: GithubPlace, signal: AbortSignal): Promise<CommitTree>;
  /** A file's text by the id of its contents, of any size that can be read. */
  blob(place: GithubPlace, file: { path: string; sha: string }, signal: AbortSignal): Promise<string>;
  /** Whether a file is there that a truncated tree does not list. */
  holds(place: GithubPlace, path: string, signal: AbortSignal): Promise<boolean>;
  readFile(
    place: GithubPlace,
    query: { path: string; lineStart?: number; lineEnd?: number },
    signal: AbortSignal,
  ): Promise<FileWindow | null>;
}

const LINK = '120000';
const SUBMODULE = '160000';
const MAX_LINKS = 5;
/** Entries of the trees that are kept: about 100 MB at most. */
const KEPT_ENTRIES = 400_000;
const KEPT_CHARACTERS = 32 * 1024 * 1024;

export function createObjects(api: GithubApi): Objects {
  const trees = createBoundedCache<CommitTree>(KEPT_ENTRIES, (tree) => tree.entries.size + 1);
  const together = createTogether<CommitTree>();
  const blobs = createBoundedCache<string>(KEPT_CHARACTERS, (text) => text.length + 1);
  const objects: Objects = {
    async tree(place, signal) {
      const key = `${place.owner}/${place.repo} ${place.commit}`;
      const known = trees.get(key);
      if (known !== undefined) return known;
      return together(key, signal, async () => {
        const tree = await askTree(api, place, signal);
        trees.set(key, tree);
        return tree;
      });
    },
    async blob(place, { path, sha }, signal) {
      const key = `${place.owner}/${place.repo} ${sha}`;
      const known = blobs.get(key);
      if (known !== undefined) return known;
      const route = 'GET /repos/{owner}/{repo}/git/blobs/{sha}';
      const parameters = { owner: place.owner, repo: place.repo, sha };
      const text = await api.text(place, 'raw', { route, parameters, what: path, signal });
      blobs.set(key, text);
      return text;
    },
    holds: async (place, path, signal) => (await entryByPath(api, place, path, signal)) !== undefined,
    readFile: (place, query, signal) => readFile(api, objects, place, query, signal),
  };
  return objects;
}

async function askTree(api: GithubApi, { owner, repo, commit }: GithubPlace, signal: AbortSignal): Promise<CommitTree> {
  const route = 'GET /repos/{owner}/{repo}/git/trees/{commit}';
  const what = `the files of ${commit.slice(0, 10)}`;
  const reply = await api.get({ owner, repo }, Tree, { route, parameters: { owner, repo, commit, recursive: 1 }, what, signal });
  const files = reply.tree.filter((entry) => entry.type !== 'tree');
  return {
    entries: new Map(files.map((entry) => [entry.path, entry])),
    paths: files.filter((entry) => entry.mode !== SUBMODULE).map((entry) => entry.path),
    truncated: reply.truncated,
  };
}

async function readFile(
  api: GithubApi,
  objects: Objects,
  place: GithubPlace,
  query: { path: string; lineStart?: number; lineEnd?: number },
  signal: AbortSignal,
): Promise<FileWindow | null> {
  const tree = await objects.tree(place, signal);
  let path = query.path;
  for (let hops = 0; hops <= MAX_LINKS; hops += 1) {
    const entry = tree.entries.get(path) ?? (tree.truncated ? await entryByPath(api, place, path, signal) : undefined);
    if (entry === undefined && hops > 0) throw linkError(query.path, path);
    if (entry === undefined) return null;
    if (entry.mode === SUBMODULE) throw submoduleError(path);
    assertReadableSize(path, entry.size ?? 0);
    const text = await objects.blob(place, { path, sha: entry.sha }, signal);
    if (entry.mode !== LINK) return windowOf(path, text, query);
    const target = linkTarget(path, text);
    if (target === null) throw linkError(path, text);
    path = target;
  }
  throw linkError(query.path, path);
}

/** Asks for one file of a tree that is too large to be listed whole. */
async function entryByPath(api: GithubApi, place: GithubPlace, path: string, signal: AbortSignal): Promise<TreeEntry | undefined> {
  const route = 'GET /repos/{owner}/{repo}/contents/{path}';
  const parameters = { owner: place.owner, repo: place.repo, path, ref: place.commit };
  const found = await orNull(api.get(place, Content, { route, parameters, what: path, signal, format: 'object' }));
  if (found === null || found.type === 'dir') return undefined;
  const modes: Readonly<Record<string, string>> = { submodule: SUBMODULE, symlink: LINK };
  return { path, mode: modes[found.type] ?? '100644', type: 'blob', sha: found.sha, size: found.size };
}
