import { getCallKey, type ToolCall } from '../../../src/domain/evidence.ts';
import type { Analyst } from '../../../src/ports/analyst.ts';
import { askAnalyst } from '../ask-analyst.ts';
import { computeSpent } from '../budget.ts';
import { getContext, type TriageRuntime } from '../context.ts';
import { createJudgedStep, getNow } from '../finished-step.ts';
import { NOTHING_PLANNED, type TriageStateUpdate, type TriageStateValue, toInsight } from '../state.ts';
import {
  type CheckedCalls,
  checkCalls,
  findTolerated,
  limitWebQueries,
  listOfferedTools,
  SEARCH_WEB,
  withoutFindings,
} from '../tool-calls.ts';

/**
 * Chooses the independent calls of this round, and never the same call twice. A call that is not allowed is
 * refused with a sentence that the next round sees.
 */
export async function selectTool(
  state: TriageStateValue,
  runtime: TriageRuntime,
): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  // The verdict stays in the state while the loop continues. Only the first choice after it may search the
  // web.
  const askWeb = state.verdict?.action === 'web_search' && !state.webAsked;
  const offered = await listOfferedTools(state, askWeb, runtime);
  const plan = (askWeb ? null : state.plan) ?? NOTHING_PLANNED;
  const input = { ...toInsight(state), plan, offered };
  const judgment = await askAnalyst(
    runtime,
    { limits: state.limits, spent: computeSpent(state) },
    (analyst, signal) => analyst.chooseTools(input, signal),
  );
  const tolerated = askWeb ? [] : await findTolerated(state, runtime);
  const chosen = askWeb ? await ensureQuery(judgment.value, input, runtime) : judgment.value;
  const askable = [...offered, ...tolerated];
  const wanted = limitWebQueries(addPostponed(chosen, state, askable), state.outcomes);
  const checked = checkCalls(wanted, askable, state.outcomes);
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
    ...createJudgedStep(runtime, startedAt, step, judgment),
    notes: [...(judgment.note === null ? [] : [judgment.note]), ...notes],
  };
}

/**
 * Puts the calls that had to wait for this round before the chosen ones, as far as they are still allowed.
 */
function addPostponed(
  chosen: readonly ToolCall[],
  { surplus }: Pick<TriageStateValue, 'surplus'>,
  askable: readonly { readonly name: string }[],
): ToolCall[] {
  const postponed = surplus.filter(({ tool }) => askable.some(({ name }) => name === tool));
  const keys = new Set(postponed.map(getCallKey));
  return [...postponed, ...chosen.filter((call) => !keys.has(getCallKey(call)))];
}

/** Returns the chosen queries for the web, or that of the fallback analyst if the analyst has none. */
async function ensureQuery(
  chosen: readonly ToolCall[],
  input: Parameters<Analyst['chooseTools']>[0],
  runtime: TriageRuntime,
): Promise<readonly ToolCall[]> {
  const queries = chosen.filter(({ tool }) => tool === SEARCH_WEB);
  const { fallbackAnalyst } = getContext(runtime);
  if (queries.length > 0 || fallbackAnalyst === undefined) return queries;
  return (await fallbackAnalyst.chooseTools(input, runtime.signal)).value;
}

function summarizeCalls({ calls, surplus, refused }: CheckedCalls): string {
  const [now, later] = [calls, surplus].map((some) => some.map((call) => call.tool).join(', '));
  const others = refused.length === 0 ? '' : `${refused.length} refused`;
  const parts = [now, later && `${later} in the next round`, others];
  return parts.filter(Boolean).join('; ') || 'no further question would help';
}
