import type { CodeHost, RepositoryInfo } from '../../ports/code-host.ts';
import { filesBelow, filesEndingWith, MAX_COMMITS, plainRef, repositoryPath, searchText, searchWords } from '../code-questions.ts';
import { createGit, type Git, type GitOptions } from './command.ts';
import {
  type Ask,
  blameLines,
  createFileLister,
  createPlaceFinder,
  defaultBranchOf,
  type FindPlace,
  grepFiles,
  grepLines,
  isClone,
  type Place,
  readCommitDiff,
  readComparison,
  readHistory,
  readLineHistory,
  readWindow,
} from './questions.ts';

export interface LocalGitOptions extends GitOptions {
  /** `owner/name` → folder of a clone, bare or not. */
  readonly clones: Readonly<Record<string, string>>;
}

/** Bytes of the patches of one change: 300 files of the size that is kept of each fit in. */
const MAX_PATCH_BYTES = 16 * 1024 * 1024;

/**
 * Reads clones on this machine with git itself: committed state only, never the work tree, never the network. Texts from
 * outside reach git only after `--`, `-e` or as a checked commit id.
 */
export function createLocalGitHost(options: LocalGitOptions): CodeHost {
  const git = createGit(options);
  const folderOf = (repository: string) => (Object.hasOwn(options.clones, repository) ? options.clones[repository] : undefined);
  const ask: Ask = ({ folder }, args, signal) => git(folder, args, signal);
  const find = createPlaceFinder(git, folderOf);
  return {
    driver: 'local-git',
    canRead: async (repository) => isClone(git, folderOf(repository)),
    listRepositories: ({ limit }, signal) => listClones(git, options.clones, limit, signal),
    ...placeQuestions(ask, find),
    ...changeQuestions(ask, createPatchAsk(options), find),
  };
}

type PlaceQuestion = 'resolve' | 'readFile' | 'search' | 'searchFiles' | 'findFiles' | 'listFiles' | 'blame';

function placeQuestions(ask: Ask, find: FindPlace): Pick<CodeHost, PlaceQuestion> {
  const listFiles = createFileLister(ask);
  return {
    async resolve(query, signal) {
      const place = await find(query, signal);
      if (place !== null) return { ref: place.commit, note: null };
      const head = query.ref === null ? null : await find({ ...query, ref: null }, signal);
      if (head === null) return { ref: null, note: null };
      return { ref: head.commit, note: `as of ${head.commit.slice(0, 10)}: ${query.ref?.slice(0, 10)} is not in the clone` };
    },
    async readFile(query, signal) {
      const path = repositoryPath(query.path);
      const place = await find(query, signal);
      return place === null ? null : readWindow(ask, place, { ...query, path }, signal);
    },
    async search(query, signal) {
      const text = searchText(query.text);
      const place = await find(query, signal);
      return place === null ? [] : grepLines(ask, place, text, query.limit, signal);
    },
    async searchFiles(query, signal) {
      const words = searchWords(query.words);
      const place = await find(query, signal);
      return place === null ? [] : grepFiles(ask, place, { words, limit: query.limit }, signal);
    },
    async findFiles(query, signal) {
      const suffix = repositoryPath(query.suffix);
      const place = await find(query, signal);
      return place === null ? [] : filesEndingWith((await listFiles(place, signal)).paths, suffix, query.limit);
    },
    async listFiles(query, signal) {
      const under = query.under === undefined ? null : repositoryPath(query.under);
      const place = await find(query, signal);
      return place === null ? { paths: [], truncated: false } : filesBelow(await listFiles(place, signal), under, query.limit);
    },
    async blame(query, signal) {
      const path = repositoryPath(query.path);
      const place = await find(query, signal);
      return place === null ? [] : blameLines(ask, place, { ...query, path }, signal);
    },
  };
}

function changeQuestions(ask: Ask, askPatches: Ask, find: FindPlace): Pick<CodeHost, 'history' | 'lineHistory' | 'commitDiff' | 'compare'> {
  return {
    async history(query, signal) {
      const path = query.path === undefined ? undefined : repositoryPath(query.path);
      const place = await find(query, signal);
      return place === null ? [] : readHistory(ask, place, { path, limit: Math.min(query.limit, MAX_COMMITS) }, signal);
    },
    async lineHistory(query, signal) {
      const path = repositoryPath(query.path);
      const place = await find(query, signal);
      return place === null ? [] : readLineHistory(ask, place, { ...query, path }, signal);
    },
    async commitDiff(query, signal) {
      const place = await find({ repository: query.repository, ref: query.commit }, signal);
      return place === null ? null : readCommitDiff(ask, askPatches, place, signal);
    },
    async compare({ repository, base, head }, signal) {
      const refs = [plainRef(base), plainRef(head)] as const;
      const [from, place] = await Promise.all(refs.map((ref): Promise<Place | null> => find({ repository, ref }, signal)));
      return from == null || place == null ? null : readComparison(ask, askPatches, { place, base: from }, signal);
    },
  };
}

function createPatchAsk(options: GitOptions): Ask {
  const git = createGit({ ...options, maxOutputBytes: Math.min(options.maxOutputBytes ?? MAX_PATCH_BYTES, MAX_PATCH_BYTES) });
  return ({ folder }, args, signal) => git(folder, args, signal);
}

async function listClones(git: Git, clones: LocalGitOptions['clones'], limit: number, signal: AbortSignal): Promise<RepositoryInfo[]> {
  const found: RepositoryInfo[] = [];
  for (const [repository, folder] of Object.entries(clones).sort(([left], [right]) => (left < right ? -1 : 1))) {
    signal.throwIfAborted();
    if (found.length >= limit) break;
    if (!(await isClone(git, folder))) continue;
    found.push({ repository, defaultBranch: await defaultBranchOf(git, folder, signal), description: null });
  }
  return found;
}
