import { expect, it } from 'vitest';
import { computeExitCode } from '../../src/cli/triage/triage-command.ts';
import type { Analysis } from '../../src/domain/analysis.ts';
import { createUnsureAnalysis, sampleAnalysis } from '../support/sample-analysis.ts';

const code = sampleAnalysis();
const infra = sampleAnalysis({ category: 'INFRA_ERROR' });
const unsure = createUnsureAnalysis();

it.each<[string, (readonly Analysis[])[], number]>([
  ['every answer is sure', [[code, infra]], 0],
  ['one of several needs review', [[infra, unsure]], 10],
  ['one needs review in another file', [[infra], [], [unsure]], 10],
  ['all are INFRA_ERROR', [[infra, infra], [], [infra]], 11],
  ['one of them is not INFRA_ERROR', [[infra], [code]], 0],
  ['nothing failed', [[], []], 5],
])('triage --exit-code returns the right code if %s', (_what, inputs, exit) => {
  expect(computeExitCode(inputs, { exitCode: true })).toBe(exit);
});

it('without --exit-code, only a log without a failure changes the exit code', () => {
  expect(computeExitCode([[unsure, infra]], {})).toBe(0);
  expect(computeExitCode([[]], {})).toBe(5);
});
