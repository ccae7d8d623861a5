import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/domain/evidence.ts';
import { readStatements } from '../../../src/models/analyst/converse.ts';

const evidence: Evidence[] = [
  {
    id: 'E1',
    tool: 'log',
    title: 'failed test',
    text: 'FAIL cart\n\u001b[31mexpected 10.20,   got 10.21\u001b[0m',
    source: 'build.log',
    lineStart: 120,
    lineEnd: 121,
  },
  { id: 'E2', tool: 'read_failure_history', title: 'ci #640', text: 'expected 9.99', source: 'history/shop' },
];
const read = (text: string, common = '') => readStatements(text, evidence, common);
const joined = (text: string) =>
  read(text)
    .map(({ lead, text: words }) => lead + words)
    .join('');

describe('statements of a model', () => {
  it('are sentences with their citations, and together give the text again', () => {
    const text =
      'The totals differ [E1]. It failed before. [E2] Nobody knows why.\n\n1. First, e.g. this [E1, E2].\n2. Then (E2) that.';
    expect(read(text).map(({ evidence: ids, basis }) => [ids.join(), basis])).toEqual([
      ['E1', 'evidence'],
      ['E2', 'evidence'],
      ['', 'none'],
      ['E1,E2', 'evidence'],
      ['E2', 'evidence'],
    ]);
    expect(joined(text)).toBe(text);
  });

  it('quote lines literally, except for colors and repeated blanks', () => {
    expect(read('It says "got 10.21" [E1].')[0]?.quotes).toEqual([
      { source: 'build.log', line: 121, text: 'got 10.21' },
    ]);
    expect(read('It says "expected 10.20, got 10.21" [E1].')[0]?.quotes).toEqual([
      { source: 'build.log', line: 121, text: 'expected 10.20,   got 10.21' },
    ]);
    expect(read('Then "expected 9.99." [E2]')[0]?.quotes).toEqual([
      { source: 'history/shop', line: 1, text: 'expected 9.99' },
    ]);
  });

  it('keep a quotation that occurs nowhere, for the check to refuse', () => {
    expect(read('It says "all tests passed" [E1].')[0]?.quotes).toEqual([
      { source: 'build.log', line: 120, text: 'all tests passed' },
    ]);
    expect(read('You asked for "all tests passed" [E1].', 'where is "all tests passed"?')[0]?.quotes).toEqual(
      [],
    );
  });

  it('lose links and images, and do not take an error code for a citation', () => {
    expect(
      read(
        'See [the fix](https://evil.example/x) and ![p](https://evil.example/p.png) [E1](https://evil.example).',
      )[0]?.text,
    ).toBe('See the fix and p [E1].');
    expect(read('npm says E404 (code E404x).')[0]?.evidence).toEqual([]);
  });
});
