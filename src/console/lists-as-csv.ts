import type { FastifyReply } from 'fastify';
import { toCsv } from '../lib/text.ts';
import { type Html, html } from './html.ts';
import { protect } from './http.ts';

/** A table for a CSV file. */
export interface CsvTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/** The columns of a list by their headings. Each reads its value from a row. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => string | number | null>>;

/** Creates a table with a row for each item of a list. */
export function toCsvTable<Row>(columns: CsvColumns<Row>, rows: readonly Row[]): CsvTable {
  const fields = Object.values(columns);
  return { head: Object.keys(columns), rows: rows.map((row) => fields.map((read) => read(row))) };
}

/** The maximum number of rows in a file, and of rows that one query returns. */
const [MAX_ROWS, BATCH_SIZE] = [5_000, 200];

/** Reads a whole list in batches, up to 5,000 rows. */
export async function readWhole<Row>(
  read: (page: { readonly limit: number; readonly offset: number }) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  while (rows.length < MAX_ROWS) {
    const found = await read({ limit: BATCH_SIZE, offset: rows.length });
    for (const row of found) rows.push(row);
    if (found.length < BATCH_SIZE) break;
  }
  return rows;
}

/** Sends a table as a file. `name` is the file name without its extension. */
export function sendCsv(reply: FastifyReply, name: string, { head, rows }: CsvTable): FastifyReply {
  protect(reply);
  return reply
    .header('content-type', 'text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="faultline-${name}.csv"`)
    .send(toCsv(head, rows));
}

/** Renders the link to a list as CSV. */
export function renderCsvLink(address: string): Html {
  return html`<p class="meta"><a href="${address}">This list as CSV</a></p>`;
}
