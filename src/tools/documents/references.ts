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
const PATH = /[\w./-]{1,200}\.(?:pdf|docx|xlsx|pptx|html?|md|markdown|txt|csv|zip)\b/gi;
const MAX_REFERENCES = 300;
const MAX_LINE = 1_000;
/** The maximum number of words of a name after a cue. */
const MAX_WORDS = 12;

/** The documents of a folder by the words of their names, for finding the one that is meant. */
export interface DocumentNames {
  readonly entries: readonly { readonly path: string; readonly names: readonly (readonly string[])[] }[];
}

/** Collects the names of documents: the words of their file names and titles. */
export function indexNames(documents: readonly ReadableDocument[]): DocumentNames {
  return {
    entries: documents.map(({ path, title }) => ({
      path,
      names: [splitWords(getStem(path)), splitWords(title ?? '')].filter((words) => words.length > 0),
    })),
  };
}

/** Lists what a document refers to, in order; what fits no document of the folder has the path null. */
export function listDocumentReferences(
  { path: from, lines }: ReadableDocument,
  names: DocumentNames,
): DocumentReference[] {
  const found = new Map<string, DocumentReference>();
  for (const [index, whole] of lines.entries()) {
    const line = whole.slice(0, MAX_LINE);
    for (const { words, path } of listInLine(line, from, names)) {
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
    named.push({ words, path: findByNumber(number, names) });
  for (const [words, kind = '', mark = ''] of line.matchAll(LETTERED))
    named.push({ words, path: findByWords([kind.toLowerCase(), mark.toLowerCase()], names) });
  for (const cue of line.matchAll(CUE)) {
    const after = line.slice(cue.index + cue[0].length);
    const path = findByBeginning(splitWords(after.slice(0, 200)).slice(0, MAX_WORDS), names);
    // After most cues stands no document. Only what is one counts.
    if (path !== null) named.push({ words: `${cue[0]}${after.slice(0, 60)}`.trim(), path });
  }
  return named;
}

function findByPath(path: string, from: string, { entries }: DocumentNames): string | null {
  const plain = decode(path)
    .replace(/^(?:\.\/)+/, '')
    .toLowerCase();
  const folder = from.slice(0, from.lastIndexOf('/') + 1).toLowerCase();
  const paths = entries.map((entry) => entry.path);
  const equal = paths.find((other) => [plain, joinPath(folder + plain)].includes(other.toLowerCase()));
  const name = plain.split('/').at(-1) ?? plain;
  return equal ?? paths.find((other) => other.toLowerCase().split('/').at(-1) === name) ?? null;
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

/** Finds the document with this number at the beginning of its name, or after the word document. */
function findByNumber(number: string, { entries }: DocumentNames): string | null {
  const plain = String(Number(number));
  const isNumber = (word: string | undefined) =>
    word !== undefined && /^\d+$/.test(word) && String(Number(word)) === plain;
  const fits = (words: readonly string[]) =>
    isNumber(words[0]) ||
    words.some((word, at) => /^(?:doc|document|no)$/.test(word) && isNumber(words[at + 1]));
  return entries.find(({ names }) => names.some(fits))?.path ?? null;
}

/** Finds the document whose name holds these words, one after the other. */
function findByWords(wanted: readonly string[], { entries }: DocumentNames): string | null {
  const holds = (words: readonly string[]) =>
    words.some((_word, at) => wanted.every((word, offset) => words[at + offset] === word));
  return entries.find(({ names }) => names.some(holds))?.path ?? null;
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
function findByBeginning(after: readonly string[], { entries }: DocumentNames): string | null {
  for (let skip = 0; skip <= 4; skip += 1) {
    const words = after.slice(skip);
    const fitting = entries
      .flatMap(({ path, names }) => names.map((name) => ({ path, name })))
      .filter(({ name }) => isTelling(name) && name.every((word, at) => words[at] === word))
      .sort((left, right) => right.name.length - left.name.length);
    const [best] = fitting;
    const next = after[skip];
    if (best !== undefined) return best.path;
    if (next === undefined || !(FILLERS.has(next) || /^\d+$/.test(next))) return null;
  }
  return null;
}

/** Checks whether a name is long enough not to be an everyday word. */
function isTelling(name: readonly string[]): boolean {
  return name.length > 1 || (name[0]?.length ?? 0) > 4;
}

/** Splits a name or sentence into lower-case words and numbers. */
export function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [];
}

function getStem(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/\.\w{1,9}$/, '');
}
