import type { Position } from './automaton.ts';

/** The number of ways that can be open at once, whatever the text. */
export interface Verdict {
  /**
   * An upper bound, up to a factor of the pattern's size. It is infinite if the ways double with every round.
   */
  readonly ways: number;
  /**
   * The repeats that can divide one text among them, with their lengths. For an exponential pattern, the
   * repeat that can divide it alone.
   */
  readonly chain: readonly string[];
}

/** A strongly connected part of the automaton: a repeat with all repeats in it. */
interface Part {
  readonly members: readonly number[];
  readonly length: number;
  readonly text: string;
}

/** A later repeat that can divide a text with an earlier one, again after every `apart` characters. */
interface Shared {
  readonly to: number;
  readonly apart: number;
}

/**
 * The maximum number of steps of the exact test of a pair of repeats. After that, the test counts as
 * positive.
 */
const MAX_WORK = 400_000;
/** The maximum distance in characters between two arrivals that is searched for. */
const MAX_APART = 60;

/**
 * Bounds the number of ways by Weber and Seidl's criteria for the ambiguity of finite automata, weighted by how
 * long each repeat can be. Ways grow exponentially only if one
 * word leads from a position back to itself on two paths. Otherwise they multiply only along repeats A, B of which one word leads from A to A, from
 * A to B and from B to B: of a text of such words, A and B divide the characters, in at most as many ways as the shorter is long.
 * `longestText` represents the length of a repeat without end.
 */
export function findLiveWays(all: readonly Position[], longestText: number): Verdict {
  const positions = withoutMatched(all);
  const parts = splitParts(positions, longestText);
  const doubling = parts.find(({ members }) => readsTwice(positions, members));
  if (doubling !== undefined) return { ways: Number.POSITIVE_INFINITY, chain: [doubling.text] };
  const reach = parts.map(({ members }) => forward(positions, members));
  const after = parts.map((_, from) =>
    parts.flatMap((part, to) => (to !== from && reach[from]?.has(part.members[0] ?? -1) ? [to] : [])),
  );
  const shared = parts.map((part, from) =>
    (after[from] ?? []).flatMap((to) => {
      const members = parts[to]?.members ?? [];
      const among = reach[from] ?? new Set();
      return divides(positions, part.members, members, among)
        ? [{ to, apart: computeDistance(positions, part.members, members, among) }]
        : [];
    }),
  );
  return findWorstChain(parts, after, shared);
}

/**
 * Removes the states in which a match is certain whatever follows. From there, nothing is tried twice,
 * because the attempt succeeds and the next one begins at its end.
 */
function withoutMatched(positions: readonly Position[]): Position[] {
  const sure = new Set(positions.flatMap(({ accepts }, at) => (accepts ? [at] : [])));
  for (let before = -1; before !== sure.size; ) {
    before = sure.size;
    for (const at of sure)
      if ([...(positions[at]?.next.keys() ?? [])].some((to) => !sure.has(to))) sure.delete(at);
  }
  return positions.map((position) => ({
    ...position,
    next: new Map([...position.next].filter(([to]) => !sure.has(to))),
  }));
}

function findWorstChain(
  parts: readonly Part[],
  after: readonly number[][],
  shared: readonly (readonly Shared[])[],
): Verdict {
  const known = new Map<string, Verdict>();
  // `most` is the longest repeat so far among those that divide the current text.
  const from = (at: number, most: number): Verdict => {
    const key = `${at} ${most}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    let worst: Verdict = { ways: 1, chain: [] };
    for (const { to, apart } of shared[at] ?? []) {
      const next = parts[to];
      if (next === undefined) continue;
      const rest = from(to, Math.max(most, next.length));
      const ways = Math.ceil(Math.min(most, next.length) / apart) * rest.ways;
      if (ways > worst.ways) worst = { ways, chain: [next.text, ...rest.chain] };
    }
    for (const to of after[at] ?? []) {
      const rest = begin(to);
      if (rest.ways > worst.ways) worst = rest;
    }
    known.set(key, worst);
    return worst;
  };
  const begin = (at: number): Verdict => {
    const rest = from(at, parts[at]?.length ?? 1);
    return { ways: rest.ways, chain: rest.chain.length === 0 ? [] : [parts[at]?.text ?? '', ...rest.chain] };
  };
  return parts
    .map((_, at) => begin(at))
    .reduce((worst, verdict) => (verdict.ways > worst.ways ? verdict : worst), { ways: 1, chain: [] });
}

/** Returns Tarjan's components that contain a cycle. */
function splitParts(positions: readonly Position[], longestText: number): Part[] {
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const stack: number[] = [];
  const open = new Set<number>();
  const parts: Part[] = [];
  const visit = (at: number) => {
    order.set(at, order.size);
    low.set(at, order.size - 1);
    stack.push(at);
    open.add(at);
    for (const to of positions[at]?.next.keys() ?? []) {
      if (!order.has(to)) visit(to);
      if (open.has(to)) low.set(at, Math.min(low.get(at) ?? 0, low.get(to) ?? 0));
    }
    if (low.get(at) !== order.get(at)) return;
    const members = stack.splice(stack.indexOf(at));
    for (const member of members) open.delete(member);
    const loop = positions[at]?.loop ?? null;
    if (members.length > 1 || positions[at]?.next.has(at))
      parts.push({
        members,
        length: Math.min(loop?.length ?? longestText, longestText),
        text: loop?.text ?? '',
      });
  };
  visit(0);
  return parts.toReversed();
}

/** Checks whether some text leads from a state of a repeat back to it on two paths. */
function readsTwice(positions: readonly Position[], members: readonly number[]): boolean {
  const inside = new Set(members);
  const size = positions.length;
  const step = (pair: number): number[] => {
    const [left, right] = [positions[Math.floor(pair / size)], positions[pair % size]];
    const found: number[] = [];
    for (const [one, ways] of left?.next ?? []) {
      if (!inside.has(one)) continue;
      for (const other of right?.next.keys() ?? []) {
        if (inside.has(other) && recordAnswer(positions, one, other))
          found.push(one * size + other, ...(one === other && left === right && ways > 1 ? [-1] : []));
      }
    }
    return found;
  };
  const seen = findReachable(
    members.map((member) => member * size + member),
    step,
  );
  if (seen.has(-1)) return true;
  // The pairs of different states that lead back to a pair of equal states.
  const apart = [...seen].filter((pair) => Math.floor(pair / size) !== pair % size);
  const back = new Map<number, number[]>();
  for (const pair of apart) for (const to of step(pair)) back.set(to, [...(back.get(to) ?? []), pair]);
  return members.some((member) => back.has(member * size + member));
}

/** Tells whether one word leads from A to A, from A to B, and from B to B. */
function divides(
  positions: readonly Position[],
  a: readonly number[],
  b: readonly number[],
  reach: ReadonlySet<number>,
): boolean {
  const union = (members: readonly number[]) =>
    members.reduce((set, member) => set | (positions[member]?.set ?? 0n), 0n);
  if ((union(a) & union(b)) === 0n) return false;
  const walk = countTriples(positions, new Set(a), new Set(b), reach);
  const starts = a.flatMap((p) => b.map((q) => [p, q] as const));
  const meets =
    (z: number) =>
    ([, y, last]: readonly [number, number, number]) =>
      y === last && (z === -1 || z === last);
  if (!walk(starts, meets(-1), MAX_WORK)) return false;
  if (starts.length === 1) return true;
  return starts.some(([p, q]) => walk([[p, q]], ([x, y, z]) => x === p && y === q && z === q, MAX_WORK));
}

type Triple = readonly [number, number, number];

/**
 * Walks three paths at once over the same characters: one within A, one from A on, and one within B. Returns
 * true when `done` is met, or if the work becomes too much.
 */
function countTriples(
  positions: readonly Position[],
  a: ReadonlySet<number>,
  b: ReadonlySet<number>,
  reach: ReadonlySet<number>,
) {
  return (
    starts: readonly (readonly [number, number])[],
    done: (triple: Triple) => boolean,
    work: number,
  ): boolean => {
    const size = positions.length;
    const seen = new Set<number>();
    const queue: Triple[] = starts.map(([p, q]) => [p, p, q]);
    let left = work;
    for (const [x, y, z] of queue) {
      for (const nx of positions[x]?.next.keys() ?? []) {
        if (!a.has(nx)) continue;
        for (const nz of positions[z]?.next.keys() ?? []) {
          if (!b.has(nz)) continue;
          const both = (positions[nx]?.set ?? 0n) & (positions[nz]?.set ?? 0n);
          if (both === 0n) continue;
          for (const ny of positions[y]?.next.keys() ?? []) {
            if (left-- < 0) return true;
            if (!(reach.has(ny) || a.has(ny)) || (both & (positions[ny]?.set ?? 0n)) === 0n) continue;
            const key = (nx * size + ny) * size + nz;
            if (seen.has(key)) continue;
            seen.add(key);
            if (done([nx, ny, nz])) return true;
            queue.push([nx, ny, nz]);
          }
        }
      }
    }
    return false;
  };
}

/**
 * Returns the minimum number of characters between two arrivals in B of paths over the same text that both
 * come from A.
 */
function computeDistance(
  positions: readonly Position[],
  a: readonly number[],
  b: readonly number[],
  reach: ReadonlySet<number>,
): number {
  const size = positions.length;
  const within = new Set(b);
  const step = (pair: number): number[] => {
    const [early, late] = [Math.floor(pair / size), pair % size];
    const found: number[] = [];
    for (const one of positions[early]?.next.keys() ?? []) {
      if (within.has(early) ? !within.has(one) : !reach.has(one)) continue;
      for (const other of positions[late]?.next.keys() ?? []) {
        if (reach.has(other) && !within.has(late) && recordAnswer(positions, one, other))
          found.push(one * size + other);
      }
    }
    return found;
  };
  const both = findReachable(
    a.flatMap((one) => a.map((other) => one * size + other)),
    step,
  );
  const arrived = (pair: number) => within.has(Math.floor(pair / size));
  let edge = [...new Set([...both].filter((pair) => !arrived(pair)).flatMap(step))].filter(
    (pair) => arrived(pair) && !within.has(pair % size),
  );
  for (let characters = 1; edge.length > 0 && characters < MAX_APART; characters++) {
    const next = new Set(edge.flatMap(step));
    if ([...next].some((pair) => within.has(pair % size))) return characters;
    edge = [...next];
  }
  return 1;
}

function forward(positions: readonly Position[], members: readonly number[]): Set<number> {
  return findReachable(members, (at) => [...(positions[at]?.next.keys() ?? [])]);
}

function recordAnswer(positions: readonly Position[], left: number, right: number): boolean {
  return ((positions[left]?.set ?? 0n) & (positions[right]?.set ?? 0n)) !== 0n;
}

/** Returns all states that can be reached from `starts`, including these. */
function findReachable(starts: readonly number[], step: (at: number) => readonly number[]): Set<number> {
  const seen = new Set(starts);
  for (const at of seen) for (const to of step(at)) seen.add(to);
  return seen;
}
