import { findFirstPlace } from '../../lib/collections.ts';
import { type LogBytes, wrapBytes } from '../lines/bytes.ts';
import { buildMatcher, type Matcher, shortenLiterals } from '../scan/matcher.ts';
import { type ScannedChunk, scanChunks } from '../scan/scan-chunks.ts';
import { findAssigned, findBelow, opensBlock } from './assigned.ts';
import { canHideEverywhere, DECLARED, findDeclared } from './declared.ts';
import { MAX_SECRETS } from './known.ts';
import { findShapes, SHAPES } from './shapes.ts';
import { isDistinctive, mergeSpans, type Span, SpanList } from './span.ts';
import { findKeyBlock, findWrapped, KEY_BLOCK_LITERALS, TOKEN_SHAPES } from './tokens.ts';

/** Another reader of the same log, for which the same pass searches its literals. */
export interface FellowReader {
  /**
   * The literals to search for, as {@link shortenLiterals} returns them. Must be the same array for each log,
   * because its matcher is built only once.
   */
  readonly groups: readonly (readonly string[])[];
  /** Receives each chunk in order. The hits of a chunk begin with those of `groups`. */
  readonly add: (chunk: ScannedChunk) => void;
}

/**
 * The number of bytes of a long line that are searched at once, and the number of bytes after them that a
 * secret beginning in them may reach.
 */
export const PIECE = 80 * 1024;
export const BEYOND = 32 * 1024;
/** The maximum length of a secret that is also hidden elsewhere. A longer value is a whole file. */
const MAX_SPREAD = 4_096;
const LINE_FEED = 10;
/** The maximum number of bytes that can be read from the log while a chunk is in use. */
const SHORT = 1 << 14;

const GROUPS = [...SHAPES.map(({ literals }) => literals), KEY_BLOCK_LITERALS].map(shortenLiterals);
const KEY_BLOCKS = 1 << SHAPES.length;
const TOKENS = SHAPES.reduce(
  (bits, shape, at) => (TOKEN_SHAPES.includes(shape) ? bits | (1 << at) : bits),
  0,
);
const ASSIGNED = SHAPES.reduce((bits, { find }, at) => (find === findAssigned ? bits | (1 << at) : bits), 0);
const DECLARES = 1 << SHAPES.indexOf(DECLARED);
const NO_GROUPS: readonly (readonly string[])[] = [];
const matchers = new WeakMap<readonly (readonly string[])[], Matcher>();

/**
 * Finds the secrets in a log in one pass, which also finds the lines for a fellow reader. Returns the places
 * in bytes of the log, and the distinctive secrets that must be hidden everywhere, each once and in order, up
 * to a limit. Only lines that contain a literal of a shape are searched. A line longer than 80 KB is searched
 * in parts.
 */
export function findSecrets(
  log: LogBytes,
  fellow: FellowReader = { groups: NO_GROUPS, add: () => undefined },
) {
  const found = { spans: new SpanList(), secrets: new Set<string>() };
  let open = { from: 0, groups: 0 };
  let carried: Span[] = [];
  for (const chunk of scanChunks(log, createMatcherWith(fellow.groups))) {
    fellow.add(chunk);
    const end = chunk.offset + chunk.bytes.length;
    const candidates = mapCandidatesIn(chunk, fellow.groups.length, open.groups);
    const last = chunk.lineEnds.at(-1);
    const nextFrom = last === undefined ? open.from : chunk.offset + last + 1;
    const goesOn = end < log.size && nextFrom < end ? (candidates.get(chunk.lineEnds.length) ?? 0) : 0;
    if (goesOn !== 0) candidates.delete(chunk.lineEnds.length);
    const spans = mergeSpans([...carried, ...findInChunk(chunk, log, open.from, candidates, found.secrets)]);
    open = { from: nextFrom, groups: goesOn };
    // A secret that goes on after the chunk may be found there again.
    carried = spans.filter(({ to }) => to > end);
    keep(log, spans.slice(0, spans.length - carried.length), found);
  }
  keep(log, carried, found);
  return found;
}

function createMatcherWith(groups: readonly (readonly string[])[]): Matcher {
  const known = matchers.get(groups);
  if (known !== undefined) return known;
  const matcher = buildMatcher([...groups, ...GROUPS], groups.length);
  matchers.set(groups, matcher);
  return matcher;
}

function keep(
  log: LogBytes,
  spans: readonly Span[],
  { spans: all, secrets }: { spans: SpanList; secrets: Set<string> },
): void {
  for (const { from, to } of spans) {
    all.add(from, to);
    if (secrets.size >= MAX_SECRETS || to - from >= SHORT) continue;
    const secret = log.text(from, to);
    if (secret.length <= MAX_SPREAD && isDistinctive(secret)) secrets.add(secret);
  }
}

/** Maps each line of a chunk to bits, one for each group of which the line contains a literal. */
function mapCandidatesIn({ hits }: ScannedChunk, ours: number, open: number): Map<number, number> {
  const bits = new Map<number, number>(open === 0 ? [] : [[0, open]]);
  for (const [group, lines] of hits.slice(ours).entries())
    for (const line of lines) bits.set(line, (bits.get(line) ?? 0) | (1 << group));
  return bits;
}

/** A line, or a part of a long one, with its position in the log. */
interface Line {
  readonly text: string;
  readonly bytes: Buffer;
  readonly from: number;
}

type NextLine = (after: number) => Line | null;

function findInChunk(
  chunk: ScannedChunk,
  log: LogBytes,
  openFrom: number,
  candidates: ReadonlyMap<number, number>,
  secrets: Set<string>,
): readonly Span[] {
  if (candidates.size === 0) return [];
  const search = new Search(secrets);
  const lineOf = createLineReader(chunk, log);
  const long: { from: number; to: number; next: Line | null }[] = [];
  for (const [number, groups] of candidates) {
    const from = number === 0 ? openFrom : chunk.offset + (chunk.lineEnds[number - 1] ?? 0) + 1;
    const to = chunk.offset + (chunk.lineEnds[number] ?? chunk.bytes.length);
    if (to - from > PIECE) long.push({ from, to, next: lineOf(number + 1) });
    else {
      const line = lineOf(number);
      if (line !== null) search.look(line, groups, (after) => lineOf(number + after));
    }
  }
  // Long lines come last, because reading more of the log invalidates the chunk's bytes.
  for (const { from, to, next } of long) {
    const copy = next === null ? null : { ...next, bytes: Buffer.from(next.bytes) };
    for (const { line, groups, isLast } of splitLongLine(log, from, to))
      search.look(line, groups, (after) => (isLast && after === 1 ? copy : null));
  }
  return search.spans;
}

/** Collects the secrets that are found in lines. */
class Search {
  readonly spans: Span[] = [];
  readonly #secrets: Set<string>;

  /** Creates an empty collection. Values that lines declare secret are added to `secrets`. */
  constructor(secrets: Set<string>) {
    this.#secrets = secrets;
  }

  look(line: Line, groups: number, next: NextLine): void {
    this.#add(line, findShapes(line.text, groups));
    if ((groups & DECLARES) !== 0) this.#declare(line.text);
    if ((groups & KEY_BLOCKS) !== 0) {
      for (const found of findKeyBlock(line.text, (after) => next(after)?.text ?? null))
        this.#add(found.line === 0 ? line : next(found.line), found.spans);
    }
    const opens = (groups & ASSIGNED) !== 0 && opensBlock(line.text);
    const after = opens || (groups & TOKENS) !== 0 ? next(1) : null;
    if (after === null) return;
    if (opens) this.#add(after, findBelow(line.text, after.text));
    if ((groups & TOKENS) === 0) return;
    const { here, there } = findWrapped(line.text, after.text);
    this.#add(line, here);
    this.#add(after, there);
  }

  #declare(text: string): void {
    for (const { from, to } of findDeclared(text)) {
      const value = text.slice(from, to);
      if (this.#secrets.size < MAX_SECRETS && value.length <= MAX_SPREAD && canHideEverywhere(value))
        this.#secrets.add(value);
    }
  }

  #add(line: Line | null, spans: readonly Span[]): void {
    if (line === null) return;
    const isSame = line.text.length === line.bytes.length;
    const place = (character: number) => line.from + (isSame ? character : findByteAt(line.bytes, character));
    for (const { from, to } of spans) this.spans.push({ from: place(from), to: place(to) });
  }
}

/**
 * Returns the offset of a character of a text in its bytes, which need not be valid UTF-8: the end of the
 * longest prefix that has no more characters.
 */
function findByteAt(bytes: Buffer, character: number): number {
  return Math.max(
    0,
    findFirstPlace(bytes.length + 1, (place) => bytes.toString('utf8', 0, place).length <= character) - 1,
  );
}

/**
 * Creates a function that reads the lines of a chunk by their number in it, including lines that begin within
 * 32 KB after it.
 */
function createLineReader(
  { bytes, offset, lineEnds }: ScannedChunk,
  log: LogBytes,
): (number: number) => Line | null {
  const lineIn = (all: Buffer, at: number, from: number, to: number): Line => {
    const line = all.subarray(from, to);
    return { text: line.toString('utf8'), bytes: line, from: at + from };
  };
  const isWhole = lineEnds.at(-1) === bytes.length - 1;
  const inside = isWhole ? lineEnds.length : lineEnds.length + 1;
  const end = offset + bytes.length;
  let tail: Buffer | undefined;
  const starts = [0];
  return (number) => {
    if (number < inside)
      return lineIn(
        bytes,
        offset,
        number === 0 ? 0 : (lineEnds[number - 1] ?? 0) + 1,
        lineEnds[number] ?? bytes.length,
      );
    if (!isWhole || end >= log.size) return null;
    tail ??= Buffer.concat([Buffer.from(log.slice(end, end + SHORT)), log.slice(end + SHORT, end + BEYOND)]);
    for (let known = starts.length - 1; known <= number - inside; known++) {
      const feed = tail.indexOf(LINE_FEED, starts[known]);
      starts.push(feed === -1 ? tail.length + 1 : feed + 1);
    }
    const from = starts[number - inside] ?? 0;
    return from >= tail.length ? null : lineIn(tail, end, from, (starts[number - inside + 1] ?? 1) - 1);
  };
}

/** Splits a long line into parts, each with the groups whose literals it contains. */
function* splitLongLine(
  log: LogBytes,
  from: number,
  to: number,
): Generator<{ line: Line; groups: number; isLast: boolean }> {
  for (let start = from; start < to; ) {
    const bytes = log.slice(start, Math.min(to, start + PIECE + BEYOND));
    if (bytes.length === 0) return;
    const end = bytes.length <= PIECE ? bytes.length : findPieceEnd(bytes);
    let groups = 0;
    for (const chunk of scanChunks(wrapBytes(bytes), createMatcherWith(NO_GROUPS)))
      groups |= mapCandidatesIn(chunk, 0, 0).get(0) ?? 0;
    start += end;
    if (groups !== 0)
      yield { line: { text: bytes.toString('utf8'), bytes, from: start - end }, groups, isLast: start >= to };
  }
}

/**
 * Returns the last position at or before `end` that is not inside a UTF-8 character. Returns `end` itself if
 * there is none.
 */
export function findCharacterEnd(bytes: Uint8Array, end: number): number {
  for (let at = end; at > end - 4; at--) if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at;
  return end;
}

/**
 * Returns where a piece of more than {@link PIECE} bytes ends: after its last line end or, in a longer line,
 * before a character that no token contains.
 */
export function findPieceEnd(wide: Buffer): number {
  const line = wide.lastIndexOf(LINE_FEED, PIECE - 1);
  if (line !== -1) return line + 1;
  const space = wide.lastIndexOf(32, PIECE - 1);
  if (space > PIECE - BEYOND) return space + 1;
  return findCharacterEnd(wide, PIECE);
}
