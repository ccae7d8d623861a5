import type { ToolCall } from '../../../src/domain/evidence.ts';
import { askableTools } from '../../triage/askable-tools.ts';
import { spentOf } from '../../triage/budget.ts';
import { contextOf, type TriageRuntime } from '../../triage/context.ts';
import { insightOf } from '../../triage/insight.ts';
import { finishedStep, startWatch, usageOf } from '../../triage/judge.ts';
import { numberEvidence } from '../../triage/number-evidence.ts';
import { runTools } from '../../triage/run-tools.ts';
import type { LinearStateUpdate, LinearStateValue } from '../state.ts';

/** What is always asked, in the tools' own default words: nobody chooses. */
const SEARCHES = ['search_knowledge', 'search_error_library'];

/** Looks once for curated documents and decided failures like this one. */
export async function searchSimilar(state: LinearStateValue, runtime: TriageRuntime): Promise<LinearStateUpdate> {
  const watch = startWatch(runtime);
  const { subject, classification } = insightOf(state);
  const offered = await askableTools(contextOf(runtime).toolbox, classification.category, subject, runtime.signal);
  const names = SEARCHES.filter((name) => offered.some((tool) => tool.name === name));
  const calls = names.map((tool): ToolCall => ({ tool, args: {}, why: 'asked for every failure' }));
  const run = { limits: state.limits, spent: spentOf(state), subject, category: classification.category };
  const { replies, corrections, judgements } = await runTools(calls, run, runtime);
  const outcomes = replies.map((reply) => ({ ...reply, findings: [] }));
  return {
    evidence: numberEvidence(replies, state.evidence, 1).found,
    outcomes,
    usage: { ...usageOf(corrections), toolCalls: replies.length },
    ...finishedStep(runtime, watch, {
      node: 'search_similar',
      round: 0,
      summary: replies.map((reply) => `${reply.call.tool}: ${reply.summary}`).join(' · '),
      outcomes: replies.map(({ findings: _findings, ...outcome }) => outcome),
      ...(judgements.length === 0 ? {} : { judgements: [...judgements] }),
    }),
  };
}
