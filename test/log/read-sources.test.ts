import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../src/domain/build.ts';
import { stripEscapes } from '../../src/log/lines/clean.ts';
import { readSources } from '../../src/log/read-sources.ts';
import { countTokens } from '../../src/log/reduce/tokens.ts';

const log = (text: string, name = 'build.log'): SourceText => ({ name, kind: 'log', text, notes: [] });

/** Text with a taste for what logs hold. */
const piece = fc.oneof(
  fc.constantFrom(
    'error: x',
    'FAILED',
    '\u001b[31m',
    '\r',
    '\n',
    '\r\n',
    'Traceback (most recent call last):',
    '  File "a.py", line 3, in f',
  ),
  fc.constantFrom(
    '##[error]Process completed with exit code 1.',
    'FAIL src/a.test.js',
    '  ● a › b',
    '=== FAILURES ===',
    '    at f (/a/b.js:1:2)',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const anyText = fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join(''));

describe('readSources', () => {
  it('returns excerpts that occur in the lines they refer to', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 400 }), (text, budgetTokens) => {
        const lines = text.split('\n');
        for (const excerpt of readSources([log(text)], { budgetTokens }).excerpts) {
          const stored = lines.slice(excerpt.lineStart - 1, excerpt.lineEnd);
          for (const [at, shown] of excerpt.text.split('\n').entries()) expect(stored[at]).toContain(shown);
          expect(excerpt.text.split('\n')).toHaveLength(stored.length);
        }
      }),
    );
  });

  it('never exceeds the budget', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 300 }), (text, budgetTokens) => {
        const { excerpts, tokens } = readSources([log(text), log(text, 'second.log')], { budgetTokens });
        expect(tokens).toBe(
          excerpts.reduce((sum, excerpt) => sum + countTokens(stripEscapes(excerpt.text)), 0),
        );
        expect(tokens).toBeLessThanOrEqual(budgetTokens);
      }),
    );
  });

  it('returns the same output for the same input', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(readSources([log(text)], { budgetTokens: 200 })).toEqual(
          readSources([log(text)], { budgetTokens: 200 }),
        );
      }),
    );
  });

  it('accepts random bytes as a report without an exception, and notes what is wrong', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { notes } = readSources([{ name: 'r.xml', kind: 'report', text, notes: [] }], {
          budgetTokens: 100,
        });
        expect(notes.length).toBeGreaterThan(0);
      }),
    );
  });
});
