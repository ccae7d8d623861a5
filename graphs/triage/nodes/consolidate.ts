import type { TriageRuntime } from '../context.ts';
import { finishedStep, startWatch } from '../judge.ts';
import { numberEvidence } from '../number-evidence.ts';
import { INVESTIGATORS } from '../perspectives.ts';
import type { Conclusion, Report, TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Joins what the investigators brought, in a fixed order, so that every finding has one number whoever was first. */
export async function consolidate(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const round = state.investigations + 1;
  const reports = [...state.reports].sort((left, right) => placeOf(left) - placeOf(right));
  const replies = reports.flatMap((report) => report.replies);
  const { found, outcomes } = numberEvidence(replies, state.evidence, state.rounds);
  return {
    evidence: found,
    outcomes,
    reports: null,
    conclusions: [...state.conclusions, ...reports.map((report) => conclusionOf(report, round))],
    investigations: round,
    webAsked: state.webAsked || replies.some((reply) => reply.call.tool === 'search_web'),
    ...finishedStep(runtime, watch, {
      node: 'consolidate',
      round,
      summary: `${reports.length} investigators, ${found.length === 0 ? 'nothing new' : `${found.length} new: ${found.map((item) => item.id).join(', ')}`}`,
    }),
  };
}

function conclusionOf({ investigator, conclusion, replies }: Report, round: number): Conclusion {
  return { investigator, round, text: conclusion, found: replies.some((reply) => reply.status === 'ok') };
}

function placeOf(report: Report): number {
  return INVESTIGATORS.indexOf(report.investigator);
}
