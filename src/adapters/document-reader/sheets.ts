import type { DocumentBlock } from '../../ports/knowledge.ts';
import { openOfficeZip } from './office-zip.ts';

const MAX_ROWS = 20_000;
const MAX_CELL = 2_000;

/** Reads the sheets of a workbook row by row; empty rows are left out, and keep their number. */
export async function readSheets(name: string, bytes: Uint8Array): Promise<{ blocks: DocumentBlock[]; notes: string[] }> {
  await openOfficeZip(name, bytes, 'xl/workbook.xml');
  const { default: readWorkbook } = await import('read-excel-file/node');
  const blocks: DocumentBlock[] = [];
  for (const { sheet, data } of await readWorkbook(Buffer.from(bytes))) {
    for (const [index, row] of data.entries()) {
      const text = rowText(row);
      if (text === '') continue;
      if (blocks.length >= MAX_ROWS) return { blocks, notes: [`Only the first ${MAX_ROWS} rows are read.`] };
      blocks.push({ text, heading: null, place: { sheet, row: index + 1 } });
    }
  }
  return { blocks, notes: [] };
}

function rowText(row: readonly unknown[]): string {
  const cells = row.map(cellText);
  while (cells.at(-1) === '') cells.pop();
  return cells.join(' | ');
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$/, '');
  return String(value).replace(/\s+/g, ' ').trim().slice(0, MAX_CELL);
}
