import type { Figure, FigureSection } from '../figures/figure.ts';

const INDENT = '  ';

/** A table for people: a heading, then section by section the name, the value, and the number of cases that the value rests on. */
export function renderFigures(heading: string, sections: readonly FigureSection[]): string {
  const width = Math.max(0, ...sections.flatMap(({ figures }) => figures.map(({ name }) => name.length)));
  const blocks = sections.map(({ title, figures }) => [title, ...rowsOf(figures, width)].join('\n'));
  return [heading, '='.repeat(heading.length), '', blocks.join('\n\n')].join('\n');
}

function rowsOf(figures: readonly Figure[], width: number): string[] {
  const plain = figures.filter(({ cell }) => cell === undefined);
  const lines = plain.map((figure) => `${INDENT}${figure.name.padEnd(width)}  ${valueText(figure).padStart(10)}  n=${figure.cases}`);
  return [...gridOf(figures), ...lines];
}

/** Figures of cells, one line a row. */
function gridOf(figures: readonly Figure[]): string[] {
  const cells = figures.flatMap((figure) => (figure.cell === undefined ? [] : [{ ...figure.cell, figure }]));
  if (cells.length === 0) return [];
  const columns = [...new Set(cells.map(({ column }) => column))];
  const rows = [...new Set(cells.map(({ row }) => row))];
  const width = Math.max(...rows.map((row) => row.length));
  const head = `${INDENT}${' '.repeat(width)}  ${columns.map((column) => column.padStart(10)).join('')}`;
  return [
    head,
    ...rows.map((row) => {
      const own = cells.filter((cell) => cell.row === row);
      const values = columns.map((column) => {
        const figure = own.find((cell) => cell.column === column)?.figure;
        return (figure === undefined ? '' : valueText(figure)).padStart(10);
      });
      return `${INDENT}${row.padEnd(width)}  ${values.join('')}  n=${own[0]?.figure.cases ?? 0}`;
    }),
  ];
}

function valueText({ value, unit }: Figure): string {
  if (unit === 'count') return String(value);
  return value.toFixed(unit === 'measure' ? 1 : 3);
}
