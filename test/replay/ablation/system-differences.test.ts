import { describe, expect, it } from 'vitest';
import {
  ABLATION_MEASURES,
  computeSystemDifferences,
} from '../../../scripts/parts/bench/ablation-measures.ts';
import { DatasetRow } from '../../../src/replay/cases/case.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';

/** A case of CODE_ERROR with what was said of it. */
function createAnswered(id: string, right: boolean, answerConfidence: number): ReplayedCase {
  const row = DatasetRow.parse({ id, category: 'CODE_ERROR', project: id });
  const said = {
    category: right ? 'CODE_ERROR' : 'TEST_FAILURE',
    confidence: 0.9,
    answerConfidence,
    action: 'auto_notify',
    error: null,
  };
  return {
    row,
    result: { ...toFailedResult(id, '', 0), ...said },
    analysis: null,
    quotes: { made: 0, literal: 0 },
  };
}

const cases = (confidenceOf: (at: number, right: boolean) => number) =>
  Array.from({ length: 40 }, (_, at) =>
    createAnswered(`case-${at}`, at % 4 !== 0, confidenceOf(at, at % 4 !== 0)),
  );
const figure = (a: readonly ReplayedCase[], b: readonly ReplayedCase[], name: string) =>
  computeSystemDifferences(a, b, ABLATION_MEASURES).find((difference) => difference.name === name);
const EQUAL_RISK = 'publishable with at most 5 % wrong';

describe('two systems', () => {
  it('do not differ if they are the same', () => {
    const same = cases(() => 0.9);
    expect(
      computeSystemDifferences(same, same, ABLATION_MEASURES).every(({ verdict }) => verdict === 'same'),
    ).toBe(true);
  });

  it('are compared at equal risk, by what each publishes', () => {
    const blind = cases(() => 0.9);
    const seeing = cases((_, right) => (right ? 0.9 : 0.3));
    expect(figure(blind, seeing, EQUAL_RISK)).toMatchObject({
      a: 0,
      b: 0.75,
      verdict: 'b-better',
      won: 30,
      lost: 0,
      cases: 40,
    });
    expect(figure(seeing, blind, EQUAL_RISK)).toMatchObject({ a: 0.75, b: 0, verdict: 'a-better' });
    expect(figure(blind, seeing, 'confident but wrong answers')).toMatchObject({
      a: 0.25,
      b: 0,
      verdict: 'b-better',
    });
  });

  it('may be wrong in one of twenty published answers', () => {
    const one = Array.from({ length: 20 }, (_, at) => createAnswered(`case-${at}`, at !== 0, 0.9 - at / 100));
    expect(figure(one, one, EQUAL_RISK)?.a).toBe(1);
    expect(figure(one.slice(0, 19), one.slice(0, 19), EQUAL_RISK)?.a).toBe(0);
  });

  it('are compared on their common cases', () => {
    const some = cases(() => 0.9);
    expect(figure(some, some.slice(10), 'category accuracy')?.cases).toBe(30);
  });
});
