import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSources } from '../../src/log/read-sources.ts';

interface Truth {
  readonly failingTests: readonly { readonly name: string }[];
  readonly mustCite: readonly (readonly [number, number])[];
}

const FIXTURES = join(import.meta.dirname, '../fixtures/failures');
const slugs = readdirSync(FIXTURES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** A program that its Makefile runs as a test: nothing in the log says that it is one. */
const UNNAMED_TESTS = new Set(['csv-reader-segfault']);

describe('captured failures', () => {
  it.each(slugs)(
    'keep the lines that prove them within 2,000 tokens, and their failing tests are found: %s',
    (slug) => {
      const truth = JSON.parse(readFileSync(join(FIXTURES, slug, 'truth.json'), 'utf8')) as Truth;
      const text = readFileSync(join(FIXTURES, slug, 'log.txt'), 'utf8');
      const { excerpts, failingTests, tokens } = readSources(
        [{ name: 'log.txt', kind: 'log', text, notes: [] }],
        { budgetTokens: 2_000 },
      );
      expect(tokens).toBeLessThanOrEqual(2_000);
      for (const [start, end] of truth.mustCite) {
        for (let line = start; line <= end; line++) {
          expect(
            excerpts.some(({ lineStart, lineEnd }) => lineStart <= line && line <= lineEnd),
            `line ${line}`,
          ).toBe(true);
        }
      }
      if (UNNAMED_TESTS.has(slug)) return;
      expect(failingTests.map(({ name }) => name).sort()).toEqual(
        truth.failingTests.map(({ name }) => name).sort(),
      );
    },
  );
});
