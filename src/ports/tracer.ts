/** Facts of a span: never the words of a log, a prompt or an answer. Those that are undefined or null are left out. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

export interface SpanOutline {
  /** "chat gpt-4o-mini": few different ones. */
  readonly name: string;
  /** `client`: another system is asked; `server`: somebody asks us; `producer`: work is left for later; `consumer`: left work is taken up. */
  readonly kind: 'internal' | 'client' | 'server' | 'producer' | 'consumer';
  readonly facts: SpanFacts;
  /** W3C traceparent of the span to stand under, of another process or an earlier time. Absent, null or unreadable: the span that is open here. */
  readonly parent?: string | null;
}

/** When something began and ended, in milliseconds since 1970. */
export interface Period {
  readonly startedAt: number;
  readonly endedAt: number;
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
  /** Tells of work that is over. */
  record(outline: SpanOutline, period: Period): void;
  /** W3C traceparent of the open span, for whoever goes on with the work elsewhere; null where none is open or nobody is told. */
  traceparent(): string | null;
  /** Hands over what is still to be sent, for `limitMs` at most. */
  flush(limitMs: number): Promise<void>;
}

const nobody: OpenSpan = { add: () => undefined, fail: () => undefined };

export const silentTracer: Tracer = {
  span: (_outline, work) => work(nobody),
  record: () => undefined,
  traceparent: () => null,
  flush: async () => undefined,
};
