import { describe, expect, it } from 'vitest';
import type { FixedFailure } from '../../../src/domain/graded.ts';
import { withPrecedent } from '../../../src/domain/precedent.ts';
import { choosePublished } from '../../../src/domain/publish-bound.ts';
import { withEarlierFixes } from '../../../src/service/triage/with-earlier-fixes.ts';
import { createUnsureAnalysis, sampleAnalysis, sampleBuild } from '../../support/sample-analysis.ts';

function createEarlierFix(number: string, files: readonly string[], isSame = false): FixedFailure {
  return {
    analysisId: `ana_${number}`,
    buildId: `bld_${number}`,
    pipeline: 'ci',
    number,
    at: '2026-10-12T09:00:00.000Z',
    isSame,
    files: [...files],
    commit: 'c0ffee',
    greenBuildId: `green_${number}`,
  };
}

describe('an earlier fix', () => {
  it('is suggested as a claim with its builds, and not as confirmed', () => {
    const before = ['3', '2', '1'].map((number) =>
      createEarlierFix(number, ['deploy/values.yaml', `src/${number}.ts`]),
    );
    const { answer, evidence, verdict } = withEarlierFixes(sampleAnalysis(), before);
    expect(answer.claims.at(-1)).toMatchObject({
      text: 'The last 3 failures of this kind were fixed by editing deploy/values.yaml (ci #3, ci #2, ci #1). No reviewer has confirmed this.',
      evidence: ['E2'],
    });
    expect(evidence.at(-1)?.text).toContain('ci #3, 2026-10-12: deploy/values.yaml, src/3.ts (c0ffee)');
    expect(verdict).toEqual(sampleAnalysis().verdict);
  });

  it('is suggested after one success for the same failure, and for a kind only if all agree', () => {
    const once = withEarlierFixes(sampleAnalysis(), [
      createEarlierFix('1', ['a.ts'], true),
      createEarlierFix('2', ['b.ts']),
    ]);
    expect(once.answer.claims.at(-1)?.text).toMatch(/^The same failure was fixed by editing a\.ts \(ci #1\)/);
    const apart = [createEarlierFix('2', ['a.ts']), createEarlierFix('1', ['b.ts'])];
    expect(withEarlierFixes(sampleAnalysis(), apart)).toEqual(sampleAnalysis());
    expect(withEarlierFixes(sampleAnalysis(), [createEarlierFix('1', ['a.ts'])])).toEqual(sampleAnalysis());
  });
});

describe('an answer that was right before', () => {
  const build = sampleBuild({ commit: 'f'.repeat(40) });
  const known = Array.from(
    { length: 200 },
    () => ({ route: 'tool error', stated: 0.9, right: true }) as const,
  );
  const floor = { maxWrong: 0.03, floor: 0.85 };
  const closed = choosePublished(known, floor);
  const precedents = Array.from(
    { length: 60 },
    () => ({ route: 'precedent', stated: 0.9, right: true }) as const,
  );
  const open = choosePublished([...known, ...precedents], floor);

  it('is published once the bound allows answers of its route', () => {
    const waiting = withPrecedent(build, createUnsureAnalysis(), { right: 1, wrong: 0 }, closed);
    expect(waiting.verdict).toMatchObject({ route: 'precedent', confidence: 0.9, action: 'human_review' });
    const published = withPrecedent(build, createUnsureAnalysis(), { right: 2, wrong: 0 }, open);
    expect(published.verdict).toMatchObject({ route: 'precedent', action: 'auto_notify' });
    expect(published.verdict.reasons[0]).toMatch(/answered so 2 times before/);
    expect(published.recalled).toBeNull();
  });

  it('needs review if one was wrong, or if the change touches a suspect', () => {
    expect(withPrecedent(build, createUnsureAnalysis(), { right: 5, wrong: 1 }, open)).toEqual(
      createUnsureAnalysis(),
    );
    expect(withPrecedent(build, createUnsureAnalysis(), { right: 0, wrong: 0 }, open)).toEqual(
      createUnsureAnalysis(),
    );
    expect(withPrecedent(sampleBuild(), createUnsureAnalysis(), { right: 5, wrong: 0 }, open)).toEqual(
      createUnsureAnalysis(),
    );
  });

  it('counts less with a grade that no person gave', () => {
    const doubtful = known.map((one) => ({ ...one, doubt: 0.05 }));
    expect(choosePublished(doubtful, floor).routes.some(({ published }) => published)).toBe(false);
    expect(closed.routes.some(({ published }) => published)).toBe(true);
  });
});
