import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';

export interface PublishOptions {
  /** Names this telling for good. To be left outside with what is told (a header, a marker in the text), so that it is known again. */
  readonly key: string;
  readonly signal: AbortSignal;
}

/** What the other side calls what it was told: an address or an id; null where it does not say. */
export interface Published {
  readonly reference: string | null;
}

/**
 * Tells somebody about an answer. A key is told once: where the other side can say what it has, `find` is asked before a second try;
 * where it cannot, it knows a second telling by its key.
 */
export interface Publisher {
  readonly driver: string;
  /** Throws TriageError; `retryable` where it may be tried again with the same key, `retryAfterMs` where the other side said when. */
  publish(build: Build, analysis: Analysis, options: PublishOptions): Promise<Published>;
  /** What an earlier try with this key left outside; null where there is nothing. */
  find?(build: Build, analysis: Analysis, options: PublishOptions): Promise<Published | null>;
}
