import type { Category } from '../domain/category.ts';
import type { ToolCall, ToolOutcome } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';

export type CostClass = 'low' | 'medium' | 'high';

/** What the graph and the analysts know of a tool before they call it. */
export interface ToolDescription {
  readonly name: string;
  /** The question it answers, for people and models. */
  readonly question: string;
  readonly categories: readonly Category[];
  /** Runs in the first round for every failure of its categories. */
  readonly always: boolean;
  readonly costClass: CostClass;
  readonly usualLatencyMs: number;
  /** Only offered when everything else failed. */
  readonly fallback: boolean;
  /** JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The registry of questions. A tool's own failure comes back as an outcome; `run` never throws for it. */
export interface Toolbox {
  /** Tools that may be used for a failure of this category, cheapest first; fallback tools last. */
  offered(category: Category): readonly ToolDescription[];
  /**
   * Those of `offered` that can be asked about this subject: none that needs a clone, a provider or a file which is not there. A model is not
   * shown the others. Absent: all of them.
   */
  askable?(category: Category, subject: TriageSubject, signal: AbortSignal): Promise<readonly ToolDescription[]>;
  describe(name: string): ToolDescription | null;
  /** Circuit breakers by provider: who failed so often that it is left alone (`open`), or is tried again (`half-open`). Absent: there are none. */
  breakers?(): Readonly<Record<string, 'closed' | 'open' | 'half-open'>>;
  run(call: ToolCall, subject: TriageSubject, category: Category, signal: AbortSignal): Promise<ToolOutcome>;
}

export interface WebResult {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

/** Web search. `configured: false` is an honest outcome, not an error. */
export interface WebSearch {
  readonly driver: string;
  readonly configured: boolean;
  search(query: string, limit: number, signal: AbortSignal): Promise<WebResult[]>;
}

/** Where a running triage puts a question to a person. */
export interface ReviewerClient {
  /** Keeps the question in the review queue, one per triage: asked again, the first one stands. Throws `storage-failed`. */
  ask(question: {
    readonly subject: TriageSubject;
    readonly category: Category;
    readonly text: string;
  }): Promise<{ readonly id: string; readonly text: string }>;
}
