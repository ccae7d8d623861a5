import { getContext, type TriageRuntime } from '../context.ts';
import { createFinishedStep, getNow } from '../finished-step.ts';
import type { Conclusion, Report, TriageStateUpdate, TriageStateValue } from '../state.ts';
import { describeNewEvidence, INVESTIGATORS, numberEvidence, SEARCH_WEB } from '../tool-calls.ts';

/**
 * Joins the findings of the investigators in a fixed order, so that every finding has the same number no
 * matter which investigator finished first.
 */
export async function consolidate(
  state: TriageStateValue,
  runtime: TriageRuntime,
): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  const round = state.investigations + 1;
  const reports = INVESTIGATORS.flatMap((name) =>
    state.reports.filter(({ investigator }) => investigator === name),
  );
  const replies = reports.flatMap((report) => report.replies);
  const { found, outcomes } = numberEvidence(replies, state.evidence, state.rounds);
  const summary = `${reports.length} investigators, ${describeNewEvidence(found)}`;
  return {
    evidence: found,
    outcomes,
    reports: null,
    conclusions: [...state.conclusions, ...reports.map((report) => toConclusion(report, round))],
    investigations: round,
    webAsked: state.webAsked || replies.some((reply) => reply.call.tool === SEARCH_WEB),
    ...createFinishedStep(getContext(runtime), startedAt, { node: 'consolidate', round, summary }),
  };
}

function toConclusion({ investigator, conclusion, replies }: Report, round: number): Conclusion {
  return { investigator, round, text: conclusion, found: replies.some((reply) => reply.status === 'ok') };
}
