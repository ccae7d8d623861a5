import { append } from '../lib/collections.ts';
import { countTokens } from '../log/reduce/tokens.ts';

/** A part of a file as whole lines; 1-based, inclusive. */
export interface CodeChunk {
  readonly path: string;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly text: string;
}

/** The number of tokens of a chunk: about one function with its surroundings. */
const CHUNK_TOKENS = 500;
/** The number of tokens that a chunk repeats from the one before, so that no code is split in all chunks. */
const OVERLAP_TOKENS = 100;

/**
 * Splits consecutive lines of a file into chunks of about 500 tokens that overlap by about 100. A longer line
 * is a chunk of its own.
 */
export function splitChunks(path: string, lineStart: number, lines: readonly string[]): CodeChunk[] {
  const sizes = lines.map((line) => countTokens(`${line}\n`));
  const chunks: CodeChunk[] = [];
  let from = 0;
  while (from < lines.length) {
    let to = from;
    let tokens = sizes[from] ?? 0;
    while (to + 1 < lines.length && tokens + (sizes[to + 1] ?? 0) <= CHUNK_TOKENS) {
      to += 1;
      tokens += sizes[to] ?? 0;
    }
    chunks.push({
      path,
      lineStart: lineStart + from,
      lineEnd: lineStart + to,
      text: lines.slice(from, to + 1).join('\n'),
    });
    if (to + 1 >= lines.length) break;
    from = Math.max(from + 1, findOverlapStart(sizes, to) + 1);
  }
  return chunks;
}

/** Returns the index of the first line of the overlap, which has as many lines before `to` as fit. */
function findOverlapStart(sizes: readonly number[], to: number): number {
  let at = to;
  for (let tokens = sizes[to] ?? 0; at >= 0 && tokens <= OVERLAP_TOKENS; tokens += sizes[at] ?? 0) at -= 1;
  return at;
}

/** Keywords and words of any code. They say nothing about its purpose. */
const COMMON = new Set(
  `abstract and any args array assert async await bool boolean break byte case catch char class const
  constructor continue def default del delete double elif else end enum error except export extends false
  final finally float fn for from func function get global if impl implements import in include instanceof
  int interface is lambda let list long map match mod module mut namespace new nil none not null number
  object of or override package pass private protected pub public raise return self set short static string
  struct super switch template test then this throw throws trait true try tuple type typeof undefined union
  unit unsafe use using val value var void volatile when where while with yield`.split(/\s+/),
);

/** Extracts the words of code and prose, in lower case. A compound identifier yields itself and its parts. */
export function extractCodeWords(text: string): string[] {
  const words: string[] = [];
  for (const [identifier] of text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]{1,80}/gu)) {
    const parts = splitIdentifier(identifier);
    if (parts.length > 1) words.push(identifier.toLowerCase());
    append(words, parts);
  }
  return words.filter((word) => word.length > 1 && !COMMON.has(word));
}

/**
 * Extracts the identifiers that are best for finding files, most informative first: compound ones, then long
 * ones. At most `most`, each as written.
 */
export function searchWords(text: string, most: number): string[] {
  const known = new Map<string, number>();
  for (const [identifier] of text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]{2,80}/gu)) {
    if (COMMON.has(identifier.toLowerCase())) continue;
    const worth = Math.min(12, identifier.length) + 6 * Math.min(3, splitIdentifier(identifier).length - 1);
    known.set(identifier, Math.max(worth, known.get(identifier) ?? 0));
  }
  return [...known]
    .sort(([, left], [, right]) => right - left)
    .slice(0, most)
    .map(([identifier]) => identifier);
}

/** Splits an identifier: `taxOfCart`, `tax_of_cart` and `TAXOfCart` become tax, of and cart. */
function splitIdentifier(identifier: string): string[] {
  return identifier
    .replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1_')
    .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1_')
    .toLowerCase()
    .split(/[_$]+/)
    .filter((part) => part !== '');
}
