import { expect, test } from 'vitest';
import { withTried } from '../../src/domain/analysis.ts';
import type { Category } from '../../src/domain/category.ts';
import type { Experiment } from '../../src/domain/experiment.ts';
import type { FailureGroup } from '../../src/domain/reading.ts';
import { withExperiment } from '../../src/service/experiments.ts';
import { scoreGuesses } from '../../src/service/import.ts';
import { sampleAnalysis, sampleExperiment, sampleFailure } from '../support/sample-analysis.ts';

const { test: sample } = sampleFailure();
const analysis = sampleAnalysis();
const findGroup = (...names: readonly string[]): FailureGroup[] => {
  const failures = names.map((name) => sampleFailure({ test: sample === null ? null : { ...sample, name } }));
  return [{ fingerprint: { value: analysis.fingerprint }, failures }] as unknown as FailureGroup[];
};

test.each([
  ['all tests that were run failed for this cause', ['adds up', 'rounds'], ['cart › adds up'], true],
  ['one of them failed for another cause', ['adds up'], ['cart › adds up', 'tax › rounds'], false],
  ['the name only ends alike', ['up'], ['adds up'], false],
  ['no test was run and the cause has none', [], [], true],
  ['no test was run and the cause has one', ['adds up'], [], false],
] as const)('an experiment is assigned to an answer or not: %s', (_, failing, tests, belongs) => {
  const experiment = { ...sampleExperiment(), tests: [...tests] };
  const [answer] = withExperiment([analysis], findGroup(...failing), experiment);

  expect(answer?.experiment ?? null).toEqual(belongs ? experiment : (analysis.experiment ?? null));
});

test('suspects from the commit that broke the command come first', () => {
  const [suspect] = analysis.answer.suspects;
  if (suspect === undefined) throw new Error('no suspect');
  const suspects = ['a1', 'b2', null, 'b2'].map((commit, at) => ({ ...suspect, path: `${at}.ts`, commit }));
  const answer = { ...analysis, answer: { ...analysis.answer, suspects } };
  const bisection = {
    command: ['npm'],
    narrowed: null,
    tests: [],
    commits: 9,
    tried: [],
    skipped: [],
    confidence: 0.99,
    sentence: '',
    notes: [],
    verdict: 'found' as const,
    candidates: [{ commit: 'b2', author: 'Bea', subject: 'breaks' }],
  };
  const order = (tried: Experiment) => withTried(answer, tried).answer.suspects.map(({ path }) => path);

  expect(order(sampleExperiment({ bisection }))).toEqual(['1.ts', '3.ts', '0.ts', '2.ts']);
  expect(order(sampleExperiment({ bisection: { ...bisection, verdict: 'one-of' } }))).toEqual([
    '0.ts',
    '1.ts',
    '2.ts',
    '3.ts',
  ]);
});

test('a conflict between the origin in the text and in the experiment lowers the confidence', () => {
  const head = (kind: string, tried: Experiment['verdict'] | null, category: Category = 'TEST_FAILURE') => ({
    guess: { category, kind },
    tried,
  });
  const heads = [
    head('assertion', 'this-change'),
    head('assertion', 'flaky'),
    head('assertion', 'inconclusive'),
    head('assertion', null),
    head('flaky_timing', 'flaky'),
    head('flaky_timing', 'this-change'),
    head('network', 'not-this-change', 'INFRA_ERROR'),
  ];
  expect(scoreGuesses(heads)).toEqual([
    { said: 'this change', right: 1, of: 2 },
    { said: 'not this change', right: 1, of: 1 },
    { said: 'flaky', right: 1, of: 2 },
  ]);
  expect(scoreGuesses([])).toEqual([]);
});
