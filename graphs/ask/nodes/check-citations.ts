import { checkStatements } from '../check-statements.ts';
import { type AskRuntime, contextOf } from '../context.ts';
import { finishedStep } from '../judge.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/** Keeps what holds: every citation exists and every quotation stands where it says. */
export async function checkCitations(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const startedAt = contextOf(runtime).clock.now();
  const { kept, leftOut } = checkStatements(state.reply, [...state.known, ...state.found], state.topic.analysis.answer);
  const summary = leftOut.length === 0 ? 'all statements are supported' : `${leftOut.length} left out: ${leftOut[0]?.reason}`;
  return {
    reply: [...kept],
    leftOut: [...leftOut],
    ...finishedStep(runtime, startedAt, { node: 'check_citations', round: state.rounds, summary }),
  };
}
