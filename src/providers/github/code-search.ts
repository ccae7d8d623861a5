import { TriageError } from '../../domain/errors.ts';
import type { CodeLine, FileHits } from '../../ports/code-host.ts';
import { mostTelling } from '../code-questions.ts';
import { concurrently } from '../concurrently.ts';
import { CodeSearch, type GithubApi, type TreeEntry } from './code-api.ts';
import type { Objects } from './code-objects.ts';
import type { GithubPlace } from './code-places.ts';

/** Files read for one search: each is a call, where it was not read before. */
const MAX_READ = 60;
/** GitHub's code search looks at no larger files either. */
const MAX_SEARCHED_BYTES = 384 * 1024;
/** Code search may be asked ten times a minute. */
const MAX_QUERIES = 2;
const AT_ONCE = 6;
const MAX_LINE = 1_000;
/** Files that hold no text anybody searches. */
const NO_TEXT = /\.(?:png|jpe?g|gif|ico|webp|pdf|zip|gz|tgz|jar|war|class|so|dll|exe|woff2?|ttf|eot|mp[34]|mov|bin|wasm|pyc)$/i;

/**
 * Lines that hold a text as it is written, in the asked commit. A small repository is read whole. In a larger one GitHub's
 * code search names the files (it knows the default branch only, and needs a token or an App), and so do paths that hold a word of
 * the text; at most 60 of them are read, so a line may be missed, but none is quoted from another commit.
 */
export async function searchLines(
  api: GithubApi,
  objects: Objects,
  place: GithubPlace,
  { text, limit }: { text: string; limit: number },
  signal: AbortSignal,
): Promise<CodeLine[]> {
  const found: CodeLine[] = [];
  for (const { path, text: file } of await candidateTexts(api, objects, place, [text], signal)) {
    if (!file.includes(text)) continue;
    for (const [index, line] of file.split('\n').entries()) {
      if (line.includes(text)) found.push({ path, line: index + 1, text: line.slice(0, MAX_LINE) });
      if (found.length === limit) return found;
    }
  }
  return found;
}

/** Files by how many of the words they hold, in any case; found as `searchLines` finds them. */
export async function searchFiles(
  api: GithubApi,
  objects: Objects,
  place: GithubPlace,
  { words, limit }: { words: readonly string[]; limit: number },
  signal: AbortSignal,
): Promise<FileHits[]> {
  const texts = await candidateTexts(api, objects, place, words, signal);
  const hits = texts.map(({ path, text }) => hitsOf(path, text.toLowerCase(), words));
  return mostTelling(
    hits.filter((file) => file.words > 0),
    limit,
  );
}

function hitsOf(path: string, text: string, words: readonly string[]): FileHits {
  const counts = words.map((word) => text.split(word.toLowerCase()).length - 1);
  return { path, occurrences: counts.reduce((sum, count) => sum + count, 0), words: counts.filter((count) => count > 0).length };
}

interface FileText {
  readonly path: string;
  readonly text: string;
}

/** Texts of the files that may hold any of the words, in order of their paths. */
async function candidateTexts(
  api: GithubApi,
  objects: Objects,
  place: GithubPlace,
  words: readonly string[],
  signal: AbortSignal,
): Promise<FileText[]> {
  const { entries } = await objects.tree(place, signal);
  const files = [...entries.values()].filter(isSearched);
  const wanted = files.length <= MAX_READ ? files : await namedFiles(api, place, files, words, signal);
  const texts = await concurrently(wanted, AT_ONCE, async ({ path, sha }): Promise<FileText> => {
    const text = await objects.blob(place, { path, sha }, signal);
    return { path, text: text.includes('\0') ? '' : text };
  });
  return texts.sort((left, right) => (left.path < right.path ? -1 : 1));
}

function isSearched({ type, mode, size, path }: TreeEntry): boolean {
  return type === 'blob' && mode !== '120000' && (size ?? 0) <= MAX_SEARCHED_BYTES && !NO_TEXT.test(path);
}

/** The files that code search names for the most telling words, then those whose path holds a word. */
async function namedFiles(
  api: GithubApi,
  place: GithubPlace,
  files: readonly TreeEntry[],
  words: readonly string[],
  signal: AbortSignal,
): Promise<TreeEntry[]> {
  const telling = [...words].sort((left, right) => right.length - left.length);
  const asked = (await api.isSigned(place, signal)) ? telling.slice(0, MAX_QUERIES) : [];
  const lists = await Promise.all(asked.map((word) => askPaths(api, place, word, signal)));
  const named = new Set(lists.flat());
  const parts = telling.flatMap((word) => word.toLowerCase().match(/[a-z0-9_]{3,60}/g) ?? []);
  const matches = (path: string) => parts.filter((part) => path.toLowerCase().includes(part)).length;
  const ranked = files
    .map((file) => ({ file, score: (named.has(file.path) ? 1_000 : 0) + matches(file.path) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score);
  return ranked.slice(0, MAX_READ).map(({ file }) => file);
}

async function askPaths(api: GithubApi, { owner, repo }: GithubPlace, word: string, signal: AbortSignal): Promise<string[]> {
  // A quotation mark would end the quoted text; code search ignores such marks anyway.
  const quoted = word.replace(/["\\]/g, ' ').trim().slice(0, 200);
  if (quoted === '') return [];
  const parameters = { q: `"${quoted}" repo:${owner}/${repo}`, per_page: MAX_READ };
  try {
    const found = await api.get({ owner, repo }, CodeSearch, { route: 'GET /search/code', parameters, what: 'a code search', signal });
    return found.items.map((item) => item.path);
  } catch (error) {
    // Its limit is soon used up, and it knows nothing of forks and archives: the paths alone name files then.
    if (error instanceof TriageError && (error.code === 'upstream-failed' || error.code === 'not-found')) return [];
    throw error;
  }
}
