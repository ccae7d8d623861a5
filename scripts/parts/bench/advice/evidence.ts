import { resolveProject } from '../../../../src/replay/cases/case.ts';
import { scoreAdvice, scoreAdviceByCategory } from '../../../../src/replay/figures/advice.ts';
import type { Figure } from '../../../../src/replay/figures/figure.ts';
import { formatInterval, formatValue } from '../../../../src/replay/report.ts';
import { isSilent } from '../../../../src/replay/run/check-advice.ts';
import { createLookup, findIdentifiers } from '../../../../src/replay/run/identifiers.ts';
import { createReplayedCase } from '../../../../src/replay/run/replay.ts';
import type { AnsweredRow } from './read-answered.ts';

/**
 * The places in which the names that the advice missed occur, nearest first, and what the advice says
 * instead.
 */
const GROUPS = [
  'silent',
  'a name of the fix is in the root cause',
  'a name of the fix is in a quoted line',
  'a name of the fix is in the excerpts',
  'a name of the fix is elsewhere in the log',
  'no name of the fix is in the log',
] as const;
type Group = (typeof GROUPS)[number];

/**
 * Formats the figures of a data set and its misses in groups, as Markdown. With `isListed`, also the cases of
 * each group.
 */
export function formatEvidence(rows: readonly AnsweredRow[], isListed: boolean): string {
  const cases = rows.map(({ row, result }) => createReplayedCase(row, result));
  const owners = new Set(rows.map(({ row }) => resolveProject(row).split('/')[0]));
  const missed = rows.filter(({ result }) => (result.advice?.keyed.length ?? 0) === 0).map(explainMiss);
  const groups = GROUPS.map((group) => ({ group, members: missed.filter((miss) => miss.group === group) }));
  return [
    `${rows.length} rows with a fix, of ${owners.size} owners.`,
    '',
    '| figure | value | n |',
    '|---|---|---|',
    ...scoreAdvice(cases).map(formatFigureRow),
    '',
    '| category | keyed | invented | silent | n |',
    '|---|---|---|---|---|',
    ...formatCategoryRows(scoreAdviceByCategory(cases)),
    '',
    `| not keyed (${missed.length}) | rows | names missed, by kind |`,
    '|---|---|---|',
    ...groups.map(({ group, members }) => `| ${group} | ${members.length} | ${countKinds(members)} |`),
    ...(isListed
      ? groups.flatMap(({ group, members }) => ['', `${group}:`, ...members.map(({ text }) => text)])
      : []),
  ].join('\n');
}

function formatFigureRow(figure: Figure): string {
  return `| ${figure.name} | ${formatValue(figure)} ${formatInterval(figure)} | ${figure.cases} |`;
}

function formatCategoryRows(figures: readonly Figure[]): string[] {
  return [...Map.groupBy(figures, ({ cell }) => cell?.row ?? '')].map(
    ([row, cells]) =>
      `| ${row} | ${cells.map((figure) => formatValue(figure)).join(' | ')} | ${cells[0]?.cases} |`,
  );
}

function countKinds(members: readonly { readonly kinds: readonly string[] }[]): string {
  const counts = [
    ...Map.groupBy(
      members.flatMap(({ kinds }) => kinds),
      (kind) => kind,
    ),
  ].map(([kind, all]) => [kind, all.length] as const);
  return counts
    .toSorted((left, right) => right[1] - left[1])
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');
}

function explainMiss({ row, result, texts }: AnsweredRow) {
  const names = findIdentifiers(row.fix);
  const quotes = result.claims.flatMap((claim) => claim.quotes.map(({ text }) => text));
  const places: readonly (readonly [Group, readonly string[]])[] = [
    ['a name of the fix is in the root cause', [result.rootCause ?? '']],
    ['a name of the fix is in a quoted line', quotes],
    ['a name of the fix is in the excerpts', result.excerpts.map(({ text }) => text)],
    ['a name of the fix is elsewhere in the log', texts],
  ];
  const atHand = names.filter(createLookup(texts));
  const nearest =
    places.find(([, where]) => atHand.some(createLookup(where)))?.[0] ?? 'no name of the fix is in the log';
  const group: Group = isSilent(result.fixRecommendation) ? 'silent' : nearest;
  const kinds = [...new Set(atHand.map(({ kind }) => kind))];
  const values = atHand.map(({ value }) => value).join(', ');
  return {
    group,
    kinds,
    text: `- ${row.id}: ${values === '' ? '–' : values}\n  advice: ${result.fixRecommendation}\n  fix: ${row.fix}`,
  };
}
