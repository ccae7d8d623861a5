import { findFirstPlace } from '../../lib/collections.ts';
import type { Block, Extraction } from '../extract/extraction.ts';
import { createRoleLookup, LINE_ROLES, type LineRole } from '../line-roles.ts';
import type { LogText } from '../lines/lines.ts';
import type { Structure } from '../sections.ts';

/** A line that may be kept, with its facts except the score of its words. */
export interface Candidate {
  readonly line: number;
  readonly text: string;
  readonly role: LineRole;
}

/**
 * The measurements of a line in relation to the lines around it: its paragraph, and the other candidates of
 * its step.
 */
export const SURROUNDINGS = [
  ...([
    'head',
    'headBelow',
    'alike',
    'alikeAbove',
    'alikeBelow',
    'paragraphPlace',
    'paragraphSize',
    'paragraphsAfter',
  ] as const),
  ...(['causesBefore', 'causesAfter', 'severeBefore', 'severeAfter', 'asCommand'] as const),
] as const;

/**
 * Returns one row of {@link SURROUNDINGS} for each candidate. `isSevere` says for each candidate whether it
 * contains a term of failure. Counts are binary logarithms.
 */
export function measureSurroundings(
  lines: readonly Candidate[],
  isSevere: readonly boolean[],
  { failedSections }: Structure,
): Float32Array {
  const starts = lines.map(({ text }) => /^\s*(\S{1,12})/.exec(text)?.[1]?.replace(/\d+/g, '0') ?? '');
  const alike = new Map<string, number>();
  for (const start of starts) alike.set(start, (alike.get(start) ?? 0) + 1);
  const steps = lines.map(({ line }) =>
    failedSections.findIndex(({ lineStart, lineEnd }) => line >= lineStart && line <= lineEnd),
  );
  const follows = (i: number) => lines[i] !== undefined && lines[i - 1]?.line === lines[i].line - 1;
  const opens = (i: number) => !follows(i) || lines[i - 1]?.role === 'blank';
  const isCause = (i: number) => lines[i]?.role === 'cause';
  const [paragraphs, causes, severe] = [
    opens,
    isCause,
    (i: number) => isCause(i) && isSevere[i] === true,
  ].map((is) => computeSums(lines.length, is));
  const rows = new Float32Array(lines.length * SURROUNDINGS.length);
  let [first, end, opening, size] = [0, 0, 0, 0];
  let commands: ReadonlySet<string> = new Set();
  const before = (sums: Int32Array | undefined, i: number) =>
    computeLog2((sums?.[i] ?? 0) - (sums?.[first] ?? 0));
  const after = (sums: Int32Array | undefined, i: number) =>
    computeLog2((sums?.[end] ?? 0) - (sums?.[i + 1] ?? 0));
  for (const [i, { role, text }] of lines.entries()) {
    if (i === end) {
      first = i;
      while (end < lines.length && steps[end] === steps[first]) end++;
      commands = listCommandWords(lines.slice(first, end));
    }
    if (opens(i)) for ([opening, size] = [i, 1]; !opens(i + size); ) size++;
    const below =
      follows(i + 1) && lines[i + 1]?.role !== 'blank' ? classifyHead(lines[i + 1]?.text ?? '') : -1;
    const [isAbove, isBelow] = [
      follows(i) && starts[i - 1] === starts[i],
      follows(i + 1) && starts[i + 1] === starts[i],
    ];
    const commandsShown =
      commands.size === 0 || role === 'echo' ? [] : extractWords(text).filter((word) => commands.has(word));
    rows.set(
      [
        classifyHead(text),
        below,
        computeLog2(alike.get(starts[i] ?? '') ?? 1),
        isAbove ? 1 : 0,
        isBelow ? 1 : 0,
        i - opening,
        computeLog2(size),
        after(paragraphs, i),
        before(causes, i),
        after(causes, i),
        before(severe, i),
        after(severe, i),
        Math.min(4, commandsShown.length),
      ],
      i * SURROUNDINGS.length,
    );
  }
  return rows;
}

/**
 * Counts for each line how many of the lines before it satisfy the condition. The last value is the total.
 */
function computeSums(count: number, is: (i: number) => boolean): Int32Array {
  const sums = new Int32Array(count + 1);
  for (let i = 0; i < count; i++) sums[i + 1] = (sums[i] ?? 0) + (is(i) ? 1 : 0);
  return sums;
}

function computeLog2(value: number): number {
  return Math.log2(1 + Math.max(0, value));
}

/**
 * Returns the words of the commands and settings that a step echoes. Output of their tools contains these
 * words more often than other output.
 */
function listCommandWords(lines: readonly Candidate[]): ReadonlySet<string> {
  const words = lines.filter(({ role }) => role === 'echo').flatMap(({ text }) => extractWords(text));
  return new Set(
    words.filter(
      (word) => !/^(?:run|bash|usr|bin|group|shell|noprofile|norc|env|endgroup|pipefail)$/.test(word),
    ),
  );
}

function extractWords(text: string): string[] {
  const head = text.slice(0, 200).toLowerCase();
  return head.match(/[a-z][a-z0-9]{2,30}/g) ?? [];
}

/**
 * Classifies the first character of a line: 0 a letter, 1 a digit, 2 a bracket, 3 a list mark, 4 a quotation
 * mark, 5 anything else.
 */
function classifyHead(text: string): number {
  const place = [/^\s*[\p{L}_]/u, /^\s*\d/, /^\s*[[({<]/, /^\s*[-*•·–—●○▪]/, /^\s*["'`‘“]/].findIndex(
    (head) => head.test(text),
  );
  return place < 0 ? 5 : place;
}

/** The candidates of one log, ascending, with one row of facts for each. */
export interface Candidates {
  readonly lines: readonly Candidate[];
  /** `lines.length` × {@link FACTS}`.length` values. */
  readonly facts: Float32Array;
}

/** The facts of a line apart from its words, in the order of the columns. */
export const FACTS = [
  ...([
    'reader',
    'weighed',
    'loose',
    'blockSize',
    'blockPlace',
    'diagnostic',
    'exception',
    'test',
    'message',
  ] as const),
  ...([
    'role',
    'roleAbove',
    'roleBelow',
    'inFailed',
    'toEnd',
    'fromStart',
    'toLogEnd',
    'share',
    'toMark',
  ] as const),
  ...([
    'repeats',
    'occurrence',
    'length',
    'words',
    'indent',
    'indentStep',
    'blankAbove',
    'blankBelow',
    'paragraphEnd',
  ] as const),
  ...([
    'severity',
    'place',
    'quoted',
    'capitals',
    'colon',
    'digits',
    'candidates',
    'lastParagraph',
    'frame',
    'indentBelow',
  ] as const),
  ...SURROUNDINGS,
] as const;

/** The number of lines at the end of a failed step that are always candidates. */
const TAIL = 150;
/** The maximum number of lines of one block that are candidates. */
const MAX_BLOCK = 200;
/**
 * The maximum number of candidates of one log. If there are more, those nearest to the ends of the failed
 * steps are kept.
 */
const MAX_CANDIDATES = 12_000;

/** A log that has been read, before its lines are ranked. */
export interface ReadLog {
  readonly log: LogText;
  /** The lines that contain a literal of some reader. */
  readonly hits: readonly (readonly number[])[];
  readonly found: Extraction;
  readonly structure: Structure;
}

/**
 * Chooses the lines of one log that are ranked: lines with a literal, their neighbors, the lines of proposed
 * blocks, and the ends of failed steps.
 */
function chooseCandidateLines({ log, hits, structure }: ReadLog, blocks: readonly Block[]): number[] {
  const lines = new Set<number>();
  const add = (from: number, to: number) => {
    for (let line = Math.max(1, from); line <= Math.min(log.lineCount, to); line++)
      if (log.hides?.(line) !== true) lines.add(line);
  };
  for (const end of listStepEnds(log, structure)) add(end - TAIL, end);
  add(log.lineCount - 40, log.lineCount);
  for (const { start, end, fromEnd } of blocks) {
    if (fromEnd === true) add(Math.max(start, end - MAX_BLOCK), end);
    else add(start - 1, Math.min(end, start + MAX_BLOCK) + 2);
  }
  for (const group of hits) for (const line of group) add(line, line);
  const sorted = [...lines].sort((a, b) => a - b);
  return sorted.length <= MAX_CANDIDATES ? sorted : keepNearest(sorted, log, blocks, structure);
}

function listStepEnds(log: LogText, { failedSections }: Structure): number[] {
  return failedSections.length === 0 ? [log.lineCount] : failedSections.map(({ lineEnd }) => lineEnd);
}

/**
 * Reduces the lines if there are too many. Half of the limit goes to lines of the heaviest blocks, the other
 * half to the last lines before the end of each failed step.
 */
function keepNearest(
  sorted: readonly number[],
  log: LogText,
  blocks: readonly Block[],
  structure: Structure,
): number[] {
  const ends = listStepEnds(log, structure).slice(0, 20);
  const share = Math.floor(MAX_CANDIDATES / 2 / ends.length);
  const kept = new Set(ends.flatMap((end) => sorted.filter((line) => line <= end).slice(-share)));
  for (const { start, end } of blocks.toSorted((a, b) => b.weight - a.weight)) {
    if (kept.size >= MAX_CANDIDATES) break;
    for (let line = start; line <= Math.min(end, start + MAX_BLOCK); line++) kept.add(line);
  }
  return [...kept].sort((a, b) => a - b);
}

/**
 * Chooses the candidates of one log and reads their facts. `weighed` are its blocks, as {@link weighBlocks}
 * returns them.
 */
export function readCandidates(read: ReadLog, weighed: readonly Block[]): Candidates {
  const { log, found, structure } = read;
  const numbers = chooseCandidateLines(read, weighed);
  const roleAt = createRoleLookup(log, structure);
  const lines = numbers.map((line): Candidate => ({ line, text: log.line(line), role: roleAt(line) }));
  const width = FACTS.length;
  const facts = new Float32Array(lines.length * width);
  const marked = listFoundLines(found);
  const wanted = new Set(numbers);
  const blocks = findBlocksByLine(found.blocks, wanted);
  const placed = findBlocksByLine(weighed, wanted);
  const repeats = countRepeats(lines);
  const ends = locateEndsOfSteps(log, structure);
  const shapes = lines.map(({ text }) => measureShape(text));
  const isSevere = shapes.map(({ severity }) => severity > 0);
  const around = measureSurroundings(lines, isSevere, structure);
  const wide = SURROUNDINGS.length;
  for (const [i, { line, text, role }] of lines.entries()) {
    const block = blocks.get(line);
    const place = ends.locateLine(line);
    const shape = shapes[i] ?? measureShape(text);
    const above = describeNeighbor(log, line - 1, roleAt, lines[i - 1]);
    const below = describeNeighbor(log, line + 1, roleAt, lines[i + 1]);
    let at = i * width;
    const put = (...values: number[]) => {
      for (const value of values) facts[at++] = value;
    };
    const isIn = (set: ReadonlySet<number>) => (set.has(line) ? 1 : 0);
    put(
      block?.weight ?? 0,
      placed.get(line)?.weight ?? -30,
      block?.loose === true ? 1 : 0,
      block?.size ?? 0,
      block?.place ?? 0,
    );
    put(
      isIn(marked.diagnostics),
      isIn(marked.exceptions),
      isIn(marked.tests),
      marked.messages.get(line) ?? 0,
    );
    put(
      getRoleNumber(role),
      above.role,
      below.role,
      place.inside,
      computeLog2(place.toEnd),
      computeLog2(place.fromStart),
    );
    put(computeLog2(log.lineCount - line), line / log.lineCount, computeLog2(ends.toMark(line)));
    put(
      computeLog2(repeats.total[i] ?? 1),
      repeats.occurrence[i] ?? 0,
      text.length,
      shape.words,
      shape.indent,
    );
    put(
      shape.indent - above.indent,
      above.isBlank ? 1 : 0,
      below.isBlank ? 1 : 0,
      below.isBlank || below.role === 0 ? 1 : 0,
    );
    put(
      shape.severity,
      shape.place,
      shape.quoted,
      shape.capitals,
      shape.colon,
      shape.digits,
      computeLog2(lines.length),
    );
    put(place.toEnd < 12 ? 1 : 0, shape.frame, below.indent - shape.indent);
    facts.set(around.subarray(i * wide, (i + 1) * wide), at);
  }
  return { lines, facts };
}

function getRoleNumber(role: LineRole): number {
  return LINE_ROLES.indexOf(role);
}

/**
 * Describes a line next to a candidate. The last parameter is the candidate on that line, if there is one.
 */
function describeNeighbor(
  log: LogText,
  line: number,
  roleAt: (line: number) => LineRole,
  beside: Candidate | undefined,
) {
  const { text, role } = beside?.line === line ? beside : { text: log.line(line), role: roleAt(line) };
  return { role: getRoleNumber(role), indent: countIndent(text), isBlank: role === 'blank' };
}

function listFoundLines(found: Extraction) {
  const at = (items: readonly { readonly at: { readonly line: number } | null }[]) =>
    new Set(items.flatMap(({ at }) => at?.line ?? []));
  return {
    diagnostics: at(found.diagnostics.filter(({ severity }) => severity === 'error')),
    exceptions: at(found.exceptions),
    tests: at(found.failingTests),
    messages: new Map(
      found.messages.toSorted((a, b) => a.weight - b.weight).map(({ at, weight }) => [at?.line, weight]),
    ),
  };
}

/** Finds the heaviest block on each line. Among equally heavy blocks, the smallest is chosen. */
function findBlocksByLine(proposed: readonly Block[], wanted: ReadonlySet<number>) {
  const best = new Map<number, { weight: number; loose: boolean; size: number; place: number }>();
  for (const { start, end, weight, loose } of proposed) {
    const size = end - start + 1;
    for (let line = start; line <= Math.min(end, start + MAX_BLOCK); line++) {
      if (!wanted.has(line)) continue;
      const known = best.get(line);
      if (known !== undefined && (known.weight > weight || (known.weight === weight && known.size <= size)))
        continue;
      best.set(line, { weight, loose: loose === true, size: computeLog2(size), place: line - start });
    }
  }
  return best;
}

function countRepeats(lines: readonly Candidate[]): { total: number[]; occurrence: number[] } {
  const counts = new Map<string, number>();
  const heads = lines.map(({ text }) => text.slice(0, 160));
  const keys = heads.map((head) => head.replace(/\d+|0x[\da-f]+/g, '0').trim());
  const occurrence = keys.map((key) => {
    const times = counts.get(key) ?? 0;
    counts.set(key, times + 1);
    return Math.min(times, 30);
  });
  return { total: keys.map((key) => counts.get(key) ?? 1), occurrence };
}

/** Creates functions that locate lines in relation to the ends of failed steps. */
function locateEndsOfSteps(log: LogText, { failedSections, exits, afterwards }: Structure) {
  const marks = [...exits.map(({ line }) => line), ...failedSections.map(({ lineEnd }) => lineEnd)].sort(
    (a, b) => a - b,
  );
  return {
    /**
     * Locates one line. `inside` is 2 in a failed step, 1 in one that failed as a consequence, 0 if no failed
     * step is known, -1 outside of failed steps, and -2 after all of them.
     */
    locateLine(line: number): {
      readonly inside: number;
      readonly toEnd: number;
      readonly fromStart: number;
    } {
      const section = failedSections.find(({ lineStart, lineEnd }) => line >= lineStart && line <= lineEnd);
      if (section !== undefined)
        return {
          inside: section.consequence ? 1 : 2,
          toEnd: section.lineEnd - line,
          fromStart: line - section.lineStart,
        };
      if (failedSections.length === 0) return { inside: 0, toEnd: log.lineCount - line, fromStart: line };
      const next = failedSections.find(({ lineStart }) => lineStart > line);
      const isAfter = next === undefined || afterwards.some(({ start, end }) => line >= start && line <= end);
      return isAfter
        ? { inside: -2, toEnd: 5_000, fromStart: 5_000 }
        : { inside: -1, toEnd: next.lineEnd - line, fromStart: 5_000 };
    },
    /** Counts the lines to the next line that says how something ended. */
    toMark(line: number): number {
      return (
        (marks[findFirstPlace(marks.length, (place) => (marks[place] ?? 0) < line)] ?? log.lineCount) - line
      );
    },
  };
}

const SEVERITY = new RegExp(
  String.raw`\b(?:fatal|panic(?:ked)?|error|exception|fail(?:ed|ure|s)?|assert\w{0,12}|cannot|` +
    'could not|unable|denied|refused|expected|missing|invalid|not found|undefined|unexpected|' +
    String.raw`unknown|exceed\w{0,3}|must|mismatch)\b|(?:Error|Exception)\b`,
  'gi',
);

/**
 * Kinds of characters, numbered from 1: lower-case letters, capitals, digits, white space, and the signs that
 * the patterns below need.
 */
const kindAt = createKindLookup([/[a-z]/, /[A-Z]/, /\d/, /\s/, /\./, /\//, /:/, /\(/, /["'`‘“]/]);
const SPACE = 4;

function measureShape(text: string) {
  const head = text.length > 400 ? text.slice(0, 400) : text;
  const [
    ,
    small = 0,
    capitals = 0,
    digits = 0,
    gaps = 0,
    dots = 0,
    slashes = 0,
    colons = 0,
    brackets = 0,
    quotes = 0,
  ] = countKinds(head);
  const isPlace = dots * digits * (colons + brackets) > 0 && /[\w./\\-]\.\w{1,8}[:(]\d/.test(head);
  return {
    words: Math.min(60, gaps + 1),
    indent: countIndent(head),
    severity: Math.min(4, head.match(SEVERITY)?.length ?? 0),
    place: isPlace ? 2 : dots * slashes > 0 && /[\w-]\/[\w./-]{1,120}\.\w{1,8}\b/.test(head) ? 1 : 0,
    quoted: quotes > 0 && /["'`‘“][^"'`’”]{1,120}["'`’”]/.test(head) ? 1 : 0,
    capitals: small + capitals === 0 ? 0 : capitals / (small + capitals),
    colon: colons === 0 ? 0 : /:\s{0,3}$/.test(head) ? 2 : /\S: \S/.test(head) ? 1 : 0,
    digits: digits / Math.max(1, head.length),
    frame: /^\s{2,20}(?:at |File "|from |in )|^\s{0,8}\d{1,3}: /.test(head) ? 1 : 0,
  };
}

/** Counts the characters of each kind in a text. A run of white space counts once. */
function countKinds(text: string): number[] {
  const counts = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  let before = 0;
  for (let at = 0; at < text.length; at++) {
    const kind = kindAt(text, at);
    if (kind !== SPACE || before !== SPACE) counts[kind] = (counts[kind] ?? 0) + 1;
    before = kind;
  }
  return counts;
}

function countIndent(text: string): number {
  return text.charCodeAt(0) > 32 && text.charCodeAt(0) < 128
    ? 0
    : Math.min(40, text.length - text.trimStart().length);
}

/** The number of buckets for hashed words and word pairs. */
export const BUCKETS = 65_536;

const wordKindAt = createKindLookup([/[a-z_]/, /\d/, /\s/]);
const [DIGIT, GAP] = [2, 3];
/** The maximum number of characters of one token, by kind. Any other sign is a token of its own. */
const LONGEST = [1, 30, 20, 1];
const MAX_WORDS = 40;
const ZERO = 48;
/** The constants of FNV-1a, with different start values for words and for pairs. */
const PRIME = 16_777_619;
const [WORD, PAIR] = [2_166_136_261 ^ 1, 2_166_136_261 ^ 2];
/** The number of the last call that used each bucket. */
const met = new Uint32Array(BUCKETS);
let turn = 0;

/**
 * Returns the buckets of a line's words and word pairs, each once. Any number counts as the word `0`. The
 * first and the last word also form a pair with the end of the line that they are next to.
 */
export function hashToBuckets(text: string): number[] {
  const small = text.slice(0, 300).toLowerCase();
  const buckets: number[] = [];
  const add = (hash: number) => {
    const bucket = (hash ^ (hash >>> 16)) & (BUCKETS - 1);
    if (met[bucket] !== turn) buckets.push(bucket);
    met[bucket] = turn;
  };
  turn = (turn + 1) >>> 0;
  let before = hashOn(PAIR, 'start ');
  for (let at = 0, words = 0; at < small.length && words < MAX_WORDS; ) {
    const kind = wordKindAt(small, at);
    const last = Math.min(small.length, at + (LONGEST[kind] ?? 1));
    let [word, pair, next, end] = [WORD, before, PAIR, at];
    do {
      const code = kind === DIGIT ? ZERO : small.charCodeAt(end);
      if (kind === DIGIT && end > at) continue;
      word = Math.imul(word ^ code, PRIME);
      pair = Math.imul(pair ^ code, PRIME);
      next = Math.imul(next ^ code, PRIME);
    } while (++end < last && wordKindAt(small, end) === kind);
    at = end;
    if (kind === GAP) continue;
    add(word);
    add(pair);
    before = hashOn(next, ' ');
    words++;
  }
  add(hashOn(before, 'end'));
  return buckets;
}

function hashOn(begun: number, text: string): number {
  let hash = begun;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return hash;
}

/**
 * Creates a function that returns the first pattern, counted from 1, that a character of a text matches, or 0
 * if none does.
 */
function createKindLookup(patterns: readonly RegExp[]): (text: string, at: number) => number {
  const findKind = (character: string) => patterns.findIndex((pattern) => pattern.test(character)) + 1;
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => findKind(String.fromCharCode(code)));
  return (text, at) => ascii[text.charCodeAt(at)] ?? findKind(text.charAt(at));
}
