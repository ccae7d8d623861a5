import { z } from 'zod';
import type { CaseResult } from './result.ts';

const Probability = z.number().min(0).max(1);
const Count = z.number().min(0);
const Text = z.string().nullable();
const Line = z.int().nullable();

/**
 * A line of a results file, whole, as a run that goes on needs it. Keys that came later may be missing: the file may be of an older
 * version.
 */
export const ResultLine = z.object({
  id: z.string().min(1),
  category: Text,
  kind: Text,
  probabilities: z.record(z.string(), Probability),
  confidence: Probability.nullable(),
  abstained: z.boolean().nullable(),
  excerpts: z.array(z.object({ source: z.string(), lineStart: z.int(), lineEnd: z.int(), text: z.string(), reason: z.string() })),
  tokens: Count,
  logLines: Count,
  logBytes: Count,
  failingTests: z.array(z.object({ name: z.string(), suite: Text, file: Text, line: Line })),
  messages: z.array(z.string()),
  fingerprint: Text,
  suspects: z.array(z.object({ path: z.string(), line: Line, score: z.number() })),
  rootCause: Text,
  fixRecommendation: Text,
  claims: z.array(z.object({ text: z.string(), quotes: z.array(z.object({ source: z.string(), line: z.int(), text: z.string() })) })),
  action: Text,
  analyst: Text,
  usage: z.object({ inputTokens: Count, outputTokens: Count, costUsd: Count }),
  milliseconds: Count,
  error: Text,
  answerConfidence: Probability.nullable().default(null),
  iterations: z.int().nullable().default(null),
  terminationReason: Text.default(null),
  tools: z.array(z.object({ tool: z.string(), status: z.string() })).default([]),
  quotes: z
    .object({ made: z.int().min(0), literal: z.int().min(0) })
    .nullable()
    .default(null),
  logTokens: Count.nullable().default(null),
  rawConfidence: Probability.nullable().default(null),
  model: Text.default(null),
  failedSections: z
    .array(
      z.object({
        name: z.string(),
        source: z.string(),
        lineStart: z.int(),
        lineEnd: z.int(),
        exitCode: z.int().nullable(),
        consequence: z.boolean(),
      }),
    )
    .default([]),
  stepFound: z.boolean().nullable().default(null),
});

/** Reads a line; null where it is none, such as the torn last line of a run that was killed. */
export function parseResult(text: string): CaseResult | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = ResultLine.safeParse(value);
  return parsed.success ? parsed.data : null;
}
