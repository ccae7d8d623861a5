import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { ModelUsage } from '../../ports/analyst.ts';
import type { ChatReply } from '../../ports/chat-model.ts';

/** Puts questions so that they fit the model's context. One per model; it remembers what did not fit. */
export interface ContextFit {
  /**
   * Asks with this share of every size budget, 1 at first; where the model's context is too small, again with half of it,
   * twice at most. Throws the model's `too-large` where not even a quarter fits, with what all tries cost.
   */
  ask<Value>(put: (share: number) => Promise<ChatReply<Value>>): Promise<FittedReply<Value>>;
}

export interface FittedReply<Value> extends ChatReply<Value> {
  /** Said in the analysis where the model was shown less than usual. */
  readonly note: string | null;
}

const SMALLEST_SHARE = 0.25;
const HALF = "The model's context is too small for the usual question; it was shown half of it.";
const QUARTER = "The model's context is too small for the usual question; it was shown a quarter of it.";

export function createContextFit(): ContextFit {
  let usual = 1;
  return {
    ask: async (put) => {
      let lost: ModelUsage | null = null;
      for (let share = usual; ; share /= 2) {
        try {
          const reply = await put(share);
          usual = Math.min(usual, share);
          return { ...withLost(reply, lost), note: share === 1 ? null : share === 0.5 ? HALF : QUARTER };
        } catch (error) {
          if (!(error instanceof TriageError)) throw error;
          const usage = usageOf(error);
          if (error.code !== 'too-large' || share <= SMALLEST_SHARE) throw lost === null ? error : withUsage(error, plus(lost, usage));
          lost = plus(lost, usage);
        }
      }
    },
  };
}

const Lost = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number(),
  modelCalls: z.number(),
  cachedInputTokens: z.number().optional(),
  retries: z.number().optional(),
});

/** What a failed question cost, where its error says so. */
export function usageOf(error: unknown): ModelUsage | null {
  const read = error instanceof TriageError ? Lost.safeParse(error.details.usage) : null;
  if (read?.success !== true) return null;
  const { cachedInputTokens, retries, ...usage } = read.data;
  return { ...usage, ...countsOf({ cachedInputTokens, retries }) };
}

/** The sum of two bills; null is none. */
export function plus(left: ModelUsage | null, right: ModelUsage | null): ModelUsage | null {
  if (left === null || right === null) return left ?? right;
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    costUsd: left.costUsd + right.costUsd,
    modelCalls: left.modelCalls + right.modelCalls,
    ...countsOf({ cachedInputTokens: sum(left.cachedInputTokens, right.cachedInputTokens), retries: sum(left.retries, right.retries) }),
  };
}

/** What a reply cost. */
export function usageOfReply(reply: ChatReply<unknown>): ModelUsage {
  const { inputTokens, outputTokens, costUsd, calls } = reply;
  return { inputTokens, outputTokens, costUsd, modelCalls: calls ?? 1, ...countsOf(reply) };
}

function withLost<Value>(reply: ChatReply<Value>, lost: ModelUsage | null): ChatReply<Value> {
  const total = plus(usageOfReply(reply), lost);
  if (lost === null || total === null) return reply;
  const { modelCalls, ...usage } = total;
  return { ...reply, ...usage, calls: modelCalls };
}

function withUsage(error: TriageError, usage: ModelUsage | null): TriageError {
  return new TriageError(error.code, error.message, { cause: error, details: { ...error.details, usage } });
}

function countsOf({ cachedInputTokens, retries }: { cachedInputTokens?: number | undefined; retries?: number | undefined }) {
  return { ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }), ...(retries === undefined ? {} : { retries }) };
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
}
