/**
 * A finite automaton over bytes that finds many literals at once (Aho and Corasick, 1975), ignoring the case
 * of ASCII letters. States from `events` on are events, so that one comparison for each byte shows whether a
 * literal or line ended or a terminal escape begins.
 */
export interface Matcher {
  /** The column of each byte. */
  readonly columns: Uint8Array;
  /** The number of columns, which is the number of states in a row of `next`. */
  readonly width: number;
  readonly next: Uint16Array;
  /** The number of the first state that is an event. */
  readonly events: number;
  readonly lineEnd: number;
  readonly escapeStart: number;
  /** The groups whose literals end in a state. Index 0 is the state `events`. */
  readonly groups: readonly (readonly number[])[];
  readonly groupCount: number;
  /**
   * The matcher for literals that count inside terminal escapes, too. It treats escapes as text. Null if
   * there are none.
   */
  readonly within: Matcher | null;
}

/** The number of characters of a literal that {@link shortenLiterals} keeps. */
export const BEGINNING = 10;
const ROOT = 0;
const MAX_STATES = 65_000;
const LINE_FEED = 10;
const ESCAPE = 27;

/** A row of next states for each state, and the groups that end in each state. */
type Trie = ReturnType<typeof growTrie>;

/**
 * Shortens the literals of one group to their beginnings, in lower case, and drops those that contain another
 * one. Lines with the whole literal are still found, hardly any others are, and the smaller table stays in
 * the processor's caches.
 */
export function shortenLiterals(literals: readonly string[]): readonly string[] {
  const beginnings = [
    ...new Set(literals.map((literal) => [...literal.toLowerCase()].slice(0, BEGINNING).join(''))),
  ];
  return beginnings.filter(
    (beginning) => !beginnings.some((other) => other !== beginning && beginning.includes(other)),
  );
}

/**
 * Builds the matcher of groups of literals, which are numbered by their index. A literal that is interrupted
 * by terminal escapes is found. A literal inside an escape is found only for groups from `textFrom` on,
 * because an escape may contain a secret. Throws RangeError above 65,000 states.
 */
export function buildMatcher(
  groups: readonly (readonly string[])[],
  textFrom: number = groups.length,
): Matcher {
  const isText = groups.map((_, group) => group >= textFrom);
  const within = isText.includes(true) ? build(groups, isText, null) : null;
  return build(groups, null, within);
}

/**
 * Finds the groups that have a literal in a short text. Escapes are treated as bytes that no literal
 * contains.
 */
export function findGroups(text: string, { next, columns, width, events, groups }: Matcher): Set<number> {
  const found = new Set<number>();
  let state = ROOT;
  for (const byte of Buffer.from(text)) {
    state = next[state * width + (columns[byte] ?? 0)] ?? ROOT;
    if (state >= events) for (const group of groups[state - events] ?? []) found.add(group);
  }
  return found;
}

/**
 * Builds a matcher of the wanted groups that treats escapes as text, or, if `wanted` is null, a matcher of
 * all groups that skips escapes.
 */
function build(
  groups: readonly (readonly string[])[],
  wanted: readonly boolean[] | null,
  within: Matcher | null,
): Matcher {
  const literals = groups.flatMap((list, group) =>
    wanted?.[group] === false
      ? []
      : list.map((literal) => ({ bytes: Buffer.from(literal.toLowerCase()), group })),
  );
  const { columns, width } = assignColumns(literals.map(({ bytes }) => bytes));
  const trie = growTrie(literals, columns, width);
  const order = linkFailures(trie, width);
  return numberStates(trie, order, { columns, width, groupCount: groups.length, within }, wanted !== null);
}

/**
 * Assigns a column to each byte. All bytes that no literal contains share column 0. Line feed and escape have
 * their own columns.
 */
function assignColumns(literals: readonly Buffer[]): { columns: Uint8Array; width: number } {
  const columns = new Uint8Array(256);
  columns[LINE_FEED] = 1;
  columns[ESCAPE] = 2;
  let used = 2;
  for (const byte of new Set(literals.flatMap((literal) => [...literal]))) {
    if (columns[byte] !== 0) continue;
    columns[byte] = ++used;
    if (byte >= 97 && byte <= 122) columns[byte - 32] = used;
  }
  return { columns, width: used + 1 };
}

function growTrie(literals: readonly { bytes: Buffer; group: number }[], columns: Uint8Array, width: number) {
  const rows = [new Uint16Array(width)];
  const ends: Set<number>[] = [new Set()];
  for (const { bytes, group } of literals) {
    let state = ROOT;
    for (const byte of bytes) {
      const row = rows[state];
      const column = columns[byte] ?? 0;
      if (row === undefined) break;
      if (row[column] === 0) {
        if (rows.length >= MAX_STATES)
          throw new RangeError(`The literals need more than ${MAX_STATES} states.`);
        row[column] = rows.length;
        rows.push(new Uint16Array(width));
        ends.push(new Set());
      }
      state = row[column] ?? ROOT;
    }
    ends[state]?.add(group);
  }
  return { rows, ends };
}

/** Completes the trie to an automaton in place. Returns its states in breadth-first order. */
function linkFailures({ rows, ends }: Trie, width: number): number[] {
  const failure = new Uint16Array(rows.length);
  const order = [ROOT];
  for (let head = 0; head < order.length; head++) {
    const state = order[head] ?? ROOT;
    const row = rows[state];
    const fallback = rows[failure[state] ?? ROOT];
    if (row === undefined || fallback === undefined) continue;
    for (const group of ends[failure[state] ?? ROOT] ?? []) ends[state]?.add(group);
    for (let column = 0; column < width; column++) {
      const child = row[column] ?? 0;
      if (child === 0) row[column] = state === ROOT ? ROOT : (fallback[column] ?? ROOT);
      else {
        failure[child] = state === ROOT ? ROOT : (fallback[column] ?? ROOT);
        order.push(child);
      }
    }
  }
  return order;
}

/**
 * Renumbers the states: those that are no events first, in breadth-first order, so that the most frequent
 * rows are close together.
 */
function numberStates(
  { rows, ends }: Trie,
  order: readonly number[],
  table: Pick<Matcher, 'columns' | 'width' | 'groupCount' | 'within'>,
  escapesAreText: boolean,
): Matcher {
  const { width } = table;
  const quiet = order.filter((state) => ends[state]?.size === 0);
  const ending = order.filter((state) => (ends[state]?.size ?? 0) > 0);
  const lineEnd = order.length;
  const escapeStart = order.length + 1;
  const numbers = new Uint16Array(order.length);
  for (const [number, state] of [...quiet, ...ending].entries()) numbers[state] = number;
  const next = new Uint16Array((order.length + 2) * width);
  for (const state of order) {
    const base = (numbers[state] ?? ROOT) * width;
    for (const [column, target] of (rows[state] ?? new Uint16Array()).entries())
      next[base + column] = numbers[target] ?? ROOT;
    next[base + 1] = lineEnd;
    if (!escapesAreText) next[base + 2] = escapeStart;
  }
  // After a line end or an escape, matching starts again from the root.
  for (const state of [lineEnd, escapeStart]) next.copyWithin(state * width, ROOT, width);
  const groups = ending.map((state) => [...(ends[state] ?? [])]);
  return { ...table, next, events: quiet.length, lineEnd, escapeStart, groups };
}
