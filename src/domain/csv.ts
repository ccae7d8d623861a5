/** What a cell may hold; null is an empty cell. */
export type Cell = string | number | null;

/**
 * Rows as CSV (RFC 4180): a comma between cells, CRLF after each row, quotes where they are needed. Texts that a spreadsheet would take
 * for a formula get an apostrophe in front.
 */
export function csvOf(heading: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [heading, ...rows].map((row) => `${row.map(written).join(',')}\r\n`).join('');
}

function written(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
