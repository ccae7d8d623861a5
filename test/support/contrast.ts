import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const IN_PAGE = readFileSync(join(import.meta.dirname, 'contrast-in-page.js'), 'utf8');

/** The contrasts that were computed for the texts of a page. */
export interface Contrast {
  /** The number of texts whose colors were compared with all that is painted under them. */
  readonly texts: number;
  /** Texts with too little contrast, as `ratio of needed: text (element)`. Empty if nothing is wrong. */
  readonly findings: readonly string[];
}

/**
 * Computes the contrast of every visible text of a page from its own color and the composed background of its
 * element and all elements around it, opacity included. axe leaves texts undecided that another element
 * overlaps; this does not. WCAG needs 4.5, and 3 for large text. Placeholders are
 * included, disabled controls are not.
 */
export async function computeContrast(page: Page): Promise<Contrast> {
  return (await page.evaluate(IN_PAGE)) as Contrast;
}
