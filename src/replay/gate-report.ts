import type { BarOutcome, BarStatus, GateResult } from './gate.ts';
import type { JunitSuite, JunitTest } from './report.ts';

const INDENT = '  ';
const WORDS: Readonly<Record<BarStatus, string>> = { ok: 'ok', 'within-noise': 'noise', failed: 'FAILED' };
const MAX_NAMED = 10;

/**
 * Renders a gate for people: one line for the result, then one line for each bar, missed ones first with the
 * cases to look at.
 */
export function renderGate(gate: GateResult): string {
  const missed = gate.outcomes.filter(({ status }) => status === 'failed');
  const noisy = gate.outcomes.filter(({ status }) => status === 'within-noise');
  const count =
    `${gate.outcomes.length - missed.length} of ${gate.outcomes.length} bars ` +
    `held${noisy.length > 0 ? `, ${noisy.length} of them only within noise` : ''}`;
  const heading = `gate ${gate.file}: ${gate.ok ? 'passed' : 'FAILED'}, ${count}`;
  const rank: Readonly<Record<BarStatus, number>> = { failed: 0, 'within-noise': 1, ok: 2 };
  const sorted = gate.outcomes.toSorted((left, right) => rank[left.status] - rank[right.status]);
  return [heading, ...sorted.flatMap(formatLines)].join('\n');
}

function formatLines({ status, sentence, why, against }: BarOutcome): string[] {
  const more = against.length > MAX_NAMED ? ` and ${against.length - MAX_NAMED} more` : '';
  return [
    `${INDENT}${WORDS[status].padEnd(6)}  ${sentence}`,
    ...(status === 'ok' || why === null ? [] : [`${INDENT.repeat(5)}Why: ${why}`]),
    ...(status === 'ok' || against.length === 0
      ? []
      : [`${INDENT.repeat(5)}Look at: ${against.slice(0, MAX_NAMED).join(', ')}${more}`]),
  ];
}

/**
 * Converts the bars for a CI server: one suite for each data set, one test for each bar. A bar within noise
 * passes with a message in its output.
 */
export function toJunit(gate: GateResult): JunitSuite[] {
  const byDataset = Map.groupBy(gate.outcomes, ({ dataset }) => dataset);
  return [...byDataset].map(([dataset, outcomes]) => ({
    name: `gate: ${dataset}`,
    tests: outcomes.map(toTest),
  }));
}

function toTest({ figure, bar, status, sentence, why, against }: BarOutcome): JunitTest {
  const test = { name: bar === null ? figure : `${figure} ${bar}`, seconds: 0 };
  if (status === 'ok') return test;
  const lines = [
    sentence,
    ...(why === null ? [] : [`Why: ${why}`]),
    ...(against.length === 0 ? [] : [`Look at: ${against.join(', ')}`]),
  ];
  return status === 'failed'
    ? { ...test, failure: sentence, output: lines.join('\n') }
    : { ...test, output: lines.join('\n') };
}
