import type { Category } from '../domain/category.ts';
import type { ToolCall, ToolOutcome } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';

export type CostClass = 'low' | 'medium' | 'high';
export type Outlook = 'good' | 'poor';

/** The description of a tool for the graph and the analysts, known before a call. */
export interface ToolDescription {
  readonly name: string;
  /** The question it answers, for people and models. */
  readonly question: string;
  readonly categories: readonly Category[];
  /** Runs in the first round for every failure of its categories. */
  readonly always: boolean;
  readonly costClass: CostClass;
  readonly usualLatencyMs: number;
  /** True if the tool is offered only when all others failed. */
  readonly fallback: boolean;
  /**
   * Worth of a call for the subject at hand, as far as it is known before the call: `good` if the tool has
   * something to compare or to show, `poor` if it has little. Absent if nothing is known.
   */
  readonly outlook?: Outlook;
  /** JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The registry of questions. A tool's own failure comes back as an outcome; `run` never throws for it. */
export interface Toolbox {
  /** Returns the tools for failures of this category, cheapest first and fallback tools last. */
  offered(category: Category): readonly ToolDescription[];
  /**
   * Returns the tools among `offered` that can be asked about this subject, with their outlook. Leaves out
   * tools that need a missing clone, provider or file; a model does not see those. Absent: all offered tools
   * can be asked.
   */
  askable?(
    category: Category,
    subject: TriageSubject,
    signal: AbortSignal,
  ): Promise<readonly ToolDescription[]>;
  describe(name: string): ToolDescription | null;
  /**
   * Returns the state of the circuit breakers by provider: `open` after too many failures, `half-open` while
   * the provider is tried again. Absent: there are no breakers.
   */
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

/** The client through which a running triage asks a person a question. */
export interface ReviewerClient {
  /**
   * Keeps the question in the review queue, one per triage: asked again, the first one stands. Throws
   * `storage-failed`.
   */
  ask(question: {
    readonly subject: TriageSubject;
    readonly category: Category;
    readonly text: string;
  }): Promise<{ readonly id: string; readonly text: string }>;
}
