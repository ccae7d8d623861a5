import { describe, expect, it } from 'vitest';
import type { LabelledFailure } from '../../../src/replay/cases/labelled-failure.ts';
import { scoreBuilds } from '../../../src/replay/figures/builds/builds.ts';
import { scoreCases } from '../../../src/replay/figures/score.ts';
import { renderFigures } from '../../../src/replay/report.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import type { AnalysisResult } from '../../../src/replay/run/results.ts';
import { createReplayed } from './cases.ts';

const SUM = catchFailure('sums the cart', 'expected 3 to be 4', 'sum', 'TEST_FAILURE', [10, 14]);
const SAVE = catchFailure(
  'saves the order',
  'connect ECONNREFUSED 127.0.0.1:6379',
  'redis',
  'INFRA_ERROR',
  [20, 24],
);
const LOAD = catchFailure(
  'loads the order',
  'connect ECONNREFUSED 127.0.0.1:6379',
  'redis',
  'INFRA_ERROR',
  [30, 34],
);
const SUM_ANSWER = answer({
  tests: ['sums the cart'],
  title: 'sums the cart: expected 3 to be 4',
  category: 'TEST_FAILURE',
});
const REDIS_ANSWER = answer({
  tests: ['saves the order', 'loads the order'],
  title: 'Redis does not answer',
  quotes: [[22, 'Error: connect ECONNREFUSED 127.0.0.1:6379']],
  category: 'INFRA_ERROR',
});

describe('figures of builds with several failures', () => {
  it('are perfect if each failure is answered with its own evidence', () => {
    expect(computeFigures(build([SUM, SAVE, LOAD], [SUM_ANSWER, REDIS_ANSWER]))).toEqual({
      'failures: answered': 1,
      'failures: own message': 1,
      'failures: bleed': 0,
      'failures: shared title': 0,
      'failures: category': 1,
      'failures: pairs precision': 1,
      'failures: pairs recall': 1,
      'failures: tests precision': 1,
      'failures: tests recall': 1,
      'failures: published wrong': 0,
    });
  });

  it('count a failure as missed that no answer names', () => {
    const figures = computeFigures(build([SUM, SAVE, LOAD], [SUM_ANSWER]));
    expect(figures).toMatchObject({
      'failures: answered': 1 / 3,
      'failures: own message': 1 / 3,
      'failures: category': 1 / 3,
    });
    expect(figures['failures: pairs recall']).toBe(0);
  });

  it("count a failure as missed if the answer has another failure's words", () => {
    const vague = {
      ...SUM_ANSWER,
      title: 'A test failed',
      rootCause: 'Something in the cart was not as expected.',
    };
    expect(computeFigures(build([SUM, SAVE], [vague, REDIS_ANSWER]))['failures: own message']).toBe(0.5);
  });

  it('count an answer that states the cause of another failure, in its title, its fix, or its cause alone', () => {
    const told = 'connect ECONNREFUSED 127.0.0.1:6379';
    const wrong = [
      { title: `sums the cart: ${told}` },
      { fixRecommendation: `Mend "${told}".` },
      { rootCause: `It died of ${told}` },
    ];
    for (const said of wrong) {
      const figures = computeFigures(
        build([SUM, SAVE], [{ ...SUM_ANSWER, ...said }, answer({ ...REDIS, tests: ['saves the order'] })]),
      );
      expect(figures['failures: bleed']).toBe(0.5);
    }
    const both = { ...SUM_ANSWER, rootCause: `expected 3 to be 4, and beside it ${told}` };
    expect(computeFigures(build([SUM, SAVE], [both, REDIS_ANSWER]))['failures: bleed']).toBe(0);
  });

  it('count answers to other causes with the same title', () => {
    const same = answer({ ...REDIS, tests: ['sums the cart'] });
    expect(computeFigures(build([SUM, SAVE], [same, REDIS_ANSWER]))['failures: shared title']).toBe(1);
    expect(
      computeFigures(
        build(
          [SUM, SAVE],
          [{ ...REDIS_ANSWER, failingTests: [SUM, SAVE].map(({ test }) => toTest(test ?? '')) }],
        ),
      ),
    ).toMatchObject({
      'failures: shared title': 0,
      'failures: pairs precision': 0,
    });
  });

  it('do not count it if the other message is part of its own, or of the same cause', () => {
    const longer = { ...SAVE, cause: 'other', test: 'x', message: `${SAVE.message} after 3 tries` };
    const said = answer({ tests: ['x'], title: longer.message, category: 'INFRA_ERROR' });
    expect(computeFigures(build([longer, SAVE, LOAD], [said, REDIS_ANSWER]))['failures: bleed']).toBe(0);
  });

  it('count a wrong category, and accept an alternative that is right too', () => {
    const called = { ...SUM_ANSWER, category: 'CODE_ERROR', action: 'human_review' };
    expect(computeFigures(build([SUM, SAVE], [called, REDIS_ANSWER]))['failures: category']).toBe(0.5);
    expect(
      computeFigures(build([{ ...SUM, also_ok: ['CODE_ERROR'] }, SAVE], [called, REDIS_ANSWER]))[
        'failures: category'
      ],
    ).toBe(1);
  });

  it('count pairs: one answer for two causes lowers precision, two answers for one cause lower recall', () => {
    const all = answer({ ...REDIS, tests: ['sums the cart', 'saves the order', 'loads the order'] });
    expect(computeFigures(build([SUM, SAVE, LOAD], [all]))).toMatchObject({
      'failures: pairs precision': 1 / 3,
      'failures: pairs recall': 1,
    });
    const apart = [
      SUM_ANSWER,
      ...['saves the order', 'loads the order'].map((test) => answer({ ...REDIS, tests: [test] })),
    ];
    const figures = computeFigures(build([SUM, SAVE, LOAD], apart));
    expect(figures['failures: pairs precision']).toBeUndefined();
    expect(figures['failures: pairs recall']).toBe(0);
  });

  it('count tests that did not fail, and those that were not named', () => {
    const named = build([SUM, SAVE], [SUM_ANSWER], {
      failingTests: ['sums the cart', 'retried'].map(toTest),
    });
    expect(computeFigures(named)).toMatchObject({
      'failures: tests precision': 0.5,
      'failures: tests recall': 0.5,
    });
    const green = build([], [], { failingTests: [toTest('adds')], failureFound: true }, { green: true });
    expect(computeFigures(green)['failures: tests precision']).toBe(0);
  });

  it('count a test in each log that it failed in, and a file that failed as a whole as rightly named', () => {
    const jobs = ['linux', 'macos'].map((log) => ({ ...SUM, log }));
    const twice = build(jobs, [SUM_ANSWER], { failingTests: ['sums the cart', 'sums the cart'].map(toTest) });
    expect(computeFigures(twice)).toMatchObject({
      'failures: tests precision': 1,
      'failures: tests recall': 1,
    });
    const file = { ...SAVE, test: null, suite: 'orders.test.ts' };
    const whole = build([SUM, file], [SUM_ANSWER], {
      failingTests: ['sums the cart', 'orders.test.ts'].map(toTest),
    });
    expect(computeFigures(whole)).toMatchObject({
      'failures: tests precision': 1,
      'failures: tests recall': 1,
    });
  });

  it('count a passed run with a failure found, and one whose answer is published', () => {
    const loud = build([], [SUM_ANSWER], { failureFound: true }, { green: true });
    expect(computeFigures(loud)).toEqual({
      'failures: green called green': 0,
      'failures: published wrong': 1,
    });
    const quiet = build([], [SUM_ANSWER], { failureFound: false }, { green: true });
    expect(computeFigures(quiet)).toEqual({ 'failures: green called green': 1 });
  });

  it("count published answers with a category that fits none, with another's cause for all, or about no failure", () => {
    const published = (...answers: AnalysisResult[]) =>
      computeFigures(build([SUM, SAVE], answers))['failures: published wrong'];
    expect(published({ ...SUM_ANSWER, category: 'DEPENDENCY_ERROR' }, REDIS_ANSWER)).toBe(0.5);
    expect(published({ ...SUM_ANSWER, title: 'connect ECONNREFUSED 127.0.0.1:6379' }, REDIS_ANSWER)).toBe(
      0.5,
    );
    expect(
      published(SUM_ANSWER, REDIS_ANSWER, answer({ tests: ['retried'], category: 'TEST_FAILURE' })),
    ).toBeCloseTo(1 / 3);
    expect(published(SUM_ANSWER, { ...REDIS_ANSWER, category: 'CODE_ERROR', action: 'human_review' })).toBe(
      0,
    );
  });

  it('score linters and compilers by answers and words only, with one cause per step', () => {
    const findings = ["'total' is assigned but never used", 'Unexpected console statement'].map(
      (message, at) => ({
        message,
        log_lines: [[5 + at, 5 + at] as [number, number]],
        cause: `rule ${at}`,
        category: 'CODE_ERROR' as const,
      }),
    );
    const said = answer({
      title: findings[0]?.message ?? '',
      quotes: findings.map(({ message }, at) => [5 + at, `  2:7  error  ${message}`]),
    });
    expect(
      computeFigures(build(findings, [{ ...said, category: 'INFRA_ERROR' }], {}, { runner: 'eslint 9' })),
    ).toEqual({
      'failures: answered': 1,
      'failures: own message': 1,
      'failures: pairs precision': 1,
      'failures: pairs recall': 1,
    });
  });

  it('are shown in the table in total, by runner and by split', () => {
    const cases = [
      build([SUM, SAVE], [SUM_ANSWER, REDIS_ANSWER], {}, { id: 'a', runner: 'jest', split: 'work' }),
      build([SUM, SAVE], [SUM_ANSWER], {}, { id: 'b', runner: 'pytest', split: 'held' }),
    ];
    const sections = scoreCases(cases, 1_000);
    const titles = sections
      .map(({ title }) => title)
      .filter((title) => title.startsWith('failures of builds'));
    expect(titles).toEqual([
      'failures of builds',
      'failures of builds, by runner',
      'failures of builds, by split',
    ]);
    const figures = sections.flatMap((section) => section.figures);
    const valueFor = (name: string) => figures.find((figure) => figure.name === name)?.value;
    expect([
      valueFor('failures: answered'),
      valueFor('failures: answered, jest'),
      valueFor('failures: answered, split held'),
    ]).toEqual([0.75, 1, 0.5]);
    expect(figures.find(({ name }) => name === 'failures: answered')?.against).toEqual(['b']);
    expect(new Set(figures.map(({ name }) => name)).size).toBe(figures.length);
    expect(renderFigures('x', sections)).toMatch(/^ {2}pytest .* 0\.500/m);
  });

  it('are not shown for rows without them, and only for tests if nothing was answered', () => {
    expect(scoreBuilds([createReplayed({ category: 'CODE_ERROR' })])).toEqual([]);
    const read = build([SUM], [], { analyst: null, failingTests: [toTest('sums the cart')] });
    expect(computeFigures(read)).toEqual({ 'failures: tests precision': 1, 'failures: tests recall': 1 });
  });
});

const REDIS = {
  title: 'Redis does not answer',
  quotes: [[22, 'connect ECONNREFUSED 127.0.0.1:6379']] as Quoted[],
  category: 'INFRA_ERROR',
};

type Quoted = readonly [line: number, text: string];

function catchFailure(
  test: string,
  message: string,
  cause: string,
  category: LabelledFailure['category'],
  lines: [number, number],
): LabelledFailure {
  return { test, message, cause, category, log_lines: [lines] };
}

interface Said {
  readonly tests?: readonly string[];
  readonly title: string;
  readonly quotes?: readonly Quoted[];
  readonly category?: string;
}

function answer({
  tests = [],
  title = '',
  quotes = [],
  category = 'TEST_FAILURE',
}: Partial<Said>): AnalysisResult {
  return {
    category,
    kind: null,
    probabilities: {},
    confidence: 0.9,
    abstained: false,
    title,
    rootCause: '',
    fixRecommendation: '',
    claims: quotes.map(([line, text]) => ({ text: '', quotes: [{ source: 'log', line, text }] })),
    suspects: [],
    failingTests: tests.map(toTest),
    fingerprint: null,
    action: 'auto_notify',
    analyst: 'rules',
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    answerConfidence: 0.9,
  };
}

function toTest(name: string): AnalysisResult['failingTests'][number] {
  return { name, suite: null, file: null, line: null };
}

function build(
  failures: readonly LabelledFailure[],
  analyses: readonly AnalysisResult[],
  result: Parameters<typeof createReplayed>[1] = {},
  row: Parameters<typeof createReplayed>[0] = {},
): ReplayedCase {
  const failingTests = failures.flatMap(({ test }) => (test == null ? [] : [toTest(test)]));
  return createReplayed(
    { ...row, failures: [...failures] },
    { analyst: 'rules', failureFound: true, failingTests, ...result, analyses },
  );
}

function computeFigures(replayed: ReplayedCase): Record<string, number> {
  const [section] = scoreBuilds([replayed]);
  return Object.fromEntries((section?.figures ?? []).map(({ name, value }) => [name, value]));
}
