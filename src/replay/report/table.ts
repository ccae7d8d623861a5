import { maxOf } from '../../lib/lists.ts';
import type { Figure, FigureSection } from '../figures/figure.ts';
import { intervalText, valueText } from './figure-text.ts';
import { isNotable } from './notable.ts';

const INDENT = '  ';
/** A line is no longer, for the cases that are named at its end. */
const WIDTH = 100;
const MARK = '  ← ';

/**
 * A table for people: a heading, then section by section the name, the value, the number of cases that the value rests on, and its 95 %
 * interval. What is worth a look is marked, with the cases to begin with. Scripts may rely on `name value n=cases`.
 */
export function renderFigures(heading: string, sections: readonly FigureSection[]): string {
  const width = maxOf(
    sections.flatMap(({ figures }) => figures.filter(({ cell }) => cell === undefined).map(({ name }) => name.length)),
    0,
  );
  const blocks = sections.map(({ title, figures }) => [title, ...rowsOf(figures, width)].join('\n'));
  return [heading, '='.repeat(heading.length), '', blocks.join('\n\n')].join('\n');
}

function rowsOf(figures: readonly Figure[], width: number): string[] {
  const plain = figures.filter(({ cell }) => cell === undefined);
  const intervals = maxOf(
    plain.map((figure) => intervalText(figure).length),
    0,
  );
  const counts = maxOf(
    plain.map(({ cases }) => `n=${cases}`.length),
    0,
  );
  const lines = plain.map((figure) => {
    const interval = intervals === 0 ? '' : `  ${intervalText(figure).padEnd(intervals)}`;
    const line = `${INDENT}${figure.name.padEnd(width)}  ${valueText(figure).padStart(10)}  ${`n=${figure.cases}`.padEnd(counts)}${interval}`;
    return marked(line, isNotable(figure), figure.against ?? []);
  });
  return [...gridOf(figures), ...lines];
}

/** Figures of cells, one line a row. */
function gridOf(figures: readonly Figure[]): string[] {
  const cells = figures.flatMap((figure) => (figure.cell === undefined ? [] : [{ ...figure.cell, figure }]));
  if (cells.length === 0) return [];
  const columns = [...new Set(cells.map(({ column }) => column))];
  const rows = [...new Set(cells.map(({ row }) => row))];
  const texts = (row: string) =>
    columns.map((column) => cellText(cells.find((cell) => cell.row === row && cell.column === column)?.figure));
  const width = maxOf(rows.map((row) => row.length));
  const widths = columns.map((column, at) =>
    Math.max(
      column.length + 2,
      maxOf(
        rows.map((row) => (texts(row)[at] ?? '').length + 2),
        10,
      ),
    ),
  );
  const line = (name: string, parts: readonly string[]) =>
    `${INDENT}${name.padEnd(width)}  ${parts.map((part, at) => part.padStart(widths[at] ?? 10)).join('')}`;
  return [
    line('', columns),
    ...rows.map((row) => {
      const own = cells.filter((cell) => cell.row === row).map(({ figure }) => figure);
      const notable = own.filter(isNotable);
      const against = [...new Set(notable.flatMap((figure) => figure.against ?? []))];
      return marked(`${line(row, texts(row))}  n=${own[0]?.cases ?? 0}`, notable.length > 0, against);
    }),
  ];
}

function cellText(figure: Figure | undefined): string {
  if (figure === undefined) return '';
  const interval = intervalText(figure);
  return interval === '' ? valueText(figure) : `${valueText(figure)} ${interval}`;
}

/** "← a, b and 3 more": as many cases as the line has room for. */
function marked(line: string, isMarked: boolean, against: readonly string[]): string {
  const text = line.trimEnd();
  if (!isMarked) return text;
  let shown = 0;
  let words = 'look here';
  for (let count = 1; count <= against.length; count++) {
    const rest = against.length - count;
    const named = `${against.slice(0, count).map(onOneLine).join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
    if (count > 1 && text.length + MARK.length + named.length > WIDTH) break;
    words = named;
    shown = count;
  }
  return shown === 0 ? `${text}${MARK}${words}` : `${text}${MARK}${clipped(words, WIDTH - text.length - MARK.length)}`;
}

/** Ids are anybody's words: none may begin a line that reads like a figure. */
export function onOneLine(id: string): string {
  return id.replace(/[\r\n\u2028\u2029]/g, ' ');
}

function clipped(words: string, room: number): string {
  return words.length <= room || room < 12 ? words : `${words.slice(0, room - 1)}…`;
}
