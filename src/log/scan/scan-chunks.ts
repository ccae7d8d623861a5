import { growCapacity } from '../../lib/collections.ts';
import type { LogBytes } from '../lines/bytes.ts';
import { BEGINNING, type Matcher } from './matcher.ts';

/** A part of a log in which every literal has been found. */
export interface ScannedChunk {
  /** The bytes of the chunk; valid until the next chunk is requested. */
  readonly bytes: Buffer;
  /** The offset of its first byte in the log. */
  readonly offset: number;
  /** The line of its first byte, 1-based. */
  readonly firstLine: number;
  /** The offsets in `bytes` of its line feeds, ascending. */
  readonly lineEnds: Uint32Array;
  /**
   * The lines of the chunk that contain a literal of each group, ascending, each once. 0 is the first line.
   */
  readonly hits: readonly (readonly number[])[];
}

/** The number of bytes that are scanned at once. */
const CHUNK = 1 << 20;
/** The number of bytes below which a chunk is scanned in one lane. */
const SMALL = 1 << 14;
const LANES = 4;
const LINE_FEED = 10;

/**
 * Scans a log in one pass. Each table look-up depends on the previous one, so each chunk is cut at line ends
 * into four lanes that are processed in parallel. One lane's look-ups fill the waiting times of the others,
 * which triples the speed. Chunks end at a line end if possible.
 */
export function* scanChunks(log: LogBytes, matcher: Matcher): Generator<ScannedChunk> {
  // Lanes are reused for each chunk. They are the only memory that scanning needs.
  const lanes = Array.from({ length: LANES }, () => new Lane(matcher.groupCount));
  let offset = 0;
  let firstLine = 1;
  let state = 0;
  while (offset < log.size) {
    const bytes = takeWholeLines(log.slice(offset, offset + CHUNK), offset + CHUNK >= log.size);
    // The file was truncated while it is read.
    if (bytes.length === 0) return;
    const used = cutLanes(bytes, lanes, state);
    walk(bytes, used, matcher);
    const chunk = joinLanes(bytes, offset, firstLine, used, matcher.groupCount);
    yield chunk;
    state = used.at(-1)?.state ?? 0;
    offset += bytes.length;
    firstLine += chunk.lineEnds.length;
  }
}

function takeWholeLines(bytes: Buffer, isLast: boolean): Buffer {
  const end = isLast ? -1 : bytes.lastIndexOf(LINE_FEED);
  return end === -1 ? bytes : bytes.subarray(0, end + 1);
}

/** A range of whole lines with its hits. Line numbers are relative to the lane. */
class Lane {
  at = 0;
  end = 0;
  state = 0;
  line = 0;
  lineEnds = new Uint32Array(64);
  readonly hits: number[][];

  constructor(groupCount: number) {
    this.hits = Array.from({ length: groupCount }, () => []);
  }

  begin(start: number, end: number, state: number): void {
    this.at = start;
    this.end = end;
    this.state = state;
    this.line = 0;
    for (const lines of this.hits) lines.length = 0;
  }

  /** Handles an event state. Returns the state to continue with, and moves `at` past an escape. */
  event(bytes: Uint8Array, at: number, reached: number, matcher: Matcher): number {
    this.at = at + 1;
    if (reached === matcher.lineEnd) {
      if (this.line === this.lineEnds.length) this.lineEnds = growCapacity(this.lineEnds);
      this.lineEnds[this.line++] = at;
      return 0;
    }
    if (reached === matcher.escapeStart) {
      this.at = Math.min(this.end, skipEscape(bytes, at, this.end));
      if (matcher.within !== null) this.lookWithin(bytes, at + 1, matcher.within);
      return -1;
    }
    this.note(matcher.groups[reached - matcher.events]);
    return reached;
  }

  /** Adds the hits that begin inside an escape. No shortened literal is longer than BEGINNING. */
  lookWithin(
    bytes: Uint8Array,
    start: number,
    { next, columns, width, events, lineEnd, groups }: Matcher,
  ): void {
    const last = Math.min(this.end, this.at + BEGINNING - 1);
    let state = 0;
    for (let at = start; at < last && state !== lineEnd; at++) {
      state = next[state * width + (columns[bytes[at] ?? 0] ?? 0)] ?? 0;
      if (state >= events) this.note(groups[state - events]);
    }
  }

  note(groups: readonly number[] = []): void {
    for (const group of groups) {
      const lines = this.hits[group];
      if (lines !== undefined && lines[lines.length - 1] !== this.line) lines.push(this.line);
    }
  }
}

/** Splits the bytes into the necessary number of lanes of whole lines. */
function cutLanes(bytes: Uint8Array, lanes: readonly Lane[], state: number): readonly Lane[] {
  const count = bytes.length < SMALL ? 1 : lanes.length;
  let start = 0;
  for (const [index, lane] of lanes.entries()) {
    const near = bytes.indexOf(
      LINE_FEED,
      Math.max(start, Math.floor((bytes.length * (index + 1)) / count) - 1),
    );
    const end = index + 1 === count || near === -1 ? bytes.length : near + 1;
    lane.begin(start, end, index === 0 ? state : 0);
    if (end === bytes.length) return lanes.slice(0, index + 1);
    start = end;
  }
  return lanes;
}

function walk(bytes: Uint8Array, lanes: readonly Lane[], matcher: Matcher): void {
  const [first, second, third, fourth] = lanes;
  if (first !== undefined && second !== undefined && third !== undefined && fourth !== undefined) {
    walkTogether(bytes, first, second, third, fourth, matcher);
  }
  for (const lane of lanes) walkAlone(bytes, lane, matcher);
}

/**
 * Processes all lanes until the shortest one ends. The code is repeated four times, because a loop over lanes
 * would lose the speed.
 */
function walkTogether(bytes: Uint8Array, a: Lane, b: Lane, c: Lane, d: Lane, matcher: Matcher): void {
  const { next, columns, width, events } = matcher;
  let [i, j, k, l] = [a.at, b.at, c.at, d.at];
  let [p, q, r, s] = [a.state, b.state, c.state, d.state];
  const [aEnd, bEnd, cEnd, dEnd] = [a.end, b.end, c.end, d.end];
  while (i < aEnd && j < bEnd && k < cEnd && l < dEnd) {
    const pp = next[p * width + (columns[bytes[i] as number] as number)] as number;
    const qq = next[q * width + (columns[bytes[j] as number] as number)] as number;
    const rr = next[r * width + (columns[bytes[k] as number] as number)] as number;
    const ss = next[s * width + (columns[bytes[l] as number] as number)] as number;
    if (pp < events) {
      p = pp;
      i++;
    } else {
      p = keep(a.event(bytes, i, pp, matcher), p);
      i = a.at;
    }
    if (qq < events) {
      q = qq;
      j++;
    } else {
      q = keep(b.event(bytes, j, qq, matcher), q);
      j = b.at;
    }
    if (rr < events) {
      r = rr;
      k++;
    } else {
      r = keep(c.event(bytes, k, rr, matcher), r);
      k = c.at;
    }
    if (ss < events) {
      s = ss;
      l++;
    } else {
      s = keep(d.event(bytes, l, ss, matcher), s);
      l = d.at;
    }
  }
  [a.at, b.at, c.at, d.at] = [i, j, k, l];
  [a.state, b.state, c.state, d.state] = [p, q, r, s];
}

function walkAlone(bytes: Uint8Array, lane: Lane, matcher: Matcher): void {
  const { next, columns, width, events } = matcher;
  let { at, state } = lane;
  while (at < lane.end) {
    const reached = next[state * width + (columns[bytes[at] as number] as number)] as number;
    if (reached < events) {
      state = reached;
      at++;
    } else {
      state = keep(lane.event(bytes, at, reached, matcher), state);
      at = lane.at;
    }
  }
  lane.at = at;
  lane.state = state;
}

/**
 * Returns the state to continue with. After an escape sequence (-1), that is the state before it, which may
 * be in the middle of a literal.
 */
function keep(state: number, before: number): number {
  return state === -1 ? before : state;
}

function joinLanes(
  bytes: Buffer,
  offset: number,
  firstLine: number,
  lanes: readonly Lane[],
  groupCount: number,
): ScannedChunk {
  const lineEnds = new Uint32Array(lanes.reduce((total, { line }) => total + line, 0));
  const hits: number[][] = Array.from({ length: groupCount }, () => []);
  let before = 0;
  for (const lane of lanes) {
    lineEnds.set(lane.lineEnds.subarray(0, lane.line), before);
    for (const [group, lines] of lane.hits.entries())
      for (const line of lines) hits[group]?.push(before + line);
    before += lane.line;
  }
  return { bytes, offset, firstLine, lineEnds, hits };
}

const BELL = 7;
const ESCAPE = 27;
const BACKSLASH = 92;
/** The maximum length of a terminal title or link. */
const MAX_STRING = 2_000;

/**
 * Returns the offset after the terminal control sequence that begins at `start` with its escape byte, at most
 * `end`. Recognizes OSC and APC strings, CSI sequences, character sets and single escapes, as {@link
 * stripEscapes} does.
 */
export function skipEscape(bytes: Uint8Array, start: number, end: number): number {
  const kind = bytes[start + 1] ?? 0;
  if (start + 1 >= end) return end;
  if (kind === 0x5d || kind === 0x5f) return skipString(bytes, start + 2, end);
  if (kind === 0x5b) return skipControl(bytes, start + 2, end) ?? start + 1;
  if (kind === 0x28 || kind === 0x29) return isIn(bytes[start + 2], 0x30, 0x42) ? start + 3 : start + 1;
  return '=>78cDEHMNOZ'.includes(String.fromCharCode(kind)) ? start + 2 : start + 1;
}

function skipString(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, start + MAX_STRING);
  let at = start;
  while (at < last && bytes[at] !== BELL && bytes[at] !== ESCAPE && bytes[at] !== LINE_FEED) at++;
  if (bytes[at] === BELL) return at + 1;
  return bytes[at] === ESCAPE && bytes[at + 1] === BACKSLASH ? at + 2 : at;
}

function skipControl(bytes: Uint8Array, start: number, end: number): number | null {
  let at = start;
  while (at < end && at < start + 60 && isIn(bytes[at], 0x30, 0x3f)) at++;
  for (let spaces = 0; at < end && spaces < 10 && isIn(bytes[at], 0x20, 0x2f); spaces++) at++;
  return at < end && isIn(bytes[at], 0x40, 0x7e) ? at + 1 : null;
}

function isIn(byte: number | undefined, low: number, high: number): boolean {
  return byte !== undefined && byte >= low && byte <= high;
}
