import { describe, expect, it } from 'vitest';
import { buildRuleText, compileRulePattern } from '../../../src/log/rule-pattern.ts';
import { sampleFailure } from '../../support/sample-analysis.ts';

function compilePattern(pattern: string) {
  const made = compileRulePattern(pattern);
  if ('refused' in made) throw new Error(made.refused);
  return made;
}

describe('patterns written by reviewers', () => {
  it('return the line on which a match begins', () => {
    const pattern = compilePattern('registry .* answered 50[23]');
    expect(pattern.matchedLine('npm\nERR registry npm.example answered 503 again\nend')).toBe(
      'ERR registry npm.example answered 503 again',
    );
    expect(pattern.matchedLine('registry npm.example\nanswered 503')).toBeNull();
    expect(compilePattern('^answered 503$').matchedLine('x\nanswered 503\ny')).toBe('answered 503');
  });

  it.each([
    '(?=a)bcd',
    '(abc)\\1',
    'abc++',
    '(?<!x)yyy',
    '[abc',
    '((a{900}){900})',
    '(?:abcdefgh.{1,900}){1,3}x{900}',
  ])('are refused: %s', (pattern) => {
    expect(compileRulePattern(pattern)).toEqual({ refused: expect.stringMatching(/RE2|repeats/) });
  });

  it('may backtrack elsewhere, but are evaluated in linear time', () => {
    const text = `${'a'.repeat(30)}! ${'a'.repeat(7_000)}`;
    expect(compilePattern('^(a+)+$').matchedLine(text)).toBeNull();
    expect(compilePattern('(a|aa|aaa)*b').matchedLine(text)).toBeNull();
  });

  it('search the message and the excerpt, at most 8,000 characters', () => {
    expect(buildRuleText(sampleFailure())).toBe(
      `expected 10.20, got 10.21\n${sampleFailure().excerpt?.text}`,
    );
    expect(buildRuleText({ message: 'x'.repeat(20_000), excerpt: null })).toHaveLength(8_000);
  });
});
