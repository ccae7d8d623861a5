import type { ReplayedCase } from '../run/replay.ts';
import { caseShare, type Figure } from './figure.ts';
import { isRight, judgedCases } from './judged.ts';

/** How often the kind is the labelled one: of all cases that name one, and of those whose category is right. Empty where nothing was classified. */
export function scoreKinds(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.flatMap((one) => (one.row?.kind == null ? [] : [{ one, kind: one.row.kind }]));
  if (!labelled.some(({ one }) => one.result.kind !== null)) return [];
  const right = new Set(judgedCases(cases).flatMap((entry) => (isRight(entry) ? [entry.one] : [])));
  const settled = labelled.filter(({ one }) => right.has(one));
  const isKind = ({ one, kind }: (typeof labelled)[number]) => one.result.kind === kind;
  const mistakes = Map.groupBy(
    labelled.filter((entry) => !isKind(entry)),
    ({ one, kind }) => `kind ${kind} called ${one.result.kind ?? 'nothing'}`,
  );
  const confused = [...mistakes].map(([name, entries]): Figure => {
    const cases = labelled.filter(({ kind }) => kind === entries[0]?.kind).length;
    return { name, value: entries.length, cases, unit: 'count', against: entries.map(({ one }) => one.result.id) };
  });
  return [
    caseShare('kind accuracy', labelled, isKind),
    ...(settled.length === 0 ? [] : [caseShare('kind accuracy where the category is right', settled, isKind)]),
    ...confused.sort((left, right) => right.value - left.value || left.name.localeCompare(right.name)),
  ];
}
