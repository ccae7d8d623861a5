import { z } from 'zod';
import { Analysis, ModelUsage } from './analysis.ts';
import { Category } from './category.ts';
import { ToolCall, ToolOutcome } from './evidence.ts';
import { TriageSubject } from './triage.ts';

/**
 * The version of the format of recordings. It is increased with every change that an older reader would
 * misread.
 */
export const RECORDING_SCHEMA = 1;

export const JudgmentName = z.enum(['classify', 'plan', 'chooseTools', 'correctCall', 'answer', 'verify']);
export type JudgmentName = z.infer<typeof JudgmentName>;

/** A recorded judgement: its value, the analyst and model, and the cost. */
const RecordedReply = z.object({
  by: z.string(),
  model: z.string().nullable(),
  promptHash: z.string().nullable(),
  /**
   * A short hash of everything that the model was first shown: the prompt with its content, and the schema or
   * tools. Null if no model was asked.
   */
  shown: z.string().nullable(),
  value: z.unknown(),
  usage: ModelUsage,
  note: z.string().nullable(),
});
export type RecordedReply = z.infer<typeof RecordedReply>;

/** One judgement that the graph requested. Exactly one of `reply` and `failed` is not null. */
export const RecordedJudgment = z.object({
  /** The analyst that was asked: the configured one, or the fallback (`spare`). */
  role: z.enum(['analyst', 'spare']),
  name: JudgmentName,
  /** The number of the round, from 1 on. 0 if the judgement belongs to no round. */
  round: z.int(),
  /** The parallel investigator that asked. Null without parallel investigators. */
  investigator: z.string().nullable(),
  /** Short hashes of each part of the input ("subject", "evidence", …). */
  fields: z.record(z.string(), z.string()),
  /** The start in milliseconds since the run began, and the duration. */
  at: z.number(),
  milliseconds: z.number(),
  reply: RecordedReply.nullable(),
  /** The reason why there was no reply: the time was up, or the analyst failed. */
  failed: z.string().nullable(),
});
export type RecordedJudgment = z.infer<typeof RecordedJudgment>;

/** One call of a tool; `outcome` is null if the time was up before the tool answered. */
export const RecordedCall = z.object({
  call: ToolCall,
  category: Category,
  at: z.number(),
  outcome: ToolOutcome.nullable(),
});
export type RecordedCall = z.infer<typeof RecordedCall>;

/** The tools of a category, and those of them that could be called for the subject at that time. */
export const RecordedTools = z.object({
  category: Category,
  offered: z.array(z.string()),
  askable: z.array(z.string()),
});
export type RecordedTools = z.infer<typeof RecordedTools>;

/** The answer of a person to a waiting run; null if no one answered in time. */
export const RecordedAnswer = z.object({ text: z.string(), by: z.string(), at: z.string() }).nullable();
export type RecordedAnswer = z.infer<typeof RecordedAnswer>;

/** The version of the code and the configuration that made a recording. */
export const RecordedMaker = z.object({
  faultline: z.string(),
  /** Short hash of the table of rules. */
  rules: z.string(),
  /** Names of the analyst and its fallback; the fallback is null if the analyst was its own. */
  analyst: z.string(),
  spare: z.string().nullable(),
  /** The configured model, if it judged. Null otherwise. */
  model: z.string().nullable(),
});
export type RecordedMaker = z.infer<typeof RecordedMaker>;

/**
 * The questions of a run and their answers, masked. They are enough to run the graph again without a model
 * and without its tools.
 */
export const Recording = z.object({
  schema: z.literal(RECORDING_SCHEMA),
  triageId: z.string(),
  startedAt: z.iso.datetime(),
  madeBy: RecordedMaker,
  subject: TriageSubject,
  /** The limits of the run, as the graph received them. */
  limits: z.record(z.string(), z.unknown()),
  judgements: z.array(RecordedJudgment),
  calls: z.array(RecordedCall),
  tools: z.array(RecordedTools),
  /** The answers of people, in order. */
  answers: z.array(RecordedAnswer),
  /** The result of the run; null if it did not end with an answer. */
  analysis: Analysis.nullable(),
  /** False if a part of the run is not recorded; `missing` says which, for people. */
  complete: z.boolean(),
  missing: z.array(z.string()),
});
export type Recording = z.infer<typeof Recording>;
