import type { ToolOutcome } from '../domain/evidence.ts';

/** More would bury the answer. */
const MAX_NOTES = 5;
const MAX_REASON = 160;

/**
 * One sentence for each tool whose provider was away or too slow, so that whoever reads the answer knows what it was made without. A tool
 * that could be asked after all, or that another one stood in for, is not named; what was never configured is nobody's failure.
 */
export function missingAnswers(outcomes: readonly Pick<ToolOutcome, 'call' | 'status' | 'summary' | 'answeredBy'>[]): string[] {
  const last = new Map(outcomes.map((outcome) => [outcome.call.tool, outcome]));
  return [...last.values()]
    .filter(({ status, answeredBy }) => (status === 'failed' || status === 'timed-out') && answeredBy === undefined)
    .slice(0, MAX_NOTES)
    .map(({ call, summary }) => `Made without ${call.tool}, which was unavailable: ${short(summary)}`);
}

function short(summary: string): string {
  const line = summary.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON)}…` : line;
}
