import { describe, expect, test } from 'vitest';
import { computeSuspectScore, type SuspectSignals, UNCHANGED, WEIGHTS } from '../../src/judge/suspects.ts';

const LOG_ALONE: SuspectSignals = {
  log: 0.6,
  changedSinceGreen: null,
  sinceGreen: true,
  changedFiles: 0,
  changedLines: false,
  onlyAdds: false,
  sharedWords: 0,
  stillUsed: false,
  explainedElsewhere: false,
  blameDays: null,
  fixedBefore: false,
  imported: false,
  seenElsewhere: false,
};

const score = (signals: Partial<SuspectSignals>) => computeSuspectScore({ ...LOG_ALONE, ...signals });

describe('the score of a suspect', () => {
  test.each([0, 0.3, 0.6, 0.97])('is that of the log if nothing else is known: %f', (log) => {
    expect(score({ log })).toBe(log);
  });

  test.each<[string, Partial<SuspectSignals>]>([
    ['a change since the last green build', { changedSinceGreen: true, changedFiles: 3 }],
    ['a change of the named lines', { changedLines: true }],
    ['a fresh line', { blameDays: 0 }],
    ['a changed line with words of the failure', { changedSinceGreen: true, sharedWords: 1 }],
    ['a name taken away that is still used', { changedSinceGreen: true, stillUsed: true }],
    ['an earlier fix in it', { fixedBefore: true }],
    ['an import by the test', { imported: true }],
    ['a better place in the log', { log: 0.7 }],
  ])('rises with %s', (_name, signals) => {
    expect(score(signals)).toBeGreaterThan(score({}));
  });

  test('grows with the weight of a change, divided among many files', () => {
    const alone = (changedFiles: number) => score({ log: 0, changedSinceGreen: true, changedFiles });
    expect(alone(1)).toBe(WEIGHTS.changedSinceGreen);
    expect(alone(5)).toBe(WEIGHTS.changedSinceGreen);
    expect(alone(80)).toBeLessThan(alone(6));
    expect(alone(80)).toBeGreaterThan(0.2);
  });

  test('falls if the file is known to be unchanged', () => {
    expect(score({ changedSinceGreen: false, changedFiles: 3 })).toBeCloseTo(UNCHANGED * LOG_ALONE.log, 2);
  });

  test('rises less for lines that were only added, and falls if another change explains the failure', () => {
    const changed = { changedSinceGreen: true, changedFiles: 3 };
    expect(score({ ...changed, onlyAdds: true })).toBeLessThan(score(changed));
    expect(score({ ...changed, explainedElsewhere: true })).toBeLessThan(score(changed));
  });

  test('decays exponentially with the age of a line', () => {
    const [now, fortnight, year] = [0, 14, 365].map((blameDays) => score({ log: 0, blameDays }));
    expect(now).toBe(0.3);
    expect(fortnight).toBe(0.15);
    expect(year).toBe(0);
  });

  test('depends little on changes if the same failure occurred without them, and not on their absence', () => {
    const here = { changedSinceGreen: true, changedFiles: 2, changedLines: true, blameDays: 0 };
    expect(score({ ...here, seenElsewhere: true })).toBeLessThan(score(here));
    expect(score({ changedSinceGreen: false, seenElsewhere: true })).toBe(LOG_ALONE.log);
  });

  test('stays below certainty', () => {
    expect(
      score({
        log: 0.99,
        changedSinceGreen: true,
        changedLines: true,
        blameDays: 0,
        fixedBefore: true,
        imported: true,
      }),
    ).toBe(0.99);
  });
});
