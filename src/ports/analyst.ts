import { z } from 'zod';
import {
  type Analysis,
  type Answer,
  type Classification,
  ConfidenceFactor,
  Grade,
  type ModelUsage,
} from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { Category, Kind } from '../domain/category.ts';
import type { Memory, Place, Statement, TopicFact, Understanding } from '../domain/conversation.ts';
import { type Evidence, ToolCall, type ToolOutcome } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { ToolDescription } from './toolbox.ts';

/** A judgment with its author and its cost. */
export interface Judgment<Value> {
  readonly value: Value;
  /** "rules", "llm", "recorded". */
  readonly by: string;
  readonly usage: ModelUsage;
  readonly model: string | null;
  /** The content hash of the prompt. Null if there was none. */
  readonly promptHash: string | null;
  /** The reason why the configured analyst did not make this judgement itself; stated in the analysis. */
  readonly note: string | null;
}

/** The known facts so far; the input of each judgement. */
export interface Insight {
  readonly subject: TriageSubject;
  readonly classification: Classification;
  readonly evidence: readonly Evidence[];
  readonly outcomes: readonly ToolOutcome[];
  /** The rounds whose calls a model chose; absent: all rounds of `outcomes`. */
  readonly chosenRounds?: readonly number[];
  /** The number of the round, from 1 on. */
  readonly round: number;
  /** The gaps that verify found when it sent the answer back. */
  readonly gaps: readonly string[];
  /** The conclusions of parallel investigators, one line each ("code: …"). Absent if there were none. */
  readonly conclusions?: readonly string[];
  /** The name of the parallel investigator that asks. Absent without parallel investigators. */
  readonly investigator?: string;
}

/** Something that is not known yet. */
const PlanGap = z.object({
  missing: z.string(),
  /** The offered tool that could answer it. Null if none can. */
  tool: z.string().nullable(),
  /** True if the cause cannot be named without it. */
  blocks: z.boolean(),
});
export type PlanGap = z.infer<typeof PlanGap>;

export const Plan = z.object({
  /** One or two sentences about the known and the missing facts. */
  thought: z.string(),
  /** The current confidence in the cause, from 0 to 1. */
  confidence: z.number(),
  /** True if the known facts are enough to name the cause. */
  enough: z.boolean(),
  /** The best similarity of anything retrieved from knowledge or library, from 0 to 1. */
  retrieval: z.number(),
  /** The gaps that are still open; absent if not stated. */
  gaps: z.array(PlanGap).readonly().exactOptional(),
  /** The calls to make next; absent if they are chosen in a judgement of their own. */
  calls: z.array(ToolCall).readonly().optional(),
  /** A different category than before, if the newer findings support it. */
  revised: z.object({ category: Category, kind: Kind }).exactOptional(),
});
export type Plan = Readonly<z.infer<typeof Plan>>;

/** The judged part of a verdict. Quotations and thresholds are checked by code, not here. */
export const Assessment = z.object({
  grades: z.record(z.string(), Grade).readonly(),
  /** The texts of claims that their evidence does not support. */
  unsupportedClaims: z.array(z.string()).readonly(),
  gaps: z.array(z.string()).readonly(),
  /** The open gaps that an offered tool can close. Absent if the judge does not say. */
  closable: z.array(z.string()).readonly().exactOptional(),
  confidence: z.number(),
  /** The ids of evidence that contradicts the category or the cause. */
  against: z.array(z.string()).readonly(),
  /** The factors of which the confidence is composed. Absent if the judge does not compose it. */
  factors: z.array(ConfidenceFactor).readonly().exactOptional(),
});
export type Assessment = Readonly<z.infer<typeof Assessment>>;

/** A source of judgements: rules, a model, or a recording. Values are parsed; nodes never parse text. */
export interface Analyst {
  readonly name: string;
  classify(input: { subject: TriageSubject }, signal: AbortSignal): Promise<Judgment<Classification>>;
  /**
   * Plans the next step. `offered` lists the tools that can be called next. It is absent if no further call
   * is possible.
   */
  plan(
    input: Insight & { offered?: readonly ToolDescription[] },
    signal: AbortSignal,
  ): Promise<Judgment<Plan>>;
  /** Chooses the independent tool calls of this round. The result is empty if none would help. */
  chooseTools(
    input: Insight & { plan: Plan; offered: readonly ToolDescription[] },
    signal: AbortSignal,
  ): Promise<Judgment<ToolCall[]>>;
  /** Corrects the arguments of a call that the tool refused. Returns null if it cannot. */
  correctCall(
    input: { call: ToolCall; error: string; tool: ToolDescription; subject: TriageSubject },
    signal: AbortSignal,
  ): Promise<Judgment<ToolCall | null>>;
  answer(input: Insight, signal: AbortSignal): Promise<Judgment<Answer>>;
  /**
   * Checks an answer. `offered` lists the tools that another round could call. It is absent if there is none.
   */
  verify(
    input: Insight & { answer: Answer; offered?: readonly ToolDescription[] },
    signal: AbortSignal,
  ): Promise<Judgment<Assessment>>;
  /** The judgements of follow-up questions about an analysis. */
  readonly converse: Converse;
}

/** The topic of a conversation: a stored answer, its build, and the build's other causes. */
export interface Topic {
  readonly build: Build;
  readonly analysis: Analysis;
  readonly subject: TriageSubject;
  /** The facts that the page of the answer shows. */
  readonly facts: readonly TopicFact[];
  /** The titles of the other causes of the build. */
  readonly otherCauses: readonly {
    readonly analysisId: string;
    readonly category: string;
    readonly title: string;
  }[];
}

/** The topic of questions without a failure. Its subject is an empty build that names the place. */
export interface PlaceTopic {
  readonly place: Place;
  readonly subject: TriageSubject;
}

/** A question with all that is known when it is judged: about an analysis, or about a place. */
export interface Inquiry<About = Topic> {
  readonly topic: About;
  /** The words of the person, masked. */
  readonly question: string;
  readonly memory: Memory;
  /** The evidence of the analysis, of earlier turns, and of this turn so far. */
  readonly evidence: readonly Evidence[];
  /** The part of `evidence` that was found for this question. */
  readonly found: readonly Evidence[];
  /** The outcomes of the calls that were made for this question. Their findings are in `evidence`. */
  readonly outcomes: readonly ToolOutcome[];
}

/** A piece of an answer that is being written. `restart` discards the earlier pieces of this answer. */
export interface TextPiece {
  readonly text: string;
  readonly restart?: boolean;
}

/** The judgements of a conversation. Values are parsed; nodes never parse text. */
export interface Converse<About = Topic> {
  understand(input: Inquiry<About>, signal: AbortSignal): Promise<Judgment<Understanding>>;
  /**
   * Chooses the independent tool calls of this round among the offered tools. The result is empty if none
   * would help. `round` counts from 1.
   */
  chooseTools(
    input: Inquiry<About> & {
      understanding: Understanding;
      offered: readonly ToolDescription[];
      round: number;
    },
    signal: AbortSignal,
  ): Promise<Judgment<ToolCall[]>>;
  /** Returns the answer, not yet checked. `onText` receives the text as it arrives and must not throw. */
  reply(
    input: Inquiry<About> & { understanding: Understanding; onText: (piece: TextPiece) => void },
    signal: AbortSignal,
  ): Promise<Judgment<readonly Statement[]>>;
}
