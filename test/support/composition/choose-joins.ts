import { createHash } from 'node:crypto';
import { rows as everyday } from '../../captures/tools/everyday.ts';
import { rows as interrupted } from '../../captures/tools/interrupted.ts';
import { rows as misread } from '../../captures/tools/misread.ts';
import type { CapturedPart } from './captured-parts.ts';
import type { Frame } from './join-logs.ts';

/** The parts to join, and the way to join them. */
export interface Join {
  /** The name: `several steps: jest-esm-import + bats-one-of-thirty`. */
  readonly id: string;
  readonly kind: JoinKind;
  readonly frame: Frame;
  readonly parts: readonly CapturedPart[];
}

export const KINDS = {
  'one runner, one step': 'step',
  'several runners, one step': 'step',
  'several steps': 'steps',
  'several stages': 'stages',
  'several jobs': 'jobs',
  'same failure, one step': 'step',
  'same failure, two steps': 'steps',
  'same failure, two jobs': 'jobs',
  'several failures beside another': 'steps',
} as const satisfies Record<string, Frame>;
export type JoinKind = keyof typeof KINDS;

/**
 * The limits of the short run: joins of a kind, joins of one failure with itself, which are all similar, and
 * lines of a part.
 */
const [MOST_OF_KIND, MOST_OF_SAME, MAX_LINES] = [45, 30, 400];
/** The captures that are newer than the bars. A new capture would change which parts are joined. */
const LATER = new Set([...everyday, ...interrupted, ...misread].map(({ slug }) => slug));
/** The number of parts in addition to those of one runner in the short run, by set. */
const MAX_PARTS = { failures: 30, tools: 20 } as const;

/**
 * Chooses joins, always the same ones: every pair and consecutive triples of one runner; for each other kind,
 * a pair or a triple that begins with each part; each part twice; and each build of several failures with
 * another part. The short run (`all` is false) takes 315 of them and those of several failures. They are made
 * of few parts, because each part must also be answered alone.
 */
export function chooseJoins(parts: readonly CapturedPart[], all: boolean): Join[] {
  const single = shuffle(parts, 'parts').filter(({ set }) => set !== 'mixed');
  const mixed = shuffle(parts, 'mixed').filter(({ set }) => set === 'mixed');
  const older = single.filter(({ id }) => !LATER.has(id));
  const later = single.filter(({ id }) => LATER.has(id));
  if (all)
    return [
      ...joinByRunner(single),
      ...[older, later].flatMap((pool) => joinAcross(pool, parts.length, parts.length)),
      ...joinMixed(mixed, older),
    ];
  const short = older.filter(({ output }) => output.length <= MAX_LINES);
  const byRunner = joinByRunner(short).slice(0, MOST_OF_KIND);
  const used = [...new Set(byRunner.flatMap((join) => join.parts))];
  const others = short.filter((part) => !used.includes(part));
  const few = (['failures', 'tools'] as const).flatMap((set) =>
    others.filter((part) => part.set === set).slice(0, MAX_PARTS[set]),
  );
  const pool = shuffle([...used, ...few], 'few');
  return [
    ...byRunner,
    ...joinAcross(pool, MOST_OF_KIND, MOST_OF_SAME),
    ...joinMixed(mixed.slice(0, MOST_OF_KIND), pool),
  ];
}

function joinByRunner(parts: readonly CapturedPart[]): Join[] {
  const groups = [...Map.groupBy(parts, ({ runner }) => runner).values()].filter(({ length }) => length > 1);
  const joins = groups.flatMap((group) =>
    group.flatMap((first, at) => [
      ...group.slice(at + 1).map((second) => toJoin('one runner, one step', [first, second])),
      ...(at + 2 < group.length ? [toJoin('one runner, one step', group.slice(at, at + 3))] : []),
    ]),
  );
  return shuffle(joins, 'one runner');
}

function joinAcross(parts: readonly CapturedPart[], most: number, mostSame: number): Join[] {
  const kinds = ['several runners, one step', 'several steps', 'several stages', 'several jobs'] as const;
  const different = kinds.flatMap((kind) => {
    const ordered = shuffle(parts, kind);
    const joins = ordered.map((first, at) => {
      const steps = at % 2 === 0 ? [1] : [5, 11];
      const others = steps.flatMap((step) => ordered[(at + step) % ordered.length] ?? []);
      return toJoin(kind, [first, ...others]);
    });
    return joins.filter(haveDifferentRunners).slice(0, most);
  });
  const sameKinds = ['same failure, one step', 'same failure, two steps', 'same failure, two jobs'] as const;
  const same = sameKinds.flatMap((kind) =>
    shuffle(parts, kind)
      .slice(0, mostSame)
      .map((part) => toJoin(kind, [part, part])),
  );
  return [...different, ...same];
}

function joinMixed(mixed: readonly CapturedPart[], others: readonly CapturedPart[]): Join[] {
  return mixed.flatMap((part, at) => {
    const other = others[at % others.length];
    return other === undefined ? [] : [toJoin('several failures beside another', [part, other])];
  });
}

function haveDifferentRunners({ parts }: Join): boolean {
  return new Set(parts.map(({ runner }) => runner)).size === parts.length;
}

function toJoin(kind: JoinKind, parts: readonly CapturedPart[]): Join {
  return { id: `${kind}: ${parts.map(({ id }) => id).join(' + ')}`, kind, frame: KINDS[kind], parts };
}

/** Shuffles items in an order that looks random and is the same in every run. */
function shuffle<Item extends { readonly id: string }>(items: readonly Item[], seed: string): Item[] {
  const keyed = items.map((item) => ({
    item,
    key: createHash('sha256').update(`${seed}\n${item.id}`).digest('hex'),
  }));
  return keyed.sort((left, right) => (left.key < right.key ? -1 : 1)).map(({ item }) => item);
}
