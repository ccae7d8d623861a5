import type { Category } from '../domain/category.ts';
import type { ToolCall, ToolOutcome } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';

export type CostClass = 'low' | 'medium' | 'high';
export type Outlook = 'good' | 'poor';

/** The kinds of sources that tools ask. */
export const TOOL_SOURCES = ['code host', 'knowledge', 'history', 'log', 'web', 'people'] as const;
export type ToolSource = (typeof TOOL_SOURCES)[number];

/**
 * The categories for which a tool is offered, each with its place among the tools that the rules call, 1
 * first. The place is null if the rules do not call the tool by its place, but at their own time or never.
 */
export type Serves = Readonly<Partial<Record<Category, number | null>>>;

/** The clues of a failure, for the tools that make their arguments of them. */
export interface Clues {
  readonly subject: TriageSubject;
  /** The category of the failure; undefined if the arguments must not depend on it. */
  readonly category: Category | undefined;
  /** The files of the project that the failure names, most suspicious first. */
  readonly places: readonly { readonly path: string }[];
  /** The first of them with a line that is no test's. */
  readonly located: { readonly path: string; readonly line: number } | null;
  /** The sentence that best describes what went wrong; empty if there is none. */
  readonly headline: string;
  /** The text by which the rules decided. */
  readonly decisive: string | null;
  /** The name in the code that the failure is about. */
  readonly symbol: string | null;
  /** The manifest of the toolchain. */
  readonly manifest: string | null;
}

/** The description of a tool for the graph and the analysts, known before a call. */
export interface ToolDescription {
  readonly name: string;
  /** The question it answers, for people and models. */
  readonly question: string;
  readonly categories: readonly Category[];
  /** Its place for each category; absent: the rules do not ask it by its place. */
  readonly serves?: Serves;
  /** The investigator of a fan-out that may call it. If absent, it is called only outside a fan-out. */
  readonly investigator?: 'code' | 'history' | 'documents' | undefined;
  /** The kind of source that it queries. */
  readonly asks?: ToolSource;
  /**
   * Its place, 1 first, if more calls were chosen than can be made at once: the tools whose findings change
   * answers most. A tool without a place comes last.
   */
  readonly precedence?: number | undefined;
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
  /** True if an empty answer is final, because other arguments would find nothing either. False if absent. */
  readonly isEmptyFinal?: boolean | undefined;
  /**
   * Derives the arguments from the clues; null if they are not enough. If absent, the rules cannot call the
   * tool.
   */
  readonly argumentsFrom?: ((clues: Clues) => Record<string, unknown> | null) | undefined;
  /** JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The registry of questions. A tool's own failure comes back as an outcome; `run` never throws for it. */
export interface Toolbox {
  /** Returns the tools for failures of this category, cheapest first and fallback tools last. */
  offered(category: Category): readonly ToolDescription[];
  /**
   * Returns the tools among `offered` that can be called for this subject, with their outlook. Leaves out
   * tools that need a missing clone, provider or file; a model does not see those. If absent, all offered
   * tools can be called.
   */
  askable?(
    category: Category,
    subject: TriageSubject,
    signal: AbortSignal,
  ): Promise<readonly ToolDescription[]>;
  describe(name: string): ToolDescription | null;
  /**
   * Returns the state of the circuit breakers by provider: `open` after too many failures, `half-open` while
   * the provider is tried again. If absent, there are no breakers.
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
