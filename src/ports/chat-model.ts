export interface ChatRequest<Value> {
  readonly system: string;
  readonly user: string;
  /** Name of the structured reply, e.g. "classification". */
  readonly name: string;
  /** JSON schema of the reply. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Validates and types the reply; throws where it does not fit. */
  readonly parse: (reply: unknown) => Value;
}

export interface ChatReply<Value> {
  readonly value: Value;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** 0 where `costKnown` is false. */
  readonly costUsd: number;
  /** False where no price is known for the model; absent: known. */
  readonly costKnown?: boolean;
  /** How often the model was called for this reply, repairs included; absent: once. */
  readonly calls?: number;
}

/**
 * A model that answers in JSON. Throws TriageError: `upstream-auth` and `quota-exhausted` (final), `rate-limited`,
 * `timeout` and `upstream-failed` (retryable), `invalid-input` where the reply does not fit the schema.
 */
export interface ChatModel {
  readonly name: string;
  ask<Value>(request: ChatRequest<Value>, signal: AbortSignal): Promise<ChatReply<Value>>;
}
