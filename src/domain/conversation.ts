import { z } from 'zod';
import { Analysis, Quote } from './analysis.ts';
import { Evidence } from './evidence.ts';

/**
 * The layout of an answer: step by step how the failure arose, side by side with another build or failure, or
 * a plain explanation.
 */
export const QuestionShape = z.enum(['journey', 'comparison', 'explanation']);
export type QuestionShape = z.infer<typeof QuestionShape>;

/** The interpretation of a question. */
export const Understanding = z.object({
  shape: QuestionShape,
  /** The subject of the question, in a few natural words: "the fix", "who changed it". */
  about: z.string(),
  /** The heading of an answer about a repository or documents; it names what the question is about. */
  title: z.string().exactOptional(),
});
export type Understanding = z.infer<typeof Understanding>;

/** A repository or a folder of documents that is asked about without a failure. */
export const Place = z.object({
  kind: z.enum(['repository', 'documents']),
  /** Its name for people: the folder's, or `owner/name`. */
  name: z.string(),
  /** True if commits can be read. */
  hasHistory: z.boolean(),
  /** Lines of what was learned in earlier questions, and of the technology stack. */
  learned: z.array(z.string()).readonly(),
});
export type Place = z.infer<typeof Place>;

/** A fact of an answer in the form in which its page shows it. */
export const TopicFact = z.object({
  /** The name on the page: "Cause", "Fix", "Suspect". */
  name: z.string(),
  text: z.string(),
  /** The evidence that supports it. */
  evidence: z.array(z.string()),
  /** The words that occur literally in that evidence. */
  quotes: z.array(Quote),
});
export type TopicFact = z.infer<typeof TopicFact>;

/** One sentence or step of an answer. The statements joined with their `lead`s are the text. */
export const Statement = z.object({
  /** The text before the statement: a space, a line end, a bullet. */
  lead: z.string(),
  /** The statement with its citations: "The totals differ by 0.01 [E3]." */
  text: z.string(),
  evidence: z.array(z.string()),
  /** The words that must occur literally in the cited evidence. */
  quotes: z.array(Quote),
  /**
   * The support of a statement: cited evidence, the stored build or analysis (`record`), or only its author's
   * word (`none`).
   */
  basis: z.enum(['evidence', 'record', 'none']),
});
export type Statement = z.infer<typeof Statement>;

/** The location of the evidence that an answer cites. */
export const Citation = z.object({
  id: z.string(),
  title: z.string(),
  tool: z.string(),
  source: z.string(),
  lineStart: z.int().optional(),
  lineEnd: z.int().optional(),
  url: z.string().optional(),
});
export type Citation = z.infer<typeof Citation>;

/** A statement that could not be verified, and why. */
export const LeftOut = z.object({ text: z.string(), reason: z.string() });
export type LeftOut = z.infer<typeof LeftOut>;

/** A question about an analysis with its checked answer. */
export const Turn = z.object({
  threadId: z.string(),
  /** The position in the thread, from 1 on. */
  position: z.int().min(1),
  /** The masked question. */
  question: z.string(),
  /** The name of the token, or "terminal". */
  askedBy: z.string(),
  askedAt: z.iso.datetime(),
  shape: QuestionShape,
  about: z.string(),
  title: z.string().exactOptional(),
  text: z.string(),
  statements: z.array(Statement),
  citations: z.array(Citation),
  leftOut: z.array(LeftOut),
  /**
   * The evidence found for this question. Its numbers continue those of the analysis and the earlier turns.
   */
  evidence: z.array(Evidence),
  /** The same fields as those of an analysis: who answered and how. */
  ...Analysis.pick({
    steps: true,
    usage: true,
    analyst: true,
    model: true,
    promptHashes: true,
    notes: true,
    milliseconds: true,
  }).shape,
});
export type Turn = z.infer<typeof Turn>;

/** A conversation about one analysis. */
export const Thread = z.object({
  id: z.string(),
  analysisId: z.string(),
  buildId: z.string(),
  /** The first question, shortened. It is the title of the thread. */
  title: z.string(),
  startedBy: z.string(),
  startedAt: z.iso.datetime(),
  lastAskedAt: z.iso.datetime(),
  /** The number of questions that were answered. */
  turns: z.int(),
});
export type Thread = z.infer<typeof Thread>;

/**
 * The part of a thread that is kept for the next question: the last turns in full, and a line for each older
 * turn.
 */
export const Memory = z.object({
  older: z.array(z.string()),
  recent: z.array(z.object({ question: z.string(), answer: z.string() })),
});
export type Memory = z.infer<typeof Memory>;
