import { z } from 'zod';
import { GreenBuild } from './build.ts';
import { CalibratedBy } from './calibration.ts';
import { Category, CategoryProbabilities, Kind } from './category.ts';
import { Owner } from './cause.ts';
import { Evidence, ToolOutcome } from './evidence.ts';
import type { Experiment } from './experiment.ts';
import { ProseFreeExperiment } from './experiment-facts.ts';
import { LogPosition } from './failure.ts';
import { Route } from './publish-bound.ts';
import { VersionChanges } from './version-changes.ts';

/** Words that must occur literally on a line of a source. */
export const Quote = z.object({ source: z.string(), line: z.int().min(1), text: z.string() });
export type Quote = z.infer<typeof Quote>;

/** One statement, the evidence that supports it ("E3"), and the words that it quotes. */
export const Claim = z.object({
  text: z.string(),
  evidence: z.array(z.string()),
  quotes: z.array(Quote).default([]),
});
export type Claim = z.infer<typeof Claim>;

/** The text of a claim that only quotes lines. It is not shown if the lines themselves are highlighted. */
export const QUOTES_ONLY = 'These lines of the failed step are the most informative.';

/** A file that may contain the fault. `score` is 0 to 1. */
export const Suspect = z.object({
  path: z.string(),
  line: z.int().nullable(),
  commit: z.string().nullable(),
  author: z.string().nullable(),
  /** The pull request that introduced the commit. Absent if it is not known. */
  pullRequest: z.int().nullable().optional(),
  score: z.number().min(0).max(1),
  reason: z.string(),
});
export type Suspect = z.infer<typeof Suspect>;

/** A possible explanation and the evidence that would settle it. */
export const Hypothesis = z.object({ text: z.string(), category: Category, settledBy: z.string() });
export type Hypothesis = z.infer<typeof Hypothesis>;

/**
 * One thing that supports a category: a test, a tool's error, an exception, a rule that matches a line, the
 * learned words, or a decision of a person.
 */
export const Witness = z.object({
  by: z.enum(['test', 'diagnostic', 'exception', 'rule', 'words', 'precedent']),
  name: z.string(),
  at: LogPosition.nullable(),
});
export type Witness = z.infer<typeof Witness>;

export const Classification = z.object({
  category: Category,
  kind: Kind,
  /** The probability that `category` is right, from 0 to 1. */
  confidence: z.number().min(0).max(1),
  probabilities: CategoryProbabilities,
  /** True if the evidence is too weak to decide; the category is then only the best guess. */
  abstained: z.boolean(),
  /** The decisive reason: the rule's name, or the model's reason. */
  because: z.string(),
  /** The witnesses for the category; absent if a model named it. */
  witnesses: z.array(Witness).optional(),
  /** The grounds of the category; absent if a model or a person named it. */
  route: Route.optional(),
  /**
   * The reliability of similar answers: the number of answers of the same route that were as confident as
   * this one (`of`), and the number of these that were right (`right`). They are from sources that were not
   * used for training. Absent if too few were measured.
   */
  record: z.object({ right: z.int(), of: z.int() }).optional(),
});
export type Classification = z.infer<typeof Classification>;

/** Tells whether the answer says that the failure is not the developer's fault. */
export function isNotDevelopersFault({ category, kind }: Pick<Classification, 'category' | 'kind'>): boolean {
  return category === 'INFRA_ERROR' || kind === 'flaky_timing';
}

/**
 * Returns true if a structured witness (a test, a tool's error, or an exception) supports the category, or if
 * both a rule and the learned words do. Also returns true for a category without witnesses: a model named it,
 * and the model's claims are checked instead.
 */
export function isFounded({ witnesses }: { readonly witnesses?: readonly Witness[] | undefined }): boolean {
  if (witnesses === undefined) return true;
  const by = new Set(witnesses.map((witness) => witness.by));
  return by.has('test') || by.has('diagnostic') || by.has('exception') || (by.has('rule') && by.has('words'));
}

/** A similar failure that was decided earlier. */
export const SimilarCase = z.object({
  /** The id of the evidence that shows it ("E7"). */
  evidence: z.string(),
  title: z.string(),
  category: Category.nullable(),
  /** The person who decided it; null if it was not decided. */
  confirmedBy: z.string().nullable(),
  /** The repository in which it was decided. Absent if it is not known. */
  repository: z.string().optional(),
  /** The similarity, from 0 to 1. */
  score: z.number().min(0).max(1),
});
export type SimilarCase = z.infer<typeof SimilarCase>;

/**
 * The kind of action that advice asks for: to change code, configuration or a dependency, to run the job
 * again, or to request access.
 */
export const Act = z.enum(['code', 'configuration', 'dependency', 'rerun', 'ask']);
export type Act = z.infer<typeof Act>;

export const Answer = z.object({
  /** The title: one line, in natural words. */
  title: z.string(),
  rootCause: z.string(),
  fixRecommendation: z.string(),
  /**
   * The kind of action that the advice asks for; null or absent if nothing is advised or the kind is not
   * stated.
   */
  act: Act.nullable().optional(),
  /**
   * The probability that a rerun of the same commit passes, from 0 to 1. Absent in answers of older versions.
   */
  transient: z.number().min(0).max(1).optional(),
  confidence: z.number().min(0).max(1),
  claims: z.array(Claim),
  suspects: z.array(Suspect),
  hypotheses: z.array(Hypothesis),
  /** The similar cases, the most similar first. Absent if none was found. */
  similarCases: z.array(SimilarCase).optional(),
});
export type Answer = z.infer<typeof Answer>;

export const Grade = z.enum(['relevant', 'ambiguous', 'irrelevant']);
export type Grade = z.infer<typeof Grade>;

export const Action = z.enum(['auto_notify', 'human_review', 'self_correct', 'web_search']);
export type Action = z.infer<typeof Action>;

/** A factor that changed a confidence: by how much, in logits, and why. */
export const ConfidenceFactor = z.object({ name: z.string(), value: z.number(), because: z.string() });
export type ConfidenceFactor = z.infer<typeof ConfidenceFactor>;

export const Verdict = z.object({
  /** The grades by evidence id. */
  grades: z.record(z.string(), Grade),
  unsupportedClaims: z.array(z.string()),
  gaps: z.array(z.string()),
  confidence: z.number().min(0).max(1),
  action: Action,
  /** The reasons, for people, why a person is asked or why the answer may be published. */
  reasons: z.array(z.string()),
  /** The factors that the confidence was composed from; absent if nothing was weighed. */
  factors: z.array(ConfidenceFactor).optional(),
  /** The effect of the calibration on the confidence; absent if no calibration was in force. */
  calibration: CalibratedBy.optional(),
  /** The kind of answer whose outcomes decide about publishing. */
  route: Route.optional(),
});
export type Verdict = z.infer<typeof Verdict>;

const Probability = z.number().min(0).max(1);
/** The fields of a verdict that are compared with the next one. */
export const VerdictMark = z.object({ action: Action, confidence: Probability, category: Category });
export type VerdictMark = z.infer<typeof VerdictMark>;

/**
 * A verdict that sent the answer back, and the next verdict. The next one is null if nothing new was found
 * and the answer stayed the same.
 */
export const Correction = z.object({ before: VerdictMark, after: VerdictMark.nullable() });
export type Correction = z.infer<typeof Correction>;

/** Lists the corrections among the verdicts of a run. */
export function listCorrections(verdicts: readonly VerdictMark[]): Correction[] {
  const pairs = verdicts.map((before, at) => ({ before, after: verdicts[at + 1] ?? null }));
  return pairs.filter(({ before }) => isSentBack(before));
}

/** Tells whether a verdict asks for more work on the answer. */
function isSentBack({ action }: Pick<VerdictMark, 'action'>): boolean {
  return action === 'self_correct' || action === 'web_search';
}

/**
 * The possible results of a correction: a surer answer, one that is not surer, or none because nothing new
 * was found.
 */
export const CORRECTION_RESULTS = ['helped', 'did_not_help', 'nothing_new'] as const;

/** Returns the result of a correction. */
export function judgeCorrection({ before, after }: Correction): (typeof CORRECTION_RESULTS)[number] {
  if (after === null) return 'nothing_new';
  return after.confidence > before.confidence ? 'helped' : 'did_not_help';
}

export const TerminationReason = z.enum([
  'enough_information',
  'confident',
  'max_iterations',
  'no_relevant_tool',
  'no_progress',
  'known_failure',
  'budget_exhausted',
  /** The linear baseline of a measurement, which has no loop that could end. */
  'linear',
  /** The analysis itself failed, so a person must look at it. */
  'failed',
]);
export type TerminationReason = z.infer<typeof TerminationReason>;

export const Usage = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number(),
  modelCalls: z.int(),
  toolCalls: z.int(),
  iterations: z.int(),
});
export type Usage = z.infer<typeof Usage>;

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  modelCalls: 0,
  toolCalls: 0,
  iterations: 0,
};

/** The tokens, cost and calls of model requests. */
export const ModelUsage = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number(),
  modelCalls: z.int(),
  /** The part of the input tokens that the provider had cached; absent if the provider does not report it. */
  cachedInputTokens: z.int().exactOptional(),
  /** The number of failed attempts that were repeated. 0 if absent. */
  retries: z.int().exactOptional(),
});
export type ModelUsage = Readonly<z.infer<typeof ModelUsage>>;

/** One judgement of a node in the trace, with its author, prompt, and cost. */
export const JudgementTrace = z.object({
  /** "classify", "reason", "select_tool", "correct_call", "generate_answer", "verify". */
  name: z.string(),
  /** "rules", "llm", "recorded". */
  by: z.string(),
  model: z.string().nullable(),
  promptHash: z.string().nullable(),
  milliseconds: z.number(),
  inputTokens: z.int(),
  /** The part of the input tokens that the provider had cached; absent if the provider does not report it. */
  cachedInputTokens: z.int().optional(),
  outputTokens: z.int(),
  costUsd: z.number(),
  modelCalls: z.int(),
  /** The number of failed attempts that were repeated. 0 if absent. */
  retries: z.int().optional(),
  /** The reason why the configured analyst did not make this judgement itself. */
  note: z.string().nullable(),
});
export type JudgementTrace = z.infer<typeof JudgementTrace>;

/** One finished node of the graph. */
export const Step = z.object({
  node: z.string(),
  /** The number of the round of the loop, from 1 on. 0 before the first. */
  round: z.int(),
  startedAt: z.iso.datetime(),
  milliseconds: z.number(),
  /** A line for people: "TEST_FAILURE (81 %) assertion". */
  summary: z.string(),
  /** The author of the judgement: "rules", "llm" or "recorded". Absent if none was made. */
  by: z.string().optional(),
  /** The judgements. Absent if none was made, and in steps that were stored before judgements were traced. */
  judgements: z.array(JudgementTrace).optional(),
  /**
   * The parallel investigator that took the step: "code", "history" or "documents". Absent without parallel
   * investigators.
   */
  investigator: z.string().optional(),
  outcomes: z.array(ToolOutcome.omit({ findings: true })).optional(),
});
export type Step = z.infer<typeof Step>;

/** The stored answer for one failure group of one build. */
export const Analysis = z.object({
  id: z.string(),
  buildId: z.string(),
  triageId: z.string(),
  failureIds: z.array(z.string()),
  fingerprint: z.string(),
  category: Category,
  kind: Kind,
  classification: Classification,
  answer: Answer,
  verdict: Verdict,
  evidence: z.array(Evidence),
  steps: z.array(Step),
  usage: Usage,
  /** One entry for each time that verify sent the answer back, with the result; absent if it never did. */
  corrections: z.array(Correction).optional(),
  /** "rules", "llm", "recall". */
  analyst: z.string(),
  model: z.string().nullable(),
  promptHashes: z.record(z.string(), z.string()),
  /** Notes for people, for example why a fallback was used, or which source was unavailable. */
  notes: z.array(z.string()),
  terminationReason: TerminationReason,
  /**
   * The known cause that answered: who confirmed it, when, and how often it was seen. Null if no known cause
   * answered.
   */
  recalled: z
    .object({ entryId: z.string(), confirmedBy: z.string(), confirmedAt: z.string(), timesSeen: z.int() })
    .nullable(),
  /**
   * The reviewer's rule that answered: its author, when it was created, and how often it answered; absent if
   * none did.
   */
  ruled: z
    .object({
      ruleId: z.string(),
      version: z.int(),
      author: z.string(),
      createdAt: z.string(),
      timesUsed: z.int(),
    })
    .optional(),
  /** The green build since which some of the evidence is new; absent if none of it is known to be new. */
  green: GreenBuild.optional(),
  /** The versions that changed since the last green run. Absent if they are not known or none changed. */
  changes: VersionChanges.optional(),
  /** The owner of the cause; absent if no owner is known. */
  owner: Owner.optional(),
  /** The owners of the suspected files and of the failing tests, by CODEOWNERS. Absent if there are none. */
  fileOwners: z.array(Owner).optional(),
  /** The result of running the failing command again. Absent if it was not run again. */
  experiment: ProseFreeExperiment.optional(),
  /** The size of the logs and of the part that was kept. */
  reduction: z.object({ logLines: z.int(), logBytes: z.int(), keptLines: z.int(), tokens: z.int() }),
  milliseconds: z.number(),
  createdAt: z.iso.datetime(),
});
export type Analysis = z.infer<typeof Analysis>;

/**
 * Returns the answer with the result of running the command again. Suspects from the commit that broke it
 * come first.
 */
export function withTried(analysis: Analysis, experiment: Experiment): Analysis {
  const { verdict, candidates } = experiment.bisection ?? {};
  const culprit = verdict === 'found' ? candidates?.[0]?.commit : undefined;
  if (culprit === undefined) return { ...analysis, experiment };
  const isCulprit = ({ commit }: Suspect) => Number(commit === culprit);
  const suspects = analysis.answer.suspects.toSorted((left, right) => isCulprit(right) - isCulprit(left));
  return { ...analysis, experiment, answer: { ...analysis.answer, suspects } };
}

/**
 * Tells whether an analyst judged the failure. If the log could not be read or the analysis failed, the
 * stored category means nothing.
 */
export function isJudged({ terminationReason }: Pick<Analysis, 'terminationReason'>): boolean {
  return terminationReason !== 'failed';
}

/**
 * The algorithm of the fingerprint of a build that could not be read or analyzed as a whole. No two builds
 * share such a fingerprint.
 */
export const UNREAD = 'unread';

/**
 * Tells whether none of the build's logs could be read. A reviewer cannot judge such an answer; the operator
 * has to make the log readable.
 */
export function isUnread({ fingerprint }: Pick<Analysis, 'fingerprint'>): boolean {
  return fingerprint.startsWith(`${UNREAD}-`);
}

/** Returns the category in the form in which people see it. */
export function getShownCategory(
  analysis: Pick<Analysis, 'terminationReason' | 'category'>,
): Category | 'not analyzed' {
  return isJudged(analysis) ? analysis.category : 'not analyzed';
}

/** An answer as API clients see it. The category is null if no analyst judged the failure. */
export const ShownAnalysis = Analysis.extend({
  category: Category.nullable().describe('Null if the analysis failed or the log could not be read'),
});
export type ShownAnalysis = z.infer<typeof ShownAnalysis>;

export function toShownAnalysis(analysis: Analysis): ShownAnalysis {
  return { ...analysis, category: isJudged(analysis) ? analysis.category : null };
}

/**
 * The same analysis in the form that programs continue to work with. `isJudged` still tells whether its
 * category means anything.
 */
export const GivenAnalysis = ShownAnalysis.transform(
  (analysis): Analysis => ({ ...analysis, category: analysis.category ?? 'CODE_ERROR' }),
);
