import type { Refusal } from '../refusal.ts';
import type { CompletionRequest } from './connect.ts';

/** A call as the model wrote it. The arguments are text that should be JSON. */
export interface WrittenCall {
  readonly name: string;
  readonly args: string;
}

export interface TokenCount {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The number of cached input tokens. Null if the server does not report it. */
  readonly cachedInputTokens: number | null;
  /** The number of input tokens that were written to the cache at a price of their own. */
  readonly cacheWriteTokens: number;
  /** The cost in US dollars that the server states itself, as OpenRouter does. */
  readonly statedUsd?: number | undefined;
}

/** The parts of a reply that are used. */
export interface Completion extends TokenCount {
  /** The text of the reply without the model's reasoning. */
  readonly text: string;
  readonly calls: readonly WrittenCall[];
  /** The reason why the reply ended: "stop", "length", "content_filter", "tool_calls". */
  readonly finish: string;
  readonly refused: boolean;
  readonly model: string | null;
}

export interface StreamOptions {
  /** Receives each piece of the answer, without the model's reasoning. */
  readonly onText: (piece: string) => void;
  /** Runs whenever the server sends anything, so that silence can be detected. */
  readonly onLife: () => void;
}

/**
 * The protocol of a model server. Both methods resolve to the answer, or to the server's refusal. They throw
 * `upstream-failed` without an answer, and `invalid-input` if it is too large or not of the protocol.
 */
export interface ChatDriver {
  complete(request: CompletionRequest, signal: AbortSignal): Promise<Completion | Refusal>;
  /** Passes the answer on as it arrives. A refusal comes only before its first piece. */
  stream(
    request: CompletionRequest,
    options: StreamOptions,
    signal: AbortSignal,
  ): Promise<Completion | Refusal>;
}
