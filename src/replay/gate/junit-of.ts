import type { JunitSuite, JunitTest } from '../report/junit.ts';
import type { BarOutcome, GateResult } from './gate-result.ts';

/** The bars as a CI server shows them: a suite a data set, a test a bar. What is within noise passes, and says so below. */
export function junitOf(gate: GateResult): JunitSuite[] {
  const byDataset = Map.groupBy(gate.outcomes, ({ dataset }) => dataset);
  return [...byDataset].map(([dataset, outcomes]) => ({ name: `gate: ${dataset}`, tests: outcomes.map(testOf) }));
}

function testOf({ figure, bar, status, sentence, why, against }: BarOutcome): JunitTest {
  const test = { name: bar === null ? figure : `${figure} ${bar}`, seconds: 0 };
  if (status === 'ok') return test;
  const lines = [sentence, ...(why === null ? [] : [`Why: ${why}`]), ...(against.length === 0 ? [] : [`Look at: ${against.join(', ')}`])];
  return status === 'failed' ? { ...test, failure: sentence, output: lines.join('\n') } : { ...test, output: lines.join('\n') };
}
