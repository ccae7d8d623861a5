import type { Category } from '../domain/category.ts';
import type { ToolCall, ToolOutcome } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';

export type CostClass = 'low' | 'medium' | 'high';
export type Outlook = 'good' | 'poor';

/** The kinds of sources that tools query. */
export const TOOL_SOURCES = ['code host', 'knowledge', 'history', 'log', 'web', 'people'] as const;
export type ToolSource = (typeof TOOL_SOURCES)[number];

/**
 * The categories for which a tool is offered. The number is its position among the tools that the rules call,
 * starting at 1. It is null if the rules do not call the tool by position, but at another time or never.
 */
export type Serves = Readonly<Partial<Record<Category, number | null>>>;

/** The clues of a failure, for tools that derive their arguments from them. */
export interface Clues {
  readonly subject: TriageSubject;
  /** The category of the failure; undefined if the arguments must not depend on it. */
  readonly category: Category | undefined;
  /** The files of the project that the failure names, the most suspicious first. */
  readonly places: readonly { readonly path: string }[];
  /** The first of these files with a line, except test files. */
  readonly located: { readonly path: string; readonly line: number } | null;
  /** The sentence that best describes what went wrong. Empty if there is none. */
  readonly headline: string;
  /** The text by which the rules decided. */
  readonly decisive: string | null;
  /** The name in the code that the failure is about. */
  readonly symbol: string | null;
  /** The manifest of the toolchain. */
  readonly manifest: string | null;
}

/** The description of a tool for the graph and the analysts, which is known before a call. */
export interface ToolDescription {
  readonly name: string;
  /** The question it answers, for people and models. */
  readonly question: string;
  readonly categories: readonly Category[];
  /** Its position for each category. If absent, the rules do not call it by position. */
  readonly serves?: Serves;
  /**
   * The parallel investigator that may call it. If absent, it is called only without parallel investigators.
   */
  readonly investigator?: 'code' | 'history' | 'documents' | undefined;
  /** The kind of source that it queries. */
  readonly asks?: ToolSource;
  /**
   * Its priority, starting at 1, if more calls were chosen than can be made at once. Tools whose findings
   * change answers most come first. A tool without a priority comes last.
   */
  readonly precedence?: number | undefined;
  /** True if the tool runs in the first round for every failure of its categories. */
  readonly always: boolean;
  readonly costClass: CostClass;
  readonly usualLatencyMs: number;
  /** True if the tool is offered only when all others failed. */
  readonly fallback: boolean;
  /**
   * The value of a call for the current subject, as far as it is known before the call. `good`: the tool has
   * something to compare or to show. `poor`: it has little. Absent if nothing is known.
   */
  readonly outlook?: Outlook;
  /** True if an empty answer is final, because other arguments would find nothing either. False if absent. */
  readonly isEmptyFinal?: boolean | undefined;
  /**
   * Derives the arguments from the clues. Returns null if they are not sufficient. If absent, the rules
   * cannot call the tool.
   */
  readonly argumentsFrom?: ((clues: Clues) => Record<string, unknown> | null) | undefined;
  /** The JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The registry of tools. A failure of a tool is returned as an outcome; `run` never throws it. */
export interface Toolbox {
  /** Returns the tools for failures of this category, cheapest first and fallback tools last. */
  offered(category: Category): readonly ToolDescription[];
  /**
   * Returns the tools among `offered` that can be called for this subject, with their outlook. Leaves out
   * tools that need a missing clone, provider or file, so that a model does not see them. If absent, all
   * offered tools can be called.
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

/** A web search. `configured: false` is a valid outcome, not an error. */
export interface WebSearch {
  readonly driver: string;
  readonly configured: boolean;
  search(query: string, limit: number, signal: AbortSignal): Promise<WebResult[]>;
}

/** A person at the keyboard of a running process. */
export interface Person {
  /** Puts a question, and returns the answer; null if there is none. Throws only if `signal` aborts. */
  ask(question: string, signal: AbortSignal): Promise<string | null>;
}

/** The client through which a running triage asks a person a question. */
export interface ReviewerClient {
  /**
   * Stores the question in the review queue, one per triage. If it is asked again, the first question stays.
   * Throws `storage-failed`.
   */
  ask(question: {
    readonly subject: TriageSubject;
    readonly category: Category;
    readonly text: string;
  }): Promise<{ readonly id: string; readonly text: string }>;
}
