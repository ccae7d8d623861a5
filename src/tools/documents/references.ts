import type { ReadableDocument } from '../../ports/document-folder.ts';

/** A place in a document that refers to another one. */
export interface DocumentReference {
  /** 1-based. */
  readonly line: number;
  /** The words that refer, as they are written. */
  readonly words: string;
  /** The document that is meant; null if none of the folder fits. */
  readonly path: string | null;
}

/** Words that announce the name of another document, in the forms people write. */
const CUE = new RegExp(
  String.raw`\b(?:as (?:stated|described|defined|set out|set forth|noted|shown|specified|explained|agreed) ` +
    String.raw`(?:in|by)|see(?: also)?|refer(?:s|red|ring)? to|per|cf\.?|according to|pursuant to|under|` +
    String.raw`in accordance with|(?:detailed|found|listed|described|defined|specified|documented|set out|` +
    String.raw`continued) in|attached as|consult|(?:governed|superseded|replaced) by)\b[: ]{1,3}`,
  'gi',
);
const NUMBERED = /\b(?:doc(?:ument)?|document no)\.?[ ]{0,2}[#№]?[ ]{0,2}(\d{1,6})\b/gi;
const LETTERED = /\b(exhibit|appendix|annex|schedule|attachment)[ -]{1,2}([A-Z]|\d{1,3}|[IVX]{1,5})\b/gi;
const LINK = /\]\(([^()\s]{1,300})\)/g;
/** Starts only where a name starts, so that a long run of letters is not tried from each of them. */
const PATH = /(?<![\w./-])[\w./-]{1,200}\.(?:pdf|docx|xlsx|pptx|html?|md|markdown|txt|csv|zip)\b/gi;
const MAX_REFERENCES = 300;
const MAX_LINE = 1_000;
/** The maximum number of cues of one document after which a name is looked for. */
const MAX_CUES = 5_000;
/** The maximum number of words of a name after a cue. */
const MAX_WORDS = 12;

interface NamedDocument {
  readonly path: string;
  /** The words of one of its names. */
  readonly name: readonly string[];
}

/** The documents of a folder by what may name them, so that a reference is looked up and not searched for. */
export interface DocumentNames {
  /** The paths by a key: the path, the file name, a number, or two words in a row. */
  readonly byKey: ReadonlyMap<string, string>;
  /** The names that are no everyday words, by their first word; the longest first. */
  readonly byFirstWord: ReadonlyMap<string | undefined, readonly NamedDocument[]>;
}

/** Collects the names of documents: their paths, and the words of their file names and titles. */
export function indexNames(documents: readonly ReadableDocument[]): DocumentNames {
  const byKey = new Map<string, string>();
  const named: NamedDocument[] = [];
  for (const { path, title } of documents) {
    const add = (key: string) => byKey.has(key) || byKey.set(key, path);
    add(`path ${path.toLowerCase()}`);
    add(`file ${getFileName(path).toLowerCase()}`);
    for (const name of [splitWords(getStem(path)), splitWords(title ?? '')]) {
      if (isDistinctive(name)) named.push({ path, name });
      if (/^\d+$/.test(name[0] ?? '')) add(`number ${Number(name[0])}`);
      for (const [at, next] of name.slice(1).entries()) {
        const word = name[at] ?? '';
        add(`pair ${word} ${next}`);
        if (/^(?:doc|document|no)$/.test(word) && /^\d+$/.test(next)) add(`number ${Number(next)}`);
      }
    }
  }
  named.sort((left, right) => right.name.length - left.name.length);
  return { byKey, byFirstWord: Map.groupBy(named, ({ name }) => name[0]) };
}

/** Lists what a document refers to, in order; what fits no document of the folder has the path null. */
export function listDocumentReferences(
  { path: from, lines }: ReadableDocument,
  names: DocumentNames,
): DocumentReference[] {
  const found = new Map<string, DocumentReference>();
  let cuesLeft = MAX_CUES;
  for (const [index, whole] of lines.entries()) {
    const line = whole.slice(0, MAX_LINE);
    const cues = [...line.matchAll(CUE)].slice(0, cuesLeft);
    cuesLeft -= cues.length;
    for (const { words, path } of [...listInLine(line, from, names), ...listAfterCues(line, cues, names)]) {
      const key = path ?? words.toLowerCase();
      if (path !== from && !found.has(key)) found.set(key, { line: index + 1, words, path });
      if (found.size >= MAX_REFERENCES) return [...found.values()];
    }
  }
  return [...found.values()];
}

type Named = Pick<DocumentReference, 'words' | 'path'>;

function listInLine(line: string, from: string, names: DocumentNames): Named[] {
  const named: Named[] = [];
  for (const [words, path = ''] of line.matchAll(LINK))
    if (!/^[a-z]+:/i.test(path))
      named.push({ words, path: findByPath(path.split('#')[0] ?? '', from, names) });
  for (const [words] of line.matchAll(PATH))
    if (!line.includes(`://${words}`)) named.push({ words, path: findByPath(words, from, names) });
  for (const [words, number = ''] of line.matchAll(NUMBERED))
    named.push({ words, path: names.byKey.get(`number ${Number(number)}`) ?? null });
  for (const [words, kind = '', mark = ''] of line.matchAll(LETTERED))
    named.push({ words, path: names.byKey.get(`pair ${kind} ${mark}`.toLowerCase()) ?? null });
  return named;
}

/** Lists the documents that are named after cues. Most cues are followed by something else. */
function listAfterCues(line: string, cues: readonly RegExpExecArray[], names: DocumentNames): Named[] {
  return cues.flatMap((cue) => {
    const after = line.slice(cue.index + cue[0].length);
    const path = findByBeginning(splitWords(after.slice(0, 200)).slice(0, MAX_WORDS), names);
    return path === null ? [] : [{ words: `${cue[0]}${after.slice(0, 60)}`.trim(), path }];
  });
}

function findByPath(path: string, from: string, { byKey }: DocumentNames): string | null {
  const plain = decode(path)
    .replace(/^(?:\.\/)+/, '')
    .toLowerCase();
  const folder = from.slice(0, from.lastIndexOf('/') + 1).toLowerCase();
  const keys = [`path ${plain}`, `path ${joinPath(folder + plain)}`, `file ${getFileName(plain)}`];
  return keys.map((key) => byKey.get(key)).find((found) => found !== undefined) ?? null;
}

function joinPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Words that may stand between a cue and a name. */
const FILLERS = new Set([
  'the',
  'our',
  'document',
  'doc',
  'file',
  'attached',
  'section',
  'of',
  'in',
  'a',
  'new',
  'current',
]);

/** Finds the document whose whole name begins the words after a cue; the longest name wins. */
function findByBeginning(after: readonly string[], { byFirstWord }: DocumentNames): string | null {
  for (let skip = 0; skip <= 4; skip += 1) {
    const next = after[skip];
    const best = (byFirstWord.get(next) ?? []).find(({ name }) =>
      name.every((word, at) => after[skip + at] === word),
    );
    if (best !== undefined) return best.path;
    if (next === undefined || !(FILLERS.has(next) || /^\d+$/.test(next))) return null;
  }
  return null;
}

/** Checks whether a name is long enough not to be an everyday word. */
function isDistinctive(name: readonly string[]): boolean {
  return name.length > 1 || (name[0]?.length ?? 0) > 4;
}

/** Splits a name or sentence into lower-case words and numbers. */
export function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [];
}

function getFileName(path: string): string {
  return path.split('/').at(-1) ?? path;
}

function getStem(path: string): string {
  return getFileName(path).replace(/\.\w{1,9}$/, '');
}
