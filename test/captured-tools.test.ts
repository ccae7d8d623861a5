import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolRow } from '../scripts/parts/capture/row.ts';
import { readToolRows } from '../scripts/parts/capture/tools.ts';
import { CATEGORIES, Category } from '../src/domain/category.ts';

const FOLDER = resolve(import.meta.dirname, 'fixtures/tools');

/** What a capture copies from its row. */
const Truth = z.object({
  slug: z.string(),
  tool: z.string(),
  heldOut: z.boolean(),
  category: Category,
  alsoOk: z.array(Category),
  exitCode: z.int(),
});

const truths = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => Truth.parse(JSON.parse(readFileSync(join(FOLDER, name, 'truth.json'), 'utf8'))));

describe('the captured failures of tools', () => {
  let rows: readonly ToolRow[] = [];
  beforeAll(async () => {
    rows = await readToolRows();
  });

  it('match the rows of their table', () => {
    const told = rows.map(({ alsoOk = [], ...row }) => Truth.parse({ ...row, alsoOk }));
    expect(sortBySlug(truths)).toEqual(sortBySlug(told));
  });

  it('include every category, held out or not', () => {
    for (const heldOut of [false, true]) {
      const categories = truths.filter((truth) => truth.heldOut === heldOut).map(({ category }) => category);
      expect(new Set(categories)).toEqual(new Set(CATEGORIES));
    }
  });

  it('accept other categories than their own, each once', () => {
    const repeated = truths.filter(
      ({ category, alsoOk }) => new Set([category, ...alsoOk]).size <= alsoOk.length,
    );
    expect(repeated.map(({ slug }) => slug)).toEqual([]);
  });
});

function sortBySlug<Named extends { readonly slug: string }>(items: readonly Named[]): Named[] {
  return items.toSorted((a, b) => a.slug.localeCompare(b.slug));
}
