import { toAnswerForm } from '../../domain/answer-form.ts';
import type { Turn } from '../../domain/conversation.ts';
import { toVisibleLine, toVisibleLines, wrap } from '../../notifications/visible-text.ts';

const MIN_COLUMN = 20;

/**
 * Formats a comparison in two columns, one a side: a heading for each aspect, and two columns below it.
 * An answer that is no table is shown as its text.
 */
export function formatComparison(turn: Pick<Turn, 'shape' | 'text'>, width: number): string {
  const form = toAnswerForm(turn);
  if (form.shape !== 'comparison' || form.sides === null) return toVisibleLines(turn.text).join('\n');
  const column = Math.max(MIN_COLUMN, Math.floor((width - 3) / 2));
  const rule = `${'─'.repeat(column)}─┼─${'─'.repeat(column)}`;
  return [
    ...form.summary.map(toVisibleLine),
    ...layBeside(form.sides, column),
    ...form.rows.flatMap(({ aspect, first, second }) => [
      rule,
      toVisibleLine(aspect),
      ...layBeside([first, second], column),
    ]),
  ].join('\n');
}

function layBeside([first, second]: readonly [string, string], column: number): string[] {
  const [left, right] = [wrap(toVisibleLine(first), column), wrap(toVisibleLine(second), column)];
  return Array.from(
    { length: Math.max(left.length, right.length) },
    (_, index) => `${(left[index] ?? '').padEnd(column)} │ ${right[index] ?? ''}`,
  );
}
