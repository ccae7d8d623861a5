import type { FastifyReply } from 'fastify';
import { toCsv } from '../lib/text.ts';
import { type Html, html } from './html.ts';
import { protect } from './http.ts';

/** A table as CSV shows it. */
export interface CsvTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/** Rows of a list that are written at most, and rows that one question to the database returns. */
const MOST_ROWS = 5_000;
const AT_ONCE = 200;

/** Reads a whole list, page by page, up to 5,000 rows. */
export async function readWhole<Row>(
  read: (page: { readonly limit: number; readonly offset: number }) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  while (rows.length < MOST_ROWS) {
    const found = await read({ limit: AT_ONCE, offset: rows.length });
    for (const row of found) rows.push(row);
    if (found.length < AT_ONCE) break;
  }
  return rows;
}

/** Sends a table as a file. `name` is that of the file, without its ending. */
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
