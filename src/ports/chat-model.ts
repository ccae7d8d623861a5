export interface ChatRequest<Value> {
  readonly system: string;
  readonly user: string;
  /** The name of the structured reply, such as "classification". */
  readonly name: string;
  /** The JSON schema of the reply. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Validates and types the reply. Throws if it does not match. */
  readonly parse: (reply: unknown) => Value;
}

export interface ChatReply<Value> {
  readonly value: Value;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The cost in US dollars. 0 if `costKnown` is false. */
  readonly costUsd: number;
  /** False if no price is known for the model. True if absent. */
  readonly costKnown?: boolean;
  /** The number of model calls for this reply, including repairs. One if absent. */
  readonly calls?: number;
  /** The number of input tokens that the provider had cached. Absent if it does not report this. */
  readonly cachedInputTokens?: number;
  /** The number of failed attempts that were repeated. 0 if absent. */
  readonly retries?: number;
}

/** A function that the model may request to be called. */
export interface ChatTool {
  readonly name: string;
  readonly description: string;
  /** The JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * A call that the model requests. `args` is the model's own text, not yet checked against the tool's schema.
 */
export interface ChatToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The reason that the model stated, if any. */
  readonly why: string;
}

export interface ToolChoiceRequest {
  readonly system: string;
  readonly user: string;
  /** The name of the question, such as "select-tool". */
  readonly name: string;
  readonly tools: readonly ChatTool[];
}

/** A turn of a conversation. */
export interface ChatTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface StreamRequest {
  readonly system: string;
  /** The turns in order. The last one is the question. */
  readonly turns: readonly ChatTurn[];
  readonly name: string;
  /** Receives each piece of text as it arrives. Must not throw. */
  readonly onText: (piece: string) => void;
}

/**
 * A model that answers in JSON. Throws TriageError: `upstream-auth` and `quota-exhausted` (final);
 * `rate-limited`, `timeout` and `upstream-failed` (retryable); `invalid-input` if the reply does not match
 * the schema; `too-large` if the question does not fit the model's context, so that the caller can shorten
 * it. The cost of a failed call is in `details.usage`.
 */
export interface ChatModel {
  readonly name: string;
  ask<Value>(request: ChatRequest<Value>, signal: AbortSignal): Promise<ChatReply<Value>>;
  /**
   * Lets the model choose among tools: by the server's own function calling, otherwise by JSON with a schema,
   * otherwise by parsing the text. Several calls are independent of each other. No call means that no tool
   * would help. The result may contain calls of tools that do not exist, and the same call twice. At most 128
   * calls.
   */
  chooseTools(request: ToolChoiceRequest, signal: AbortSignal): Promise<ChatReply<readonly ChatToolCall[]>>;
  /**
   * Streams plain text piece by piece. The value of the reply is the whole text. Throws `upstream-failed` if
   * the reply is cut off.
   */
  stream(request: StreamRequest, signal: AbortSignal): Promise<ChatReply<string>>;
}
