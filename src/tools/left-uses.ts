import { TriageError } from '../domain/errors.ts';
import { type LineChange, readAlterations } from '../lib/patch-changes.ts';
import type { ChangedFile, CodeHost } from '../ports/code-host.ts';

/** A place that still uses a name that the changes removed. */
export interface LeftUse {
  readonly name: string;
  readonly path: string;
  readonly line: number;
}

/** The maximum numbers of names that are searched for, and of lines that are read for each. */
const [MAX_NAMES, MAX_HITS] = [4, 20];
/** Time limit of the searches, in milliseconds. The changes are reported without them. */
const SEARCH_MS = 8_000;
const MAX_LINE = 500;
/** Files that contain prose. */
const PROSE = /\.(?:md|rst|txt|adoc|html?|svg|lock)$/i;
/** Definitions of a key, a constant, a function or a type. */
const DEFINED = new RegExp(
  [
    /["'](?<quoted>[A-Za-z_][\w-]{3,60})["']\s{0,4}(?::|=>|\]\s{0,4}=(?!=))/,
    /(?<![.\w])(?<key>[A-Za-z_]\w{3,60})\s{0,4}(?::(?!:)|=(?![=>~]))/,
    /\b(?:def|function|func|fn|class|struct|type|const|let|var|val)\s{1,4}(?<word>[A-Za-z_]\w{3,60})/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
/** The maximum number of files of a change that are read for names, and of characters of each patch. */
const [MAX_FILES, MAX_PATCH] = [60, 20_000];
const KEYWORDS: ReadonlySet<string> = new Set(
  `None True False null true false else default self this case return public private type name value data
    index item result undefined continue break lambda finally except`.split(/\s+/),
);

/**
 * Finds names that the changes removed and that other lines of the commit still use, as after a key was
 * renamed in one place only. Names that another line still defines are excluded. Returns none if the host
 * cannot search or does not answer in time.
 */
export async function findLeftUses(
  host: CodeHost,
  at: { readonly repository: string; readonly ref: string },
  files: readonly ChangedFile[],
  signal: AbortSignal,
): Promise<LeftUse[]> {
  const names = listRemovedNames(files).slice(0, MAX_NAMES);
  if (names.length === 0) return [];
  const either = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_MS)]);
  try {
    const found = await Promise.all(
      names.map(async (name): Promise<LeftUse[]> => {
        const hits = await host.search({ ...at, text: name, limit: MAX_HITS }, either);
        const code = hits.filter(({ path }) => !PROSE.test(path));
        const left = code.filter(({ text }) => hasWord(text.slice(0, MAX_LINE), name));
        const [use] = left.some(({ text }) => listDefinedNames(text).includes(name)) ? [] : left;
        return use === undefined ? [] : [{ name, path: use.path, line: use.line }];
      }),
    );
    return found.flat();
  } catch (error) {
    if (signal.aborted || !(error instanceof TriageError || either.aborted)) throw error;
    return [];
  }
}

/** Checks whether changes remove a name and do not add it again. */
export function takesAway(changes: readonly LineChange[], name: string): boolean {
  const has = (lines: readonly string[]) => lines.some((line) => hasWord(line.slice(0, MAX_LINE), name));
  return changes.some(({ removed, added }) => has(removed) && !has(added));
}

/** Lists the names that removed lines define and that now occur in fewer lines than before. */
function listRemovedNames(files: readonly ChangedFile[]): string[] {
  const code = files.filter(({ path }) => !PROSE.test(path));
  const changes = code
    .slice(0, MAX_FILES)
    .flatMap(({ patch, path }) => readAlterations((patch ?? '').slice(0, MAX_PATCH), path));
  const removed = countWords(changes.flatMap((change) => change.removed));
  const added = countWords(changes.flatMap((change) => change.added));
  const count = (name: string) => added.get(name) ?? 0;
  const isLost = (name: string) => count(name) < (removed.get(name) ?? 0);
  const names = changes.flatMap((change) => change.removed).flatMap(listDefinedNames);
  const lost = [...new Set(names)].filter((name) => !KEYWORDS.has(name) && isLost(name));
  return lost.toSorted((left, right) => count(left) - count(right));
}

/** Counts words with and without hyphens. */
function countWords(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines.map((other) => other.slice(0, MAX_LINE))) {
    const words = [line.match(/\w+/g) ?? [], line.match(/[\w-]+/g) ?? []].flat();
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

function listDefinedNames(line: string): string[] {
  const found = [...line.slice(0, MAX_LINE).matchAll(DEFINED)];
  return found.flatMap(({ groups }) => groups?.quoted ?? groups?.key ?? groups?.word ?? []);
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + word.length] ?? ' '}`;
    if (!/[\w-]/.test(around)) return true;
  }
  return false;
}
