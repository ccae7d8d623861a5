import { callKey } from '../../../src/domain/evidence.ts';
import { computeSpent } from '../budget.ts';
import { getContext, type TriageRuntime } from '../context.ts';
import { getStartTime, judged, judgedStep } from '../judge.ts';
import { NOTHING_PLANNED, type TriageStateUpdate, type TriageStateValue, toInsight } from '../state.ts';
import { type CheckedCalls, checkCalls, offeredTools, withoutFindings } from '../tool-calls.ts';

/**
 * Picks the independent questions of this round; never the same question twice. What may not be asked is refused with a sentence that the next
 * round sees.
 */
export async function selectTool(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const startedAt = getStartTime(runtime);
  const insight = toInsight(state);
  // The verdict stays in the state while the loop goes on: the web's turn is the first choice after it, and only that.
  const askWeb = state.verdict?.action === 'web_search' && !state.webAsked;
  const offered = await offeredTools(state, askWeb, runtime);
  const plan = state.plan ?? NOTHING_PLANNED;
  const { analyst: chooser, fallbackAnalyst = chooser } = getContext(runtime);
  // The analyst that judged the answer has already decided to search the web, so the fallback analyst forms
  // the query.
  const judgement = await judged(runtime, { limits: state.limits, spent: computeSpent(state) }, (analyst, signal) =>
    (askWeb ? fallbackAnalyst : analyst).chooseTools({ ...insight, plan, offered }, signal),
  );
  const names = new Set(offered.map(({ name }) => name));
  const postponed = state.surplus.filter(({ tool }) => names.has(tool));
  const fresh = judgement.value.filter((call) => !postponed.some((one) => callKey(one) === callKey(call)));
  const checked = checkCalls([...postponed, ...fresh], offered, state.outcomes);
  const { calls, surplus, refused, notes } = checked;
  const step = {
    node: 'select_tool',
    round: state.rounds,
    summary: summarizeCalls(checked),
    ...(refused.length === 0 ? {} : { outcomes: refused.map(withoutFindings) }),
  };
  return {
    calls,
    surplus,
    replies: refused,
    idle: calls.length > 0 || refused.length > 0 ? 0 : state.idle + 1,
    webAsked: state.webAsked || askWeb,
    ...judgedStep(runtime, startedAt, step, judgement),
    notes: [...(judgement.note === null ? [] : [judgement.note]), ...notes],
  };
}

function summarizeCalls({ calls, surplus, refused }: CheckedCalls): string {
  const [now, later] = [calls, surplus].map((some) => some.map((call) => call.tool).join(', '));
  const others = refused.length === 0 ? '' : `${refused.length} refused`;
  const parts = [now, later && `${later} in the next round`, others];
  return parts.filter(Boolean).join('; ') || 'no further question would help';
}
