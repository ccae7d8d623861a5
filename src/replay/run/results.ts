import { z } from 'zod';
import { type Analysis, Correction } from '../../domain/analysis.ts';
import { Blame, blameByText, blameByTrying } from '../../domain/experiment.ts';
import type { FailureGroup, Reading } from '../../domain/reading.ts';
import { isUnknown, showsFailure } from '../../log/fingerprint/failures.ts';

const Probability = z.number().min(0).max(1);
const Count = z.number().min(0);
const Text = z.string().nullable();
const Line = z.int().nullable();
const Spent = z.object({ inputTokens: Count, outputTokens: Count, costUsd: Count });
const createListSchema = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

const Claim = z.object({
  text: z.string(),
  quotes: createListSchema(z.object({ source: z.string(), line: z.int(), text: z.string() })),
});
const Suspect = z.object({ path: z.string(), line: Line, score: z.number() });
const TestResult = z.object({ name: z.string(), suite: Text, file: Text, line: Line });

/** The result of one analysis, with its title and tests. The fields are those of the whole result. */
export const AnalysisResult = z.object({
  category: Text,
  kind: Text,
  probabilities: z.record(z.string(), Probability),
  confidence: Probability.nullable(),
  abstained: z.boolean().nullable(),
  title: Text,
  rootCause: Text,
  fixRecommendation: Text,
  claims: createListSchema(Claim),
  suspects: createListSchema(Suspect),
  failingTests: createListSchema(TestResult),
  fingerprint: Text,
  action: Text,
  analyst: Text,
  usage: Spent,
  answerConfidence: Probability.nullable(),
});
export type AnalysisResult = z.infer<typeof AnalysisResult>;

/**
 * One line of the results file, in camelCase and in a stable format. Unknown values are null or empty, never
 * absent. Keys with a default were added later, so older files lack them.
 */
export const CaseResult = z.object({
  id: z.string().min(1),
  category: Text,
  kind: Text,
  probabilities: z.record(z.string(), Probability),
  confidence: Probability.nullable(),
  abstained: z.boolean().nullable(),
  excerpts: createListSchema(
    z.object({
      source: z.string(),
      lineStart: z.int(),
      lineEnd: z.int(),
      text: z.string(),
      reason: z.string(),
    }),
  ),
  tokens: Count,
  logLines: Count,
  logBytes: Count,
  failingTests: createListSchema(TestResult),
  messages: createListSchema(z.string()),
  fingerprint: Text,
  suspects: createListSchema(Suspect),
  rootCause: Text,
  fixRecommendation: Text,
  claims: createListSchema(Claim),
  action: Text,
  analyst: Text,
  usage: Spent,
  milliseconds: Count,
  error: Text,
  /**
   * The confidence of the verified answer, which decides what is published. `confidence` is that of the
   * classification.
   */
  answerConfidence: Probability.nullable().default(null),
  iterations: z.int().nullable().default(null),
  terminationReason: Text.default(null),
  tools: createListSchema(z.object({ tool: z.string(), status: z.string() })).default([]),
  /** The corrections of the answer: one for each time that verify sent it back, with the outcome. */
  corrections: createListSchema(Correction).default([]),
  /**
   * The number of quotations in the claims, and the number of those that are literally on their line. Null if
   * the log was not read.
   */
  quotes: z
    .object({ made: z.int().min(0), literal: z.int().min(0) })
    .nullable()
    .default(null),
  /** The number of tokens of the whole log, if its labeled lines are scored. A long log is sampled. */
  logTokens: Count.nullable().default(null),
  /** The confidence of the verified answer before calibration; null if no analyst answered. */
  rawConfidence: Probability.nullable().default(null),
  model: Text.default(null),
  /** The hashes of the prompts, by node. Empty if no model was asked, and in files of earlier versions. */
  promptHashes: z.record(z.string().max(100), z.string().max(100)).default({}),
  /**
   * The failed steps according to the CI system. `consequence` is true if a step failed only because another
   * one did.
   */
  failedSections: createListSchema(
    z.object({
      name: z.string(),
      source: z.string(),
      lineStart: z.int(),
      lineEnd: z.int(),
      exitCode: Line,
      consequence: z.boolean(),
    }),
  ).default([]),
  /**
   * True if the labeled step is among the failed ones. Null if no step is labeled or the log was not read.
   */
  stepFound: z.boolean().nullable().default(null),
  /**
   * The party at fault according to the answer: from an experiment that ran the failure again, otherwise from
   * the text. Null if no analyst answered.
   */
  blame: Blame.nullable().default(null),
  /** The probability that a rerun would pass. Null if no analyst answered. */
  transient: Probability.nullable().default(null),
  /**
   * Every answer to the build. The first one is the one in the fields above. Rows that do not label each
   * failure have only one.
   */
  analyses: createListSchema(AnalysisResult).default([]),
  /** True if the logs and reports show a failure. Null if they were not read. */
  failureFound: z.boolean().nullable().default(null),
  /**
   * The names in the advice, if the row has a known fix. `findable` is the number of names of the fix that
   * logs or tree contain, and `keyed` lists those of them that the advice contains. `invented` lists the
   * paths, versions and variables of the advice that neither logs nor tree contain. Null if no fix is known
   * or the log was not read.
   */
  advice: z
    .object({
      findable: z.int().min(0),
      keyed: createListSchema(z.string()),
      invented: createListSchema(z.string()),
    })
    .nullable()
    .default(null),
});
export type CaseResult = z.infer<typeof CaseResult>;

const MAX_MESSAGES = 20;

/**
 * The answers to a case. `groups` are the failures of each cause, which show the tests that an answer is
 * about.
 */
interface AnsweredCase {
  readonly reading: Reading;
  readonly analyses: readonly Analysis[];
  readonly groups?: readonly FailureGroup[];
}

/**
 * Creates the result of a case that was read, with its answer if an analyst was asked. If there are several
 * causes, the first one represents the build; claims of all causes and the text of the others are appended,
 * as readers see them together.
 */
export function toResult(
  id: string,
  { reading, analyses, groups = [] }: AnsweredCase,
  milliseconds: number,
): CaseResult {
  return {
    ...toAnswerRow(id, analyses[0] ?? null, milliseconds),
    ...collectAllCauses(analyses),
    excerpts: reading.excerpts.map(({ weight: _weight, ...excerpt }) => excerpt),
    tokens: reading.tokens,
    logLines: reading.sources.reduce((total, source) => total + source.lines, 0),
    logBytes: reading.sources.reduce((total, source) => total + source.bytes, 0),
    failingTests: getTestsIn(reading).map(({ name, suite, file, line }) => ({ name, suite, file, line })),
    messages: listMessages(reading),
    fingerprint: isUnknown(reading.fingerprint) ? null : reading.fingerprint.value,
    failedSections: reading.failedSections.map(
      ({ name, source, lineStart, lineEnd, exitCode = null, consequence = false }) => {
        return { name, source, lineStart, lineEnd, exitCode, consequence };
      },
    ),
    analyses: analyses.map((analysis) => toAnalysisResult(analysis, groups)),
    failureFound: showsFailure(reading),
  };
}

/** The maximum number of further causes whose text is appended. */
const MAX_OTHERS = 5;

function collectAllCauses(analyses: readonly Analysis[]): Partial<Pick<CaseResult, 'rootCause' | 'claims'>> {
  const [first, ...others] = analyses;
  if (first === undefined || others.length === 0) return {};
  const described = others.slice(0, MAX_OTHERS).map(({ answer }) => `Another cause: ${answer.rootCause}`);
  return {
    rootCause: [first.answer.rootCause, ...described].join(' '),
    claims: analyses.flatMap(({ answer }) => answer.claims.map(({ text, quotes }) => ({ text, quotes }))),
  };
}

/** Returns the failing tests. A file that could not be loaded is left out if other tests have names. */
function getTestsIn({ failingTests }: Reading): Reading['failingTests'] {
  const named = failingTests.filter(({ name, file }) => name !== file);
  return named.length > 0 ? named : failingTests;
}

function toAnalysisResult(analysis: Analysis, groups: readonly FailureGroup[]): AnalysisResult {
  const { answer, classification, verdict, usage, failureIds } = analysis;
  const group =
    groups.find(({ failures }) => failures.some(({ id }) => failureIds.includes(id)))?.failures ?? [];
  const tests = group.flatMap(({ test }) => (test === null ? [] : [test]));
  return {
    category: analysis.category,
    kind: analysis.kind,
    probabilities: classification.probabilities,
    confidence: classification.confidence,
    abstained: classification.abstained,
    title: answer.title,
    rootCause: answer.rootCause,
    fixRecommendation: answer.fixRecommendation,
    claims: answer.claims.map(({ text, quotes }) => ({ text, quotes })),
    suspects: answer.suspects.map(({ path, line, score }) => ({ path, line, score })),
    failingTests: tests.map(({ name, suite, file, line }) => ({ name, suite, file, line })),
    fingerprint: analysis.fingerprint,
    action: verdict.action,
    analyst: analysis.analyst,
    usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, costUsd: usage.costUsd },
    answerConfidence: verdict.confidence,
  };
}

/** Creates the result of a case that failed with an error. Such a case never stops the replay. */
export function toFailedResult(id: string, error: string, milliseconds: number): CaseResult {
  return { ...toAnswerRow(id, null, milliseconds), error };
}

/** Creates a result with the fields of an analysis, without those that are read from the log. */
function toAnswerRow(id: string, analysis: Analysis | null, milliseconds: number): CaseResult {
  const { answer, classification, verdict, usage }: Partial<Analysis> = analysis ?? {};
  return {
    id,
    category: analysis?.category ?? null,
    kind: analysis?.kind ?? null,
    probabilities: classification?.probabilities ?? {},
    confidence: classification?.confidence ?? null,
    abstained: classification?.abstained ?? null,
    excerpts: [],
    tokens: 0,
    logLines: 0,
    logBytes: 0,
    failingTests: [],
    messages: [],
    fingerprint: null,
    suspects: answer?.suspects.map(({ path, line, score }) => ({ path, line, score })) ?? [],
    rootCause: answer?.rootCause ?? null,
    fixRecommendation: answer?.fixRecommendation ?? null,
    claims: answer?.claims.map(({ text, quotes }) => ({ text, quotes })) ?? [],
    action: verdict?.action ?? null,
    analyst: analysis?.analyst ?? null,
    usage: {
      inputTokens: usage?.inputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      costUsd: usage?.costUsd ?? 0,
    },
    milliseconds: Math.round(milliseconds),
    error: null,
    answerConfidence: verdict?.confidence ?? null,
    iterations: usage?.iterations ?? null,
    terminationReason: analysis?.terminationReason ?? null,
    tools: listTools(analysis),
    corrections: analysis?.corrections ?? [],
    quotes: null,
    logTokens: null,
    rawConfidence: verdict?.calibration?.raw ?? verdict?.confidence ?? null,
    model: analysis?.model ?? null,
    promptHashes: analysis?.promptHashes ?? {},
    failedSections: [],
    stepFound: null,
    blame: analysis === null ? null : (blameByTrying(analysis.experiment) ?? blameByText(analysis)),
    transient: answer?.transient ?? null,
    analyses: [],
    failureFound: null,
    advice: null,
  };
}

function listTools(analysis: Analysis | null): CaseResult['tools'] {
  const outcomes = analysis?.steps.flatMap((step) => step.outcomes ?? []) ?? [];
  return outcomes.map(({ call, status }) => ({ tool: call.tool, status }));
}

function listMessages(reading: Reading): string[] {
  const thrown = reading.exceptions.map((exception) => `${exception.type}: ${exception.message}`);
  const diagnosed = reading.diagnostics
    .filter((diagnostic) => diagnostic.severity === 'error')
    .map((diagnostic) => diagnostic.message);
  const tests = reading.failingTests.flatMap((test) => (test.message === null ? [] : [test.message]));
  const texts = reading.messages.map((message) => message.text);
  return [...new Set([...tests, ...thrown, ...diagnosed, ...texts])].slice(0, MAX_MESSAGES);
}
