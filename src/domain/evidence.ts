import { z } from 'zod';

/** The result of a tool before it is numbered as evidence. Text is masked. */
export const Finding = z.object({
  title: z.string(),
  text: z.string(),
  source: z.string(),
  lineStart: z.int().min(1).optional(),
  lineEnd: z.int().min(1).optional(),
  url: z.string().optional(),
  /** The score for how well it answers the question, from 0 to 1. Absent if the tool does not rank. */
  score: z.number().min(0).max(1).optional(),
  /** Data for programs, such as { entryId, category, kind, confirmedBy }. */
  data: z.record(z.string(), z.unknown()).optional(),
});
export type Finding = z.infer<typeof Finding>;

/**
 * A finding with its number: "E1", "E2", … in the order of arrival. `tool` is "log" for the reader's own
 * excerpts.
 */
export const Evidence = Finding.extend({ id: z.string().regex(/^E\d+$/), tool: z.string() });
export type Evidence = z.infer<typeof Evidence>;

/**
 * Returns true if the quoted words appear literally on the stated line of the evidence. Evidence without line
 * numbers is searched as a whole.
 */
export function holdsQuote(
  item: Pick<Evidence, 'source' | 'text' | 'lineStart'>,
  quote: { readonly source: string; readonly line: number; readonly text: string },
): boolean {
  if (quote.text.trim() === '' || quote.source !== item.source) return false;
  if (item.lineStart === undefined) return item.text.includes(quote.text);
  return item.text.split('\n')[quote.line - item.lineStart]?.includes(quote.text) ?? false;
}

/** A question to one tool. */
export const ToolCall = z.object({
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
  why: z.string(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/**
 * Returns a key that is equal for equal calls: the tool and its arguments, independent of the order of the
 * arguments.
 */
export function getCallKey({ tool, args }: Pick<ToolCall, 'tool' | 'args'>): string {
  return JSON.stringify([tool, Object.entries(args).sort(([left], [right]) => (left < right ? -1 : 1))]);
}

/** The summary of a call that was not made, because an equal one was made before. */
export const REPEATED_CALL = 'This call was already made with the same arguments. Ask something else.';

/** The result of a tool call. A failure of the tool is data, never an exception. */
export const ToolOutcome = z.object({
  call: ToolCall,
  status: z.enum(['ok', 'empty', 'unavailable', 'invalid-arguments', 'refused', 'failed', 'timed-out']),
  findings: z.array(Finding),
  /** A sentence for the trace: "2 hits", "GitHub answered 404". */
  summary: z.string(),
  milliseconds: z.number(),
  attempts: z.int(),
  /** The alternative tool that answered because the first one failed. */
  answeredBy: z.string().optional(),
  /** True if the answer was cached from an earlier call; absent if the tool was called again. */
  cached: z.boolean().optional(),
  /**
   * The number of the round of the loop in which the tool was called, from 1 on, and the ids of the evidence
   * that the call found or found again (`evidence`). Both are known only after the outcome was observed.
   */
  round: z.int().optional(),
  evidence: z.array(z.string()).optional(),
});
export type ToolOutcome = z.infer<typeof ToolOutcome>;
