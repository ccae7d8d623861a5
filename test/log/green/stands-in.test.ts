import { describe, expect, it } from 'vitest';
import { areKnownLines, listIdentifyingLines } from '../../../src/log/green/green-diff.ts';
import { extractTemplates } from '../../../src/log/green/templates.ts';
import { sampleFailure } from '../../support/sample-analysis.ts';

const createExcerpt = (text: string) => ({
  source: 'ci',
  lineStart: 1,
  lineEnd: 9,
  text,
  reason: 'r',
  weight: 1,
});

describe('the identifying lines of a failure in other logs', () => {
  it("are the log's lines that contain its message", () => {
    const text = 'ok so far\n\u001b[31mE   AssertionError: expected 3\u001b[0m\n  at sum\n---';
    expect(
      listIdentifyingLines({ message: 'AssertionError: expected 3', excerpt: createExcerpt(text) }),
    ).toEqual(['E   AssertionError: expected 3']);
  });

  it('are its message if the log has no such line, without generic lines, and at most five', () => {
    expect(listIdentifyingLines({ message: 'lost it\n---\n', excerpt: createExcerpt('else') })).toEqual([
      'lost it',
    ]);
    expect(
      listIdentifyingLines({
        message: Array.from({ length: 9 }, (_, n) => `line ${n} of it`).join('\n'),
        excerpt: null,
      }),
    ).toHaveLength(5);
    expect(listIdentifyingLines({ message: '---', excerpt: null })).toEqual([]);
  });

  it('are in a passed build only if each of them is', () => {
    const telling = listIdentifyingLines(sampleFailure());
    expect(areKnownLines(telling, [extractTemplates('FAIL cart total\nexpected 10.20, got 10.21')])).toBe(
      true,
    );
    expect(
      areKnownLines([...telling, 'and the till is open'], [extractTemplates('expected 10.20, got 10.21')]),
    ).toBe(false);
    expect(areKnownLines(telling, [extractTemplates('all fine')])).toBe(false);
    expect(areKnownLines([], [extractTemplates('all fine')])).toBe(false);
  });
});
