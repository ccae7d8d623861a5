import type { ToolOutcome } from '../../../src/domain/evidence.ts';
import { askAnalyst } from '../ask-analyst.ts';
import { getContext, type TriageRuntime } from '../context.ts';
import { createFinishedStep, getNow, sumUsage, toCostUpdate, toJudgmentTrace } from '../finished-step.ts';
import { type Assignment, NOTHING_PLANNED, type TriageStateUpdate } from '../state.ts';
import {
  checkCalls,
  listAskableTools,
  pickInvestigatorTools,
  runTools,
  withoutFindings,
} from '../tool-calls.ts';

const MAX_CONCLUSION = 300;

/**
 * Runs one round of one investigator: chooses among the tools of its perspective, calls them in parallel, and
 * summarizes the results in one sentence. Investigators run concurrently; `consolidate` numbers their
 * findings.
 */
export async function investigate(
  { assignment }: { assignment: Assignment },
  runtime: TriageRuntime,
): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  const context = getContext(runtime);
  const { investigator, round, subject, classification, evidence, outcomes } = assignment;
  const { category } = classification;
  const nothingYet = round > 1 && !evidence.some((item) => item.tool.startsWith('search_'));
  const offered = pickInvestigatorTools(
    investigator,
    await listAskableTools(context.toolbox, category, subject, runtime.signal),
    nothingYet,
  );
  const finish = (
    replies: readonly ToolOutcome[],
    conclusion: string,
    extra: Partial<Parameters<typeof createFinishedStep>[2]> = {},
  ) => ({
    reports: [{ investigator, replies: [...replies], conclusion }],
    ...createFinishedStep(context, startedAt, {
      node: 'investigate',
      round,
      investigator,
      summary: `${investigator}: ${conclusion}`,
      ...extra,
    }),
  });
  if (offered.length === 0) return finish([], `no tool of this kind applies to ${category}`);
  const insight = { subject, classification, evidence, outcomes, round, gaps: [], investigator };
  const chosen = await askAnalyst(runtime, assignment, (analyst, signal) =>
    analyst.chooseTools({ ...insight, plan: NOTHING_PLANNED, offered }, signal),
  );
  const choice = toJudgmentTrace('select_tool', context.clock.now() - startedAt, chosen);
  // Each round of an investigator is independent, so that nothing waits for the next one.
  const { calls, refused, notes } = checkCalls(chosen.value, offered, outcomes, 0);
  const asked = await runTools(calls, { ...assignment, category }, runtime);
  const replies = [...refused, ...asked.replies];
  return {
    promptHashes: toCostUpdate('select_tool', chosen).promptHashes ?? {},
    usage: { ...sumUsage([chosen, ...asked.corrections]), toolCalls: asked.replies.length },
    notes: [...notes, ...[chosen, ...asked.corrections].flatMap(({ note }) => note ?? [])],
    ...finish(replies, summarizeReplies(asked.replies), {
      by: chosen.by,
      outcomes: replies.map(withoutFindings),
      judgements: [choice, ...asked.judgements],
    }),
  };
}

/** Summarizes the calls and their results. They are interpreted when all investigators have finished. */
function summarizeReplies(replies: readonly ToolOutcome[]): string {
  return (
    replies
      .map(({ call, summary }) => `${call.tool}: ${summary}`)
      .join('; ')
      .slice(0, MAX_CONCLUSION) || 'nothing to ask'
  );
}
