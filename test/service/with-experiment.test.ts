import { expect, test } from 'vitest';
import type { FailureGroup } from '../../src/domain/reading.ts';
import { withExperiment } from '../../src/service/experiments.ts';
import { sampleAnalysis, sampleExperiment, sampleFailure } from '../support/sample-analysis.ts';

const { test: sample } = sampleFailure();
const analysis = sampleAnalysis();
const groupOf = (...names: readonly string[]): FailureGroup[] => {
  const failures = names.map((name) => sampleFailure({ test: sample === null ? null : { ...sample, name } }));
  return [{ fingerprint: { value: analysis.fingerprint }, failures }] as unknown as FailureGroup[];
};

test.each([
  ['all tests that were run failed for this cause', ['adds up', 'rounds'], ['cart › adds up'], true],
  ['one of them failed for another cause', ['adds up'], ['cart › adds up', 'tax › rounds'], false],
  ['the name only ends alike', ['up'], ['adds up'], false],
  ['no test was run and the cause has none', [], [], true],
  ['no test was run and the cause has one', ['adds up'], [], false],
] as const)('an experiment belongs to an answer or not: %s', (_, failing, tests, belongs) => {
  const experiment = { ...sampleExperiment(), tests: [...tests] };
  const [answer] = withExperiment([analysis], groupOf(...failing), experiment);

  expect(answer?.experiment ?? null).toEqual(belongs ? experiment : (analysis.experiment ?? null));
});
