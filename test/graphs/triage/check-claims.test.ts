import { describe, expect, it } from 'vitest';
import { checkClaims } from '../../../graphs/triage/check-claims.ts';
import type { Answer, Claim } from '../../../src/domain/analysis.ts';
import type { Evidence } from '../../../src/domain/evidence.ts';

const log: Evidence = {
  id: 'E1',
  tool: 'log',
  title: 't',
  text: 'first\nsecond line\nthird',
  source: 'a.log',
  lineStart: 10,
  lineEnd: 12,
};
const page: Evidence = {
  id: 'E2',
  tool: 'search_knowledge',
  title: 't',
  text: 'a whole page',
  source: 'knowledge:ERR001',
};
const answer = (claim: Partial<Claim>): Answer => ({
  title: '',
  rootCause: '',
  fixRecommendation: '',
  confidence: 1,
  claims: [{ text: 'c', evidence: ['E1'], quotes: [], ...claim }],
  suspects: [],
  hypotheses: [],
});
const reasonFor = (claim: Partial<Claim>, unsupported: string[] = []) =>
  checkClaims(answer(claim), [log, page], unsupported).dropped[0]?.reason;

describe('checkClaims', () => {
  it('keeps a quotation that is in its line', () => {
    expect(reasonFor({ quotes: [{ source: 'a.log', line: 11, text: 'second' }] })).toBeUndefined();
  });
  it.each([
    ['another line', { source: 'a.log', line: 12, text: 'second' }],
    ['a line outside', { source: 'a.log', line: 99, text: 'second' }],
    ['another source', { source: 'b.log', line: 11, text: 'second' }],
    ['other words', { source: 'a.log', line: 11, text: 'Second' }],
    ['no words', { source: 'a.log', line: 11, text: '  ' }],
  ])('drops a quotation from %s', (_name, quote) => {
    expect(reasonFor({ quotes: [quote] })).toContain('the quoted text is not at');
  });
  it('searches evidence without line numbers as a whole', () => {
    expect(
      reasonFor({ evidence: ['E2'], quotes: [{ source: 'knowledge:ERR001', line: 1, text: 'whole' }] }),
    ).toBeUndefined();
  });
  it('drops claims without evidence, with invented evidence, or that the analyst retracted', () => {
    expect(reasonFor({ evidence: [] })).toBe('it cites no evidence');
    expect(reasonFor({ evidence: ['E9'] })).toContain('E9');
    expect(reasonFor({}, ['c'])).toBe('its evidence does not support it');
  });
});
