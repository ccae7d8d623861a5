/** Facts of a span: never the words of a log, a prompt or an answer. Those that are undefined or null are left out. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

export interface SpanOutline {
  /** "chat gpt-4o-mini": few different ones. */
  readonly name: string;
  /** `client`: another system is asked. */
  readonly kind: 'internal' | 'client';
  readonly facts: SpanFacts;
}

export interface OpenSpan {
  add(facts: SpanFacts): void;
  /** The work is done, but what it was done for failed. */
  fail(errorType: string): void;
}

/** Tells somebody outside what a run did and how long each part took. Never fails what it watches. */
export interface Tracer {
  /** Does the work inside a span; spans that the work opens stand under it. What it throws ends the span and is thrown on. */
  span<Value>(outline: SpanOutline, work: (span: OpenSpan) => Promise<Value>): Promise<Value>;
  /** Hands over what is still to be sent, for `limitMs` at most. */
  flush(limitMs: number): Promise<void>;
}

const nobody: OpenSpan = { add: () => undefined, fail: () => undefined };

export const silentTracer: Tracer = { span: (_outline, work) => work(nobody), flush: async () => undefined };
