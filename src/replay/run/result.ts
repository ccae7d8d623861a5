import { z } from 'zod';
import type { Analysis } from '../../domain/analysis.ts';
import type { Reading } from '../../domain/reading.ts';
import { isUnknown } from '../../log/recognise/failures.ts';

const Probability = z.number().min(0).max(1);
const Count = z.number().min(0);
const Text = z.string().nullable();
const Line = z.int().nullable();
const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

/**
 * One line of the results file: camelCase, stable; missing knowledge is null or empty, never left out. Keys with a default came later: a
 * file of an older version lacks them.
 */
export const CaseResult = z.object({
  id: z.string().min(1),
  category: Text,
  kind: Text,
  probabilities: z.record(z.string(), Probability),
  confidence: Probability.nullable(),
  abstained: z.boolean().nullable(),
  excerpts: listOf(z.object({ source: z.string(), lineStart: z.int(), lineEnd: z.int(), text: z.string(), reason: z.string() })),
  tokens: Count,
  logLines: Count,
  logBytes: Count,
  failingTests: listOf(z.object({ name: z.string(), suite: Text, file: Text, line: Line })),
  messages: listOf(z.string()),
  fingerprint: Text,
  suspects: listOf(z.object({ path: z.string(), line: Line, score: z.number() })),
  rootCause: Text,
  fixRecommendation: Text,
  claims: listOf(z.object({ text: z.string(), quotes: listOf(z.object({ source: z.string(), line: z.int(), text: z.string() })) })),
  action: Text,
  analyst: Text,
  usage: z.object({ inputTokens: Count, outputTokens: Count, costUsd: Count }),
  milliseconds: Count,
  error: Text,
  /** How sure the answer is once verified: what is published goes by it, `confidence` is the classification's. */
  answerConfidence: Probability.nullable().default(null),
  iterations: z.int().nullable().default(null),
  terminationReason: Text.default(null),
  tools: listOf(z.object({ tool: z.string(), status: z.string() })).default([]),
  /** How many quotations the claims make, and how many stand literally on their line of the log; null where the log was not read. */
  quotes: z
    .object({ made: z.int().min(0), literal: z.int().min(0) })
    .nullable()
    .default(null),
  /** Tokens of the whole log, where its labelled lines are scored; counted in samples where the log is long. */
  logTokens: Count.nullable().default(null),
  /** How sure the verified answer was before a calibration; null where nobody answered. */
  rawConfidence: Probability.nullable().default(null),
  model: Text.default(null),
  /** The steps that failed, as the CI system marks them; `consequence`: only for the failure of another. */
  failedSections: listOf(
    z.object({
      ...{ name: z.string(), source: z.string(), lineStart: z.int(), lineEnd: z.int() },
      exitCode: Line,
      consequence: z.boolean(),
    }),
  ).default([]),
  /** Whether the labelled step is one of them; null where none is labelled, or the log was not read. */
  stepFound: z.boolean().nullable().default(null),
});
export type CaseResult = z.infer<typeof CaseResult>;

const MAX_MESSAGES = 20;

/** The row of a case that was read, and answered where an analyst was asked; of several causes the first speaks for the build. */
export function resultOf(id: string, reading: Reading, analysis: Analysis | null, milliseconds: number): CaseResult {
  return {
    ...emptyResult(id),
    category: analysis?.category ?? null,
    kind: analysis?.kind ?? null,
    probabilities: analysis?.classification.probabilities ?? {},
    confidence: analysis?.classification.confidence ?? null,
    abstained: analysis?.classification.abstained ?? null,
    excerpts: reading.excerpts.map(({ weight: _weight, ...excerpt }) => excerpt),
    tokens: reading.tokens,
    logLines: reading.sources.reduce((total, source) => total + source.lines, 0),
    logBytes: reading.sources.reduce((total, source) => total + source.bytes, 0),
    failingTests: reading.failingTests.map(({ name, suite, file, line }) => ({ name, suite, file, line })),
    messages: messagesOf(reading),
    fingerprint: isUnknown(reading.fingerprint) ? null : reading.fingerprint.value,
    suspects: analysis?.answer.suspects.map(({ path, line, score }) => ({ path, line, score })) ?? [],
    rootCause: analysis?.answer.rootCause ?? null,
    fixRecommendation: analysis?.answer.fixRecommendation ?? null,
    claims: analysis?.answer.claims.map(({ text, quotes }) => ({ text, quotes })) ?? [],
    action: analysis?.verdict.action ?? null,
    analyst: analysis?.analyst ?? null,
    usage: {
      inputTokens: analysis?.usage.inputTokens ?? 0,
      outputTokens: analysis?.usage.outputTokens ?? 0,
      costUsd: analysis?.usage.costUsd ?? 0,
    },
    milliseconds: Math.round(milliseconds),
    answerConfidence: analysis?.verdict.confidence ?? null,
    iterations: analysis?.usage.iterations ?? null,
    terminationReason: analysis?.terminationReason ?? null,
    tools: toolsOf(analysis),
    rawConfidence: analysis?.verdict.calibration?.raw ?? analysis?.verdict.confidence ?? null,
    model: analysis?.model ?? null,
    failedSections: reading.failedSections.map(({ name, source, lineStart, lineEnd, exitCode = null, consequence = false }) => {
      return { name, source, lineStart, lineEnd, exitCode, consequence };
    }),
  };
}

function toolsOf(analysis: Analysis | null): CaseResult['tools'] {
  const outcomes = analysis?.steps.flatMap((step) => step.outcomes ?? []) ?? [];
  return outcomes.map(({ call, status }) => ({ tool: call.tool, status }));
}

/** The row of a case that failed: an error, never a stop. */
export function failedResult(id: string, error: string, milliseconds: number): CaseResult {
  return { ...emptyResult(id), error, milliseconds: Math.round(milliseconds) };
}

function messagesOf(reading: Reading): string[] {
  const thrown = reading.exceptions.map((exception) => `${exception.type}: ${exception.message}`);
  const diagnosed = reading.diagnostics.filter((one) => one.severity === 'error').map((one) => one.message);
  const tests = reading.failingTests.flatMap((test) => (test.message === null ? [] : [test.message]));
  const said = reading.messages.map((message) => message.text);
  return [...new Set([...tests, ...thrown, ...diagnosed, ...said])].slice(0, MAX_MESSAGES);
}

function emptyResult(id: string): CaseResult {
  return {
    id,
    category: null,
    kind: null,
    probabilities: {},
    confidence: null,
    abstained: null,
    excerpts: [],
    tokens: 0,
    logLines: 0,
    logBytes: 0,
    failingTests: [],
    messages: [],
    fingerprint: null,
    suspects: [],
    rootCause: null,
    fixRecommendation: null,
    claims: [],
    action: null,
    analyst: null,
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    milliseconds: 0,
    error: null,
    answerConfidence: null,
    iterations: null,
    terminationReason: null,
    tools: [],
    quotes: null,
    logTokens: null,
    rawConfidence: null,
    model: null,
    failedSections: [],
    stepFound: null,
  };
}

/** Reads a line; null where it is none, such as the torn last line of a run that was killed. */
export function parseResult(text: string): CaseResult | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = CaseResult.safeParse(value);
  return parsed.success ? parsed.data : null;
}
