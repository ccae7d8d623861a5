import { describe, expect, it } from 'vitest';
import { createId } from '../../src/domain/ids.ts';
import { computeRisk, findTouchedSuspects, RISKS } from '../../src/domain/review.ts';
import { isDrawn } from '../../src/lib/statistics.ts';
import { sampleAnalysis, sampleBuild } from '../support/sample-analysis.ts';

const EXCUSE = { category: 'INFRA_ERROR', kind: 'network' } as const;
const ELSEWHERE = sampleBuild({ commit: 'ffffffff00000000000000000000000000000000' });

describe('the risk of a wrong answer', () => {
  it('is the cost of the error, three times as high if a pull request waits', () => {
    const inPull = sampleBuild({ pullRequest: 12 });
    const flaky = sampleAnalysis({ kind: 'flaky_timing' });
    const risks = [
      computeRisk(ELSEWHERE, sampleAnalysis()),
      computeRisk(ELSEWHERE, sampleAnalysis(EXCUSE)),
      computeRisk(inPull, sampleAnalysis()),
      computeRisk(sampleBuild(), flaky),
      computeRisk({ ...ELSEWHERE, pullRequest: 12 }, flaky),
      computeRisk(inPull, sampleAnalysis(EXCUSE)),
    ];
    expect(risks).toEqual([1, 2, 3, 4, 6, 12]);
    expect(risks).toEqual(RISKS);
  });

  it('names the suspects that the change touches, by commit or by pull request', () => {
    const [suspect] = sampleAnalysis().answer.suspects;
    if (suspect === undefined) throw new Error('the sample has a suspect');
    const answer = {
      ...sampleAnalysis().answer,
      suspects: [suspect, suspect, { ...suspect, path: 'other.ts', commit: null, pullRequest: 12 }],
    };
    expect(findTouchedSuspects(sampleBuild(), { answer })).toEqual(['src/cart/tax.ts']);
    expect(findTouchedSuspects({ ...ELSEWHERE, pullRequest: 12 }, { answer })).toEqual(['other.ts']);
    expect(findTouchedSuspects({ commit: null, pullRequest: null }, { answer })).toEqual([]);
    expect(findTouchedSuspects({ commit: 'a41', pullRequest: null }, { answer })).toEqual([]);
  });
});

describe('drawing a sample of one in N', () => {
  it('draws about as many as requested, by the name alone', () => {
    const names = Array.from({ length: 20_000 }, (_, n) => createId('rev', 1_790_000_000_000 + n));
    const drawn = names.filter((name) => isDrawn(name, 20));
    expect(drawn.length).toBeGreaterThan(850);
    expect(drawn.length).toBeLessThan(1150);
    expect(drawn.every((name) => isDrawn(name, 20))).toBe(true);
    expect(names.some((name) => isDrawn(name, 0))).toBe(false);
    expect(names.every((name) => isDrawn(name, 1))).toBe(true);
  });
});
