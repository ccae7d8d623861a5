import { END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';
import type { Classification, Verdict } from '../../src/domain/analysis.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { ToolCall } from '../../src/domain/evidence.ts';
import { TriageSubject } from '../../src/domain/triage.ts';
import { formatConfidence, listNamedPaths } from '../../src/lib/text.ts';
import { askAnalyst } from '../triage/ask-analyst.ts';
import { computeSpent } from '../triage/budget.ts';
import { getContext, TriageContextSchema, type TriageRuntime } from '../triage/context.ts';
import { createFinishedStep, createJudgedStep, getNow, sumUsage } from '../triage/finished-step.ts';
import type { TriageGraph } from '../triage/graph.ts';
import { classify } from '../triage/nodes/classify.ts';
import { TriageLimits, TriageState, toInsight } from '../triage/state.ts';
import { createCallsStep, listAskableTools, numberEvidence, runTools } from '../triage/tool-calls.ts';

/** The state of a triage, plus the files that the log names, in the order in which they are found. */
const LinearState = new StateSchema({
  ...TriageState.fields,
  files: z.array(z.object({ path: z.string(), line: z.int().nullable() })).default([]),
});
export type LinearStateValue = typeof LinearState.State;
type LinearStateUpdate = typeof LinearState.Update;

/**
 * Compiles the linear baseline: the design that the agent's loop replaces, kept so that the gain of the loop
 * is measured and not only claimed. It classifies, searches once for similar failures, names the files that
 * the log names, and answers. It asks nothing twice and verifies nothing; the confidence of the
 * classification decides what is published. It uses the same analyst, toolbox, and reading as the loop, so
 * that only the design differs. Only replay runs it, never the service.
 */
export function compileLinearGraph() {
  return new StateGraph(LinearState, TriageContextSchema)
    .addNode('classify', classify)
    .addNode('search_similar', searchSimilar)
    .addNode('name_files', nameFiles)
    .addNode('generate_answer', generateAnswer)
    .addEdge(START, 'classify')
    .addEdge('classify', 'search_similar')
    .addEdge('search_similar', 'name_files')
    .addEdge('name_files', 'generate_answer')
    .addEdge('generate_answer', END)
    .compile({ name: 'linear' });
}

const Begun = z.object({ subject: TriageSubject, limits: TriageLimits });

/**
 * Returns the linear graph with the interface that callers of the triage graph expect. A run is never resumed
 * and never waits for a person.
 */
export function useLinearGraph(): Pick<TriageGraph, 'invoke' | 'getState'> {
  const graph = compileLinearGraph();
  const invoke: TriageGraph['invoke'] = async (input, options) => {
    const begun = Begun.safeParse(input);
    if (!begun.success)
      throw new TriageError('internal', 'A run of the linear baseline cannot be resumed', {
        cause: begun.error,
      });
    const { context, configurable, signal } = options ?? {};
    return await graph.invoke(begun.data, {
      ...(context === undefined ? {} : { context }),
      ...(configurable === undefined ? {} : { configurable }),
      ...(signal === undefined ? {} : { signal }),
    });
  };
  return { invoke, getState: (config) => graph.getState(config) };
}

/** The tools that are always called, with their default arguments, because nothing chooses tools here. */
const SEARCHES = ['search_knowledge', 'search_error_library'];

/** Looks once for curated documents and decided failures like this one. */
async function searchSimilar(state: LinearStateValue, runtime: TriageRuntime): Promise<LinearStateUpdate> {
  const startedAt = getNow(runtime);
  const context = getContext(runtime);
  const { subject, classification } = toInsight(state);
  const { category } = classification;
  const offered = await listAskableTools(context.toolbox, category, subject, runtime.signal);
  const names = SEARCHES.filter((name) => offered.some((tool) => tool.name === name));
  const calls = names.map((tool): ToolCall => ({ tool, args: {}, why: 'asked for every failure' }));
  const asked = await runTools(
    calls,
    { limits: state.limits, spent: computeSpent(state), subject, category },
    runtime,
  );
  return {
    evidence: numberEvidence(asked.replies, state.evidence, 1).found,
    outcomes: asked.replies.map((reply) => ({ ...reply, findings: [] })),
    usage: { ...sumUsage(asked.corrections), toolCalls: asked.replies.length },
    ...createFinishedStep(context, startedAt, {
      node: 'search_similar',
      round: 0,
      ...createCallsStep(asked),
    }),
  };
}

/** Stores the files that the log names. */
async function nameFiles(state: LinearStateValue, runtime: TriageRuntime): Promise<LinearStateUpdate> {
  const startedAt = getNow(runtime);
  const files = listNamedFiles(state.subject);
  const summary = `${files.length} ${files.length === 1 ? 'file' : 'files'} named`;
  return {
    files,
    ...createFinishedStep(getContext(runtime), startedAt, { node: 'name_files', round: 0, summary }),
  };
}

/** Maximum number of files, the same as in the loop. */
const MAX_FILES = 10;

/**
 * Returns the file paths in the log in the order in which a simple reader finds them: frames of our own code,
 * files of diagnostics, then paths in the excerpts. Returns each path once, at most ten. Does not look for
 * production files of a test or imports, and does not rank by probability.
 */
export function listNamedFiles({
  exceptions,
  diagnostics,
  excerpts,
}: TriageSubject): LinearStateValue['files'] {
  const frames = exceptions.flatMap((thrown) => thrown.frames.filter(({ own }) => own));
  const diagnosed = diagnostics.flatMap(({ severity, file, line }) =>
    severity === 'error' && file !== null ? [{ path: file, line }] : [],
  );
  const heaviest = [...excerpts].sort((left, right) => right.weight - left.weight);
  const found = [
    ...frames.map(({ file, line }) => ({ path: file, line })),
    ...diagnosed,
    ...listNamedPaths(heaviest.map(({ text }) => text)),
  ];
  const seen = new Set<string>();
  return found.filter(({ path }) => !seen.has(path) && seen.add(path)).slice(0, MAX_FILES);
}

/**
 * Writes the answer from the known facts, suspects the files that the log names, and publishes the answer if
 * its category is confident enough. Nothing is checked.
 */
async function generateAnswer(state: LinearStateValue, runtime: TriageRuntime): Promise<LinearStateUpdate> {
  const startedAt = getNow(runtime);
  const insight = toInsight(state);
  const judgment = await askAnalyst(
    runtime,
    { limits: state.limits, spent: computeSpent(state) },
    (analyst, signal) => analyst.answer(insight, signal),
  );
  const verdict = buildVerdict(insight.classification, state.limits);
  // The first file is the most suspicious.
  const suspects = state.files.map(({ path, line }, rank) => {
    return { path, line, commit: null, author: null, score: 1 / (rank + 1), reason: 'the log names it' };
  });
  const summary = `${judgment.value.title} (linear)`;
  return {
    answer: { ...judgment.value, suspects, confidence: verdict.confidence },
    verdict,
    termination: 'linear',
    ...createJudgedStep(runtime, startedAt, { node: 'generate_answer', round: 0, summary }, judgment),
  };
}

function buildVerdict({ confidence, abstained }: Classification, { thresholds }: TriageLimits): Verdict {
  const isSure = !abstained && confidence >= thresholds.autoNotify;
  const reason =
    `the category has a probability of ${formatConfidence(confidence)}; ` +
    'nothing was verified (linear baseline)';
  return {
    grades: {},
    unsupportedClaims: [],
    gaps: [],
    confidence,
    action: isSure ? 'auto_notify' : 'human_review',
    reasons: [reason],
  };
}
