import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { CodeHost, RepositoryInfo } from '../../ports/code-host.ts';
import { filesBelow, filesEndingWith, MAX_COMMITS, plainRef, repositoryPath, searchText, searchWords } from '../code-questions.ts';
import { readLineHistory } from '../line-history.ts';
import {
  createGithubApi,
  type GithubApi,
  type GithubApiOptions,
  InstallationRepositories,
  type Lister,
  orNull,
  Repository,
} from './code-api.ts';
import { type Changes, createChanges, readBlame } from './code-changes.ts';
import { createObjects, type Objects } from './code-objects.ts';
import { createPlaces, type Places } from './code-places.ts';
import { searchFiles, searchLines } from './code-search.ts';

interface Parts {
  readonly api: ReturnType<typeof createGithubApi>;
  readonly places: Places;
  readonly objects: Objects;
  readonly changes: Changes;
}

/**
 * Reads repositories over GitHub's API (github.com or an Enterprise server), never writes. Without a token: public
 * repositories, no blame, no code search. What cannot change (trees, blobs, commits) is kept in memory.
 */
export function createGithubHost(options: GithubApiOptions): CodeHost {
  const api = createGithubApi(options);
  const parts: Parts = { api, places: createPlaces(api), objects: createObjects(api), changes: createChanges(api) };
  return {
    driver: 'github',
    canRead: (repository) => canRead(parts.places, repository),
    listRepositories: ({ limit }, signal) => listRepositories(api, limit, signal),
    ...fileQuestions(parts),
    ...searchQuestions(parts),
    ...changeQuestions(parts),
  };
}

/** While GitHub does not answer it may hold the repository: the questions themselves will say what is wrong. */
async function canRead(places: Places, repository: string): Promise<boolean> {
  try {
    return (await places.repository(repository, AbortSignal.timeout(15_000))) !== null;
  } catch (error) {
    return error instanceof TriageError && error.code !== 'upstream-auth';
  }
}

function fileQuestions({ api, places, objects }: Parts): Pick<CodeHost, 'resolve' | 'readFile' | 'blame'> {
  return {
    async resolve(query, signal) {
      const place = await places.find(query, signal);
      if (place !== null) return { ref: place.commit, note: null };
      const head = query.ref === null ? null : await places.find({ ...query, ref: null }, signal);
      if (head === null) return { ref: null, note: null };
      return { ref: head.commit, note: `as of ${head.commit.slice(0, 10)}: ${query.ref?.slice(0, 10)} is not on GitHub` };
    },
    async readFile(query, signal) {
      const path = repositoryPath(query.path);
      const place = await places.find(query, signal);
      return place === null ? null : objects.readFile(place, { ...query, path }, signal);
    },
    async blame(query, signal) {
      const path = repositoryPath(query.path);
      const place = await places.find(query, signal);
      return place === null ? [] : readBlame({ api, objects }, place, { ...query, path }, signal);
    },
  };
}

function searchQuestions({ api, places, objects }: Parts): Pick<CodeHost, 'search' | 'searchFiles' | 'findFiles' | 'listFiles'> {
  return {
    async search(query, signal) {
      const text = searchText(query.text);
      const place = await places.find(query, signal);
      return place === null ? [] : searchLines(api, objects, place, { text, limit: query.limit }, signal);
    },
    async searchFiles(query, signal) {
      const words = searchWords(query.words);
      const place = await places.find(query, signal);
      return place === null ? [] : searchFiles(api, objects, place, { words, limit: query.limit }, signal);
    },
    async findFiles(query, signal) {
      const suffix = repositoryPath(query.suffix);
      const place = await places.find(query, signal);
      if (place === null) return [];
      const tree = await objects.tree(place, signal);
      const found = filesEndingWith(tree.paths, suffix, query.limit);
      if (found.length > 0 || !tree.truncated) return found;
      // The list was cut, but a whole path can be asked for.
      return (await objects.holds(place, suffix, signal)) ? [suffix] : [];
    },
    async listFiles(query, signal) {
      const under = query.under === undefined ? null : repositoryPath(query.under);
      const place = await places.find(query, signal);
      return place === null ? { paths: [], truncated: false } : filesBelow(await objects.tree(place, signal), under, query.limit);
    },
  };
}

function changeQuestions({ api, places, objects, changes }: Parts): Pick<CodeHost, 'history' | 'lineHistory' | 'commitDiff' | 'compare'> {
  return {
    async history(query, signal) {
      const path = query.path === undefined ? undefined : repositoryPath(query.path);
      const place = await places.find(query, signal);
      return place === null ? [] : changes.history(place, { path, limit: Math.min(query.limit, MAX_COMMITS) }, signal);
    },
    async lineHistory(query, signal) {
      const path = repositoryPath(query.path);
      const place = await places.find(query, signal);
      return place === null ? [] : readLineHistory({ api, objects, changes }, place, { ...query, path }, signal);
    },
    async commitDiff(query, signal) {
      const place = await places.find({ repository: query.repository, ref: query.commit }, signal);
      const diff = place === null ? null : await orNull(changes.commit(place, signal));
      if (place === null || diff === null) return null;
      return { ...diff, commit: { ...diff.commit, pullRequest: await changes.pullRequestOf(place, diff.commit, signal) } };
    },
    async compare({ repository, base, head }, signal) {
      const refs = { base: plainRef(base), head: plainRef(head) };
      const known = await places.repository(repository, signal);
      return known === null ? null : changes.compare(known, refs, signal);
    },
  };
}

const PAGE = 100;
const MAX_PAGES = 10;

/** The repositories that the App or the token may read, by name; none without either, as the public ones are without number. */
export async function listRepositories(api: GithubApi, limit: number, signal: AbortSignal): Promise<RepositoryInfo[]> {
  const found = new Map<string, RepositoryInfo>();
  for (const lister of await api.listers(signal)) {
    for (let page = 1; page <= MAX_PAGES && found.size < limit; page += 1) {
      const repositories = await askPage(lister, page, signal);
      for (const { full_name, default_branch, description } of repositories) {
        found.set(full_name, { repository: full_name, defaultBranch: default_branch ?? null, description: description ?? null });
      }
      if (repositories.length < PAGE) break;
    }
  }
  return [...found.values()].sort((left, right) => (left.repository < right.repository ? -1 : 1)).slice(0, limit);
}

async function askPage(lister: Lister, page: number, signal: AbortSignal) {
  const what = 'the repositories that may be read';
  if (lister.as === 'installation') {
    const parameters = { per_page: PAGE, page };
    return (await lister.get(InstallationRepositories, { route: 'GET /installation/repositories', parameters, what, signal })).repositories;
  }
  const parameters = { per_page: PAGE, page, sort: 'full_name', direction: 'asc' };
  return lister.get(z.array(Repository), { route: 'GET /user/repos', parameters, what, signal });
}
