import { offeredTools } from '../askable-tools.ts';
import { spentOf } from '../budget.ts';
import { checkCalls } from '../choose-calls.ts';
import { contextOf, type TriageRuntime } from '../context.ts';
import { insightOf } from '../insight.ts';
import { costOf, finishedStep, judged, startWatch, traceOf } from '../judge.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/**
 * Picks the independent questions of this round; never the same question twice. What may not be asked is refused with a sentence that the next
 * round sees.
 */
export async function selectTool(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const insight = insightOf(state);
  // The verdict stays in the state while the loop goes on: the web's turn is the first choice after it, and only that.
  const askWeb = state.verdict?.action === 'web_search' && !state.webAsked;
  const offered = await offeredTools(state, askWeb, runtime);
  const plan = state.plan ?? { thought: '', confidence: 0, enough: false, retrieval: 0 };
  const { analyst: chooser, fallbackAnalyst = chooser } = contextOf(runtime);
  // Whoever judged the answer has decided that the web is asked; what for is no matter of opinion.
  const judgement = await judged(runtime, { limits: state.limits, spent: spentOf(state) }, (analyst, signal) =>
    (askWeb ? fallbackAnalyst : analyst).chooseTools({ ...insight, plan, offered }, signal),
  );
  const { calls, refused, notes } = checkCalls(judgement.value, offered, state.outcomes);
  const cost = costOf('select_tool', judgement);
  return {
    calls: [...calls],
    replies: [...refused],
    idle: calls.length > 0 || refused.length > 0 ? 0 : state.idle + 1,
    webAsked: state.webAsked || askWeb,
    ...cost,
    notes: [...(judgement.note === null ? [] : [judgement.note]), ...notes],
    ...finishedStep(runtime, watch, {
      node: 'select_tool',
      round: state.rounds,
      by: judgement.by,
      judgements: [traceOf(runtime, 'select_tool', watch.startedAt, judgement)],
      summary: summaryOf(calls.length, refused.length, calls),
      ...(refused.length === 0 ? {} : { outcomes: refused.map(({ findings: _findings, ...outcome }) => outcome) }),
    }),
  };
}

function summaryOf(kept: number, refused: number, calls: readonly { readonly tool: string }[]): string {
  const not = refused === 0 ? '' : `${refused} refused`;
  if (kept === 0) return refused === 0 ? 'no further question would help' : not;
  return [calls.map((call) => call.tool).join(', '), not].filter((part) => part !== '').join('; ');
}
