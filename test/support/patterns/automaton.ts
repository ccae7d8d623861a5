import { type AST, RegExpParser } from '@eslint-community/regexpp';
import type { Alphabet, CharSet } from './alphabet.ts';

/** A state of the automaton after reading a character. */
export interface Position {
  /** The set of characters with which this state is entered. */
  readonly set: CharSet;
  /** The outermost repeat that contains it. Null if there is none. */
  readonly loop: Loop | null;
  /** The next states, and the number of ways to each (2 stands for several). */
  readonly next: ReadonlyMap<number, number>;
  /** True if the pattern has matched once in this state, whatever follows. */
  readonly accepts: boolean;
}

/** A repeat. Its content is treated as if it could repeat without end. */
export interface Loop {
  readonly text: string;
  /** The maximum number of characters that it can read. */
  readonly length: number;
}

/** The error for a pattern that cannot be judged. The message says why. */
export class UnprovenError extends Error {}

/** An edge that reads no character, and the conditions for taking it. */
interface Free {
  readonly to: number;
  readonly only?: Condition;
}
type Condition =
  | { readonly kind: 'start' | 'unsure' }
  /** Begins or ends a round of a repeat. `empty` is true if a round that reads nothing counts. */
  | { readonly kind: 'enter'; readonly round: number }
  | { readonly kind: 'leave'; readonly round: number; readonly empty: boolean }
  | { readonly kind: 'word'; readonly negate: boolean }
  | { readonly kind: 'before' | 'after'; readonly set: CharSet };

interface State {
  readonly free: Free[];
  reads: { readonly set: CharSet; readonly loop: Loop | null; readonly to: number } | null;
}

/**
 * The maximum length of a text that a lookbehind may read. Each character is a step or more in every attempt.
 */
const MAX_BEHIND = 64;
/** The maximum number of required rounds of a repeat that are written out. */
const MAX_FIRST_ROUNDS = 10;
/**
 * The maximum number of ways without a character that are followed from one state. With more, they count as
 * several.
 */
const MAX_WAYS = 200_000;

/**
 * Creates the automaton of all attempts to match `source` anywhere in a text: every way that a backtracking
 * engine can take is a path from position 0, the beginning. Repeats of up to `unroll` rounds are written out, longer ones go round without end, so there are more paths than true ways, never fewer.
 * Edges, word ends and single characters looked at ahead and behind are kept exactly; longer ones looked ahead are tried and dropped; a back
 * reference is any text of its group's length. Throws {@link UnprovenError}.
 */
export function createAutomaton(
  source: string,
  flags: string,
  alphabet: Alphabet,
  unroll: number,
): readonly Position[] {
  const mode = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') };
  const pattern = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, 0, source.length, mode);
  const builder = createBuilder(flags, alphabet, unroll);
  const start = builder.state();
  const end = builder.state();
  builder.either(pattern.alternatives, start, end, null);
  if (!flags.includes('y')) builder.startAnywhere(start);
  return createPositions(builder.states, [start, end], builder.tellingSets(), alphabet, flags);
}

function createBuilder(flags: string, alphabet: Alphabet, unroll: number) {
  const states: State[] = [];
  const telling = new Set<CharSet>();
  const lineEnds = alphabet.setOfSource('[\\n\\r\\u2028\\u2029]', '');
  const state = () => states.push({ free: [], reads: null }) - 1;
  const free = (from: number, to: number, only?: Condition) => {
    if (only !== undefined && 'set' in only) telling.add(only.set);
    states[from]?.free.push(only === undefined ? { to } : { to, only });
  };
  const reads = (from: number, set: CharSet, loop: Loop | null, to: number) => {
    const own = state();
    free(from, own);
    const at = states[own];
    if (at !== undefined) at.reads = { set, loop, to };
  };

  function addAlternatives(
    alternatives: readonly AST.Alternative[],
    from: number,
    to: number,
    loop: Loop | null,
  ): void {
    for (const { elements } of alternatives) {
      let at = from;
      for (const [index, element] of elements.entries()) {
        const after = index === elements.length - 1 ? to : state();
        addElement(element, at, after, loop);
        at = after;
      }
      if (elements.length === 0) free(from, to);
    }
  }

  function addElement(node: AST.Element, from: number, to: number, loop: Loop | null): void {
    if (node.type === 'Group' || node.type === 'CapturingGroup')
      addAlternatives(node.alternatives, from, to, loop);
    else if (node.type === 'Quantifier') repeat(node, from, to, loop);
    else if (node.type === 'Assertion') addCondition(node, from, to);
    else if (node.type === 'Backreference') addBackreference(node, from, to, loop);
    else reads(from, alphabet.toCharSet(node, flags), loop, to);
  }

  function repeat(node: AST.Quantifier, from: number, to: number, loop: Loop | null): void {
    if (node.max > unroll) {
      quoteAround(node, from, to, loop ?? { text: node.raw, length: computeLongest(node) });
      return;
    }
    let at = from;
    for (let round = 1; round <= node.max; round++) {
      if (round > node.min) free(at, to);
      const after = state();
      addElement(node.element, at, after, loop);
      at = after;
    }
    free(at, to);
  }

  /**
   * Writes out the required rounds if they are few. Otherwise it is unknown from which round on the repeat
   * may end.
   */
  function quoteAround(node: AST.Quantifier, from: number, to: number, loop: Loop): void {
    const written = node.min <= MAX_FIRST_ROUNDS ? Math.max(node.min - 1, 0) : 0;
    let at = from;
    for (let round = 0; round < written; round++) {
      const after = state();
      addElement(node.element, at, after, loop);
      at = after;
    }
    const first = state();
    const last = state();
    const again = state();
    const out = state();
    free(at, first, { kind: 'enter', round: first });
    addElement(node.element, first, last, loop);
    free(last, again, { kind: 'leave', round: first, empty: false });
    free(again, first, { kind: 'enter', round: first });
    free(last, out, { kind: 'leave', round: first, empty: node.min > 0 });
    free(out, to, ...(node.min > MAX_FIRST_ROUNDS ? [{ kind: 'unsure' } as const] : []));
    if (node.min === 0) free(from, to);
  }

  function addCondition(node: AST.Assertion, from: number, to: number): void {
    if ('alternatives' in node) look(node, from, to);
    else if (node.kind === 'word') free(from, to, { kind: 'word', negate: node.negate });
    else if (node.kind === 'end') free(from, to, { kind: 'unsure' });
    else {
      free(from, to, { kind: 'start' });
      if (flags.includes('m')) free(from, to, { kind: 'before', set: lineEnds });
    }
  }

  function look(
    { kind, negate, alternatives, raw }: AST.LookaroundAssertion,
    from: number,
    to: number,
  ): void {
    const set = findSingle(alternatives, flags, alphabet);
    if (set !== null) {
      free(from, to, {
        kind: kind === 'lookahead' ? 'after' : 'before',
        set: negate ? alphabet.all & ~set : set,
      });
      return;
    }
    if (kind === 'lookahead') addAlternatives(alternatives, from, state(), null);
    else if (computeLongestAlternative(alternatives) > MAX_BEHIND)
      throw new UnprovenError(`looks behind at more than ${MAX_BEHIND} characters: ${raw}`);
    free(from, to, { kind: 'unsure' });
  }

  function addBackreference(node: AST.Backreference, from: number, to: number, loop: Loop | null): void {
    const length = computeLongest(node);
    const first = state();
    free(from, first);
    reads(
      first,
      alphabet.all,
      length <= 1 ? loop : (loop ?? { text: node.raw, length }),
      length <= 1 ? to : first,
    );
    free(first, to, { kind: 'unsure' });
  }

  function startAnywhere(start: number): void {
    const skip = state();
    const skipped = state();
    free(start, skip, { kind: 'start' });
    reads(skip, alphabet.all, { text: 'any start', length: Number.POSITIVE_INFINITY }, skipped);
    free(skipped, skip);
    free(skipped, start);
  }

  return { states, state, either: addAlternatives, startAnywhere, tellingSets: () => [...telling] };
}

/** Returns the set of a lookaround of one character. Returns null for longer ones. */
function findSingle(
  alternatives: readonly AST.Alternative[],
  flags: string,
  alphabet: Alphabet,
): CharSet | null {
  let set = 0n;
  for (const { elements } of alternatives) {
    const [node] = elements;
    if (elements.length !== 1 || node === undefined) return null;
    if (node.type !== 'Character' && node.type !== 'CharacterSet' && node.type !== 'CharacterClass')
      return null;
    set |= alphabet.toCharSet(node, flags);
  }
  return set;
}

/** Returns the maximum number of characters that a node can read. */
function computeLongest(node: AST.Element): number {
  if (node.type === 'Quantifier') return node.max === 0 ? 0 : node.max * computeLongest(node.element);
  if (node.type === 'Group' || node.type === 'CapturingGroup')
    return computeLongestAlternative(node.alternatives);
  if (node.type === 'Backreference')
    return [node.resolved].flat().reduce((most, group) => Math.max(most, computeLongest(group)), 0);
  return node.type === 'Assertion' ? 0 : 1;
}

function computeLongestAlternative(alternatives: readonly AST.Alternative[]): number {
  return Math.max(
    ...alternatives.map(({ elements }) =>
      elements.reduce((sum, element) => sum + computeLongest(element), 0),
    ),
  );
}

/**
 * Returns the beginning of the text, followed by the states that read a character. Each state is split so
 * that a condition holds for all of its characters or for none.
 */
function createPositions(
  states: readonly State[],
  [start, end]: readonly [number, number],
  telling: readonly CharSet[],
  alphabet: Alphabet,
  flags: string,
): Position[] {
  const word = alphabet.setOfSource('\\w', flags.replace(/[gymd]/g, ''));
  const splits = [
    ...telling,
    ...(states.some(({ free }) => free.some(({ only }) => only?.kind === 'word')) ? [word] : []),
  ];
  const parts = new Map<number, number[]>();
  const places: { at: number; set: CharSet; loop: Loop | null }[] = [{ at: start, set: 0n, loop: null }];
  for (const [index, { reads }] of states.entries()) {
    if (reads === null) continue;
    const sets = splits.reduce<CharSet[]>(
      (kept, split) => kept.flatMap((set) => [set & split, set & ~split]),
      [reads.set],
    );
    const own = sets
      .filter((set) => set !== 0n)
      .map((set) => places.push({ at: reads.to, set, loop: reads.loop }) - 1);
    parts.set(index, own);
  }
  return places.map(({ at, set, loop }, index) => {
    const next = new Map<number, number>();
    const ways = listWaysFrom(states, at, end, (only) => holdsBefore(only, index === 0, set));
    for (const [reader, met] of ways) {
      for (const to of parts.get(reader) ?? []) {
        const open = met.filter((later) =>
          later.every((only) => holdsAfter(only, set, places[to]?.set ?? 0n, word)),
        ).length;
        if (open > 0) next.set(to, open);
      }
    }
    return { set, loop, next, accepts: ways.get(end)?.some((later) => later.length === 0) ?? false };
  });
}

/**
 * Returns each way without a character from a state to one that reads, as the conditions on the next
 * character.
 */
function listWaysFrom(
  states: readonly State[],
  from: number,
  end: number,
  holds: (only: Condition) => boolean,
): Map<number, Condition[][]> {
  const found = new Map<number, Condition[][]>();
  let left = MAX_WAYS;
  // As in JavaScript, a repeat ends after a round that read nothing, so no way is endless.
  const walk = (at: number, later: readonly Condition[], rounds: readonly number[]) => {
    if (left-- < 0) throw new UnprovenError('too many ways without a character');
    const state = states[at];
    if (state?.reads || at === end) {
      const ways = found.get(at) ?? [];
      // A third way adds nothing to a second, unless the first two have conditions.
      if (ways.filter((way) => way.length === 0).length < 2) ways.push([...later]);
      found.set(at, ways);
    }
    for (const { to, only } of state?.free ?? []) {
      if (only === undefined) walk(to, later, rounds);
      else if (only.kind === 'enter') walk(to, later, [...rounds, only.round]);
      else if (only.kind === 'leave') {
        if (only.empty || !rounds.includes(only.round)) walk(to, later, rounds);
      } else if (only.kind === 'start' || only.kind === 'before') {
        if (holds(only)) walk(to, later, rounds);
      } else walk(to, [...later, only], rounds);
    }
  };
  walk(from, [], []);
  return found;
}

/**
 * Checks a condition at the beginning of a text. There is no previous character, so conditions on it fail; in
 * doubt, the beginning passes, because a negated set may have been inverted.
 */
function holdsBefore(only: Condition, atStart: boolean, set: CharSet): boolean {
  return atStart || (only.kind === 'before' && (set & only.set) !== 0n);
}

function holdsAfter(only: Condition, before: CharSet, after: CharSet, word: CharSet): boolean {
  if (only.kind === 'after') return (after & only.set) !== 0n;
  if (only.kind === 'word') return (((before & word) !== 0n) !== ((after & word) !== 0n)) !== only.negate;
  return true;
}
