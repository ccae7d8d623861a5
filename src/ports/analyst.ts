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
export interface Judgement<Value> {
  readonly value: Value;
  /** "rules", "llm", "recorded". */
  readonly by: string;
  readonly usage: ModelUsage;
  readonly model: string | null;
  /** Content hash of the prompt; null if there was none. */
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
  /** 1-based. */
  readonly round: number;
  /** The gaps that verify found when it sent the answer back. */
  readonly gaps: readonly string[];
  /** Conclusions of parallel investigators, one line each ("code: …"); absent if there were none. */
  readonly conclusions?: readonly string[];
  /** The name of the parallel investigator that asks; absent outside a fan-out. */
  readonly investigator?: string;
}

/** Something that is not known yet. */
const PlanGap = z.object({
  missing: z.string(),
  /** The offered tool that could answer it; null if none can. */
  tool: z.string().nullable(),
  /** True if the cause cannot be named without it. */
  blocks: z.boolean(),
});
export type PlanGap = z.infer<typeof PlanGap>;

export const Plan = z.object({
  /** One or two sentences on the known and the missing facts. */
  thought: z.string(),
  /** Current confidence in the cause, 0..1. */
  confidence: z.number(),
  /** True if the known facts are enough to name the cause. */
  enough: z.boolean(),
  /** Best similarity of anything retrieved from knowledge or library, 0..1. */
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
  /** Texts of claims whose evidence does not carry them. */
  unsupportedClaims: z.array(z.string()).readonly(),
  gaps: z.array(z.string()).readonly(),
  /** The gaps among them that an offered tool can close; absent if its judge does not say. */
  closable: z.array(z.string()).readonly().exactOptional(),
  confidence: z.number(),
  /** Evidence ids that contradict the category or the cause. */
  against: z.array(z.string()).readonly(),
  /** The factors of which the confidence is composed; absent if its judge does not compose it. */
  factors: z.array(ConfidenceFactor).readonly().exactOptional(),
});
export type Assessment = Readonly<z.infer<typeof Assessment>>;

/** A source of judgements: rules, a model, or a recording. Values are parsed; nodes never parse text. */
export interface Analyst {
  readonly name: string;
  classify(input: { subject: TriageSubject }, signal: AbortSignal): Promise<Judgement<Classification>>;
  /**
   * Plans the next step. `offered` lists the tools that can be asked next; absent if no further question is
   * possible.
   */
  plan(
    input: Insight & { offered?: readonly ToolDescription[] },
    signal: AbortSignal,
  ): Promise<Judgement<Plan>>;
  /** Picks the independent questions of this round; empty if none would help. */
  chooseTools(
    input: Insight & { plan: Plan; offered: readonly ToolDescription[] },
    signal: AbortSignal,
  ): Promise<Judgement<ToolCall[]>>;
  /** Corrects the arguments of a call that the tool refused; null if it cannot. */
  correctCall(
    input: { call: ToolCall; error: string; tool: ToolDescription; subject: TriageSubject },
    signal: AbortSignal,
  ): Promise<Judgement<ToolCall | null>>;
  answer(input: Insight, signal: AbortSignal): Promise<Judgement<Answer>>;
  /** Checks an answer. `offered` lists the tools that another round could ask; absent if there is none. */
  verify(
    input: Insight & { answer: Answer; offered?: readonly ToolDescription[] },
    signal: AbortSignal,
  ): Promise<Judgement<Assessment>>;
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
  /** Titles of the other causes of the build. */
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
  /** A person's words, masked. */
  readonly question: string;
  readonly memory: Memory;
  /** The analysis' evidence, what earlier turns found, and what this one has found so far. */
  readonly evidence: readonly Evidence[];
  /** The part of `evidence` that was found for this question. */
  readonly found: readonly Evidence[];
  /** Calls made for this question; their findings are in `evidence`. */
  readonly outcomes: readonly ToolOutcome[];
}

/** A piece of an answer in the making. `restart`: the pieces of this answer before are void. */
export interface TextPiece {
  readonly text: string;
  readonly restart?: boolean;
}

/** The judgements of a conversation. Values are parsed; nodes never parse text. */
export interface Converse<About = Topic> {
  understand(input: Inquiry<About>, signal: AbortSignal): Promise<Judgement<Understanding>>;
  /**
   * Picks the independent questions of this round among the offered tools; empty if none would help. `round`
   * is 1-based.
   */
  chooseTools(
    input: Inquiry<About> & {
      understanding: Understanding;
      offered: readonly ToolDescription[];
      round: number;
    },
    signal: AbortSignal,
  ): Promise<Judgement<ToolCall[]>>;
  /** Returns the answer, not yet checked. `onText` receives the text as it arrives and must not throw. */
  reply(
    input: Inquiry<About> & { understanding: Understanding; onText: (piece: TextPiece) => void },
    signal: AbortSignal,
  ): Promise<Judgement<readonly Statement[]>>;
}
