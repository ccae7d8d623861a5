import { ReducedValue, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';
import {
  Answer,
  Classification,
  NO_USAGE,
  Step,
  TerminationReason,
  Usage,
  Verdict,
  VerdictMark,
} from '../../src/domain/analysis.ts';
import { CalibrationInUse } from '../../src/domain/calibration.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { Evidence, ToolCall, ToolOutcome } from '../../src/domain/evidence.ts';
import { PublishBound } from '../../src/domain/publish-bound.ts';
import { TriageSubject } from '../../src/domain/triage.ts';
import type { Insight, Plan } from '../../src/ports/analyst.ts';

/**
 * Limits of a run, and the thresholds of its verdict. They are passed with the subject, so that every route
 * is a function of the state alone.
 */
export const TriageLimits = z.object({
  maxIterations: z.int().min(1),
  /** The maximum number of times that verify may send an answer back. */
  maxCorrections: z.int().min(0),
  /**
   * The lower limits of the confidence, 0..1: an answer is published from `autoNotify`, reviewed by a person
   * from `humanReview`, and sent back from `selfCorrect`. Below that, the web is searched once.
   */
  thresholds: z.object({ autoNotify: z.number(), humanReview: z.number(), selfCorrect: z.number() }),
  /**
   * The resources that a run may use. When they are used up, it ends with the facts that are known. Null or
   * absent means no limit.
   */
  budget: z
    .object({ tokens: z.number().nullable(), costUsd: z.number().nullable(), seconds: z.number().nullable() })
    .optional(),
  /**
   * The condition under which investigators work in parallel, and the maximum number of their rounds. If
   * absent, they never do.
   */
  investigators: z
    .object({ when: z.enum(['never', 'complex', 'always']), rounds: z.int().min(1) })
    .optional(),
  /**
   * The calibrations of stated confidence, one for each analyst. A run keeps those it started with. If
   * absent, the confidence is used as stated.
   */
  calibrations: z.array(CalibrationInUse).optional(),
  /**
   * The kinds of answers whose measured error rate allows publishing. If absent, all answers that are
   * confident enough may be published.
   */
  bound: PublishBound.optional(),
});
export type TriageLimits = z.infer<typeof TriageLimits>;

/** The perspectives of a fan-out: the code, earlier failures, and documents. */
export const Investigator = z.enum(['code', 'history', 'documents']);
export type Investigator = z.infer<typeof Investigator>;

/**
 * The result of one investigator in one round. Its findings are numbered when all investigators are finished.
 */
export const Report = z.object({
  investigator: Investigator,
  replies: z.array(ToolOutcome),
  conclusion: z.string(),
});
export type Report = z.infer<typeof Report>;

/** The conclusion of an investigator. `found` is true if a tool found something in this round. */
export const Conclusion = z.object({
  investigator: Investigator,
  round: z.int(),
  text: z.string(),
  found: z.boolean(),
});
export type Conclusion = z.infer<typeof Conclusion>;

/** A question to a person that the run waits for. */
const PendingQuestion = z.object({ id: z.string(), text: z.string() });

/** The conclusion of `reason` in the last round. */
const PlanState = z.object({
  thought: z.string(),
  confidence: z.number(),
  enough: z.boolean(),
  retrieval: z.number(),
  gaps: z
    .array(z.object({ missing: z.string(), tool: z.string().nullable(), blocks: z.boolean() }))
    .default([]),
  calls: z.array(ToolCall).optional(),
});

/** This plan is used if tools are chosen before anything was planned. */
export const NOTHING_PLANNED: Plan = { thought: '', confidence: 0, enough: false, retrieval: 0 };

/** Creates a list field that nodes append to. */
export const appended = <Item extends z.ZodType>(item: Item) =>
  new ReducedValue(
    z.array(item).default(() => []),
    { inputSchema: z.array(item), reducer: (current, next) => [...current, ...next] },
  );

/**
 * Fields that every run of a graph accumulates: cost, finished nodes, notes for people, prompts, and the
 * model.
 */
export const accountFields = {
  usage: new ReducedValue(Usage.default(NO_USAGE), { inputSchema: Usage, reducer: addUsage }),
  steps: appended(Step),
  notes: appended(z.string()),
  promptHashes: new ReducedValue(z.record(z.string(), z.string()).default({}), {
    inputSchema: z.record(z.string(), z.string()),
    reducer: (current, next) => ({ ...current, ...next }),
  }),
  model: z.string().nullable().default(null),
};

/**
 * The state of one triage. The raw log is never in here, only excerpts and findings, so that a checkpoint
 * stays small.
 */
export const TriageState = new StateSchema({
  subject: TriageSubject,
  limits: TriageLimits,
  classification: Classification.nullable().default(null),
  /** All evidence, numbered in order of arrival. The list only grows. */
  evidence: appended(Evidence),
  plan: PlanState.nullable().default(null),
  /** The number of rounds begun, counted in `reason`. */
  rounds: z.int().default(0),
  /** The calls chosen for this round. */
  calls: z.array(ToolCall).default(() => []),
  /** The chosen calls that must wait for the next round. */
  surplus: z.array(ToolCall).default(() => []),
  /** The replies of this round with their findings, until `observe` has numbered them. */
  replies: z.array(ToolOutcome).default(() => []),
  /** All calls made so far. Their findings are in `evidence`. */
  outcomes: appended(ToolOutcome),
  /** The number of consecutive rounds without a successful tool call or a reviewer's answer. */
  fruitless: z.int().default(0),
  /** The number of consecutive rounds in which no tool was relevant. */
  idle: z.int().default(0),
  /**
   * Reports of this round, until `consolidate` merges them. An update with null clears the list.
   */
  reports: new ReducedValue(
    z.array(Report).default(() => []),
    {
      inputSchema: z.array(Report).nullable(),
      reducer: (current, next) => (next === null ? [] : [...current, ...next]),
    },
  ),
  /** The conclusions of the investigators, round by round. */
  conclusions: z.array(Conclusion).default(() => []),
  /** The number of rounds of investigators whose findings were consolidated. */
  investigations: z.int().default(0),
  /** The question to a reviewer for which the run waits. Null if there is none. */
  question: PendingQuestion.nullable().default(null),
  answer: Answer.nullable().default(null),
  termination: TerminationReason.nullable().default(null),
  verdict: Verdict.nullable().default(null),
  /** Gaps that verify found. They are given to the next round. */
  gaps: z.array(z.string()).default(() => []),
  /** The number of calls made before the last verdict. A new answer needs at least one more. */
  callsAtVerdict: z.int().default(0),
  /**
   * The number of evidence items at the last verdict. If it has not grown, another answer would be the same.
   */
  evidenceAtVerdict: z.int().default(0),
  /** Every verdict, in order. */
  verdicts: appended(VerdictMark),
  /** The number of times that verify sent the answer back. */
  corrections: z.int().default(0),
  /** True if the web was searched. It is searched only once. */
  webAsked: z.boolean().default(false),
  ...accountFields,
});

export type TriageStateValue = typeof TriageState.State;
export type TriageStateUpdate = typeof TriageState.Update;

export function addUsage(current: Usage, next: Usage): Usage {
  return {
    inputTokens: current.inputTokens + next.inputTokens,
    outputTokens: current.outputTokens + next.outputTokens,
    costUsd: current.costUsd + next.costUsd,
    modelCalls: current.modelCalls + next.modelCalls,
    toolCalls: current.toolCalls + next.toolCalls,
    iterations: current.iterations + next.iterations,
  };
}

/**
 * Returns what is known so far, as input for every judgement after `classify`. Throws `internal` before that.
 */
export function toInsight(state: TriageStateValue): Insight {
  if (state.classification === null)
    throw new TriageError('internal', 'The triage graph reached a judgement before classify');
  return {
    subject: state.subject,
    classification: state.classification,
    evidence: state.evidence,
    outcomes: state.outcomes,
    chosenRounds: state.steps
      .filter(({ node, by }) => node === 'select_tool' && by === 'llm')
      .map(({ round }) => round),
    round: Math.max(1, state.rounds),
    gaps: state.gaps,
    ...(state.conclusions.length === 0
      ? {}
      : { conclusions: state.conclusions.map(({ investigator, text }) => `${investigator}: ${text}`) }),
  };
}

/**
 * The input of one investigator for one round: the known facts, the limits, and the resources already used.
 * It does not see the other investigators.
 */
export const Assignment = z.object({
  investigator: Investigator,
  /** The number of the round, from 1 on. */
  round: z.int(),
  limits: TriageLimits,
  spent: z.object({ tokens: z.number(), costUsd: z.number(), milliseconds: z.number() }),
  subject: TriageSubject,
  classification: Classification,
  evidence: z.array(Evidence),
  outcomes: z.array(ToolOutcome),
});
export type Assignment = z.infer<typeof Assignment>;

/** The input of `investigate`. */
export const AssignmentState = new StateSchema({ assignment: Assignment });
