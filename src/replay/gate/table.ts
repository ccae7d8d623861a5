import type { BarOutcome, BarStatus, GateResult } from './gate-result.ts';

const INDENT = '  ';
const WORDS: Readonly<Record<BarStatus, string>> = { ok: 'ok', 'within-noise': 'noise', failed: 'FAILED' };
const MOST_NAMED = 10;

/** A gate for people: one line how it ended, one a bar, the missed ones first with the cases to look at. */
export function renderGate(gate: GateResult): string {
  const missed = gate.outcomes.filter(({ status }) => status === 'failed');
  const noisy = gate.outcomes.filter(({ status }) => status === 'within-noise');
  const count = `${gate.outcomes.length - missed.length} of ${gate.outcomes.length} bars held${noisy.length > 0 ? `, ${noisy.length} of them only within noise` : ''}`;
  const heading = `gate ${gate.file}: ${gate.ok ? 'passed' : 'FAILED'}, ${count}`;
  const rank: Readonly<Record<BarStatus, number>> = { failed: 0, 'within-noise': 1, ok: 2 };
  const sorted = gate.outcomes.toSorted((left, right) => rank[left.status] - rank[right.status]);
  return [heading, ...sorted.flatMap(linesOf)].join('\n');
}

function linesOf({ status, sentence, why, against }: BarOutcome): string[] {
  const more = against.length > MOST_NAMED ? ` and ${against.length - MOST_NAMED} more` : '';
  return [
    `${INDENT}${WORDS[status].padEnd(6)}  ${sentence}`,
    ...(status === 'ok' || why === null ? [] : [`${INDENT.repeat(5)}Why: ${why}`]),
    ...(status === 'ok' || against.length === 0 ? [] : [`${INDENT.repeat(5)}Look at: ${against.slice(0, MOST_NAMED).join(', ')}${more}`]),
  ];
}
