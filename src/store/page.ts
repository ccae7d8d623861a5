import type { Page } from '../ports/database.ts';

const MAX_LIMIT = 200;

/** `[limit, offset]` for SQL, held within what a page may be. */
export function pageValues(page: Page): [number, number] {
  return [Math.min(Math.max(Math.trunc(page.limit), 1), MAX_LIMIT), Math.max(Math.trunc(page.offset), 0)];
}
