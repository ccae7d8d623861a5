import { z } from 'zod';
import { isInScope } from '../domain/access.ts';
import { CATEGORIES, type Category } from '../domain/category.ts';
import type { Finding, ToolCall } from '../domain/evidence.ts';
import type { FindingFrom } from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { explainIssues } from '../lib/explain-issue.ts';
import type { Clues, CostClass, Outlook, Serves, ToolDescription, ToolSource } from '../ports/toolbox.ts';

/** The context of a tool call, in addition to its arguments. */
export interface ToolContext {
  readonly subject: TriageSubject;
  readonly category: Category;
  /** Aborts when the run ends or the tool's time limit is over. */
  readonly signal: AbortSignal;
}

/** The tool to call if this one fails, and its arguments. */
export interface Alternative {
  readonly tool: string;
  args(call: ToolCall, subject: TriageSubject): Record<string, unknown>;
}

/**
 * The rule by which a tool's answers are cached across runs. Cached answers are masked, and are reused only
 * within one repository and category.
 */
export interface CachePolicy<Args> {
  /** Milliseconds for which a cached answer is valid. */
  readonly ttlMs: number;
  /**
   * Returns what the answer depends on in addition to the arguments: a commit, a content hash, the values
   * used for omitted arguments. Returns null if this answer is not cached. May call the provider; an error
   * counts as null.
   */
  key(args: Args, context: ToolContext): readonly unknown[] | null | Promise<readonly unknown[] | null>;
}

/** A call with checked arguments. It may still be refused. Retries run the same request again. */
export interface ToolRequest {
  /** The arguments as they were read: checked, with defaults. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Returns what the answer depends on in addition to the arguments; null if it is not cached. */
  cacheKey(context: ToolContext): Promise<readonly unknown[] | null>;
  /** Returns the reason why this request is not allowed for this category, or null. */
  findRefusal(context: ToolContext): string | null;
  run(context: ToolContext): Promise<Finding[]>;
}

/** A tool that an analyst can call, made by {@link defineTool}. */
export interface Tool {
  readonly description: ToolDescription;
  /** The provider that answers: "code-host:local-git". Tools of one provider share a circuit breaker. */
  readonly provider: string;
  readonly alternative: Alternative | null;
  /** Returns findings that need no call. They are added if the tool fails and no alternative answers. */
  listFallbackFindings(subject: TriageSubject): Finding[];
  /** The number of milliseconds for which results are cached; null for never. */
  readonly cacheTtlMs: number | null;
  /**
   * Returns the reason why the tool is unavailable for this subject (for example, nothing is configured), or
   * null.
   */
  findUnavailableReason(subject: TriageSubject): Promise<string | null>;
  /** Returns the expected usefulness of a call for this subject; undefined if unknown. */
  estimateOutlook(subject: TriageSubject, signal: AbortSignal): Promise<Outlook | undefined>;
  /**
   * Checks arguments and returns the request, or the reason why they are invalid. A null value counts as
   * absent, because models must fill every field of a strict schema.
   */
  parseArguments(args: Readonly<Record<string, unknown>>): ToolRequest | { readonly error: string };
}

/** All categories, without a position in the order in which the rules call tools. */
export const ANY_CATEGORY: Serves = {
  CODE_ERROR: null,
  INFRA_ERROR: null,
  CONFIG_ERROR: null,
  DEPENDENCY_ERROR: null,
  TEST_FAILURE: null,
};

/** The definition of a tool. {@link ToolDescription} explains the fields that have no comment here. */
export interface ToolDefinition<Schema extends z.ZodObject, Name extends string = string> {
  readonly name: Name;
  readonly question: string;
  readonly serves: Serves;
  readonly investigator?: ToolDescription['investigator'];
  readonly asks: ToolSource;
  readonly precedence?: number;
  argumentsFrom?(clues: Clues): Record<string, unknown> | null;
  readonly always?: boolean;
  readonly costClass: CostClass;
  readonly usualLatencyMs: number;
  readonly fallback?: boolean;
  readonly isEmptyFinal?: boolean;
  readonly provider: string;
  readonly parameters: Schema;
  readonly alternative?: Alternative;
  /** Returns findings that need no call, for a failed tool. If absent, there are none. */
  listFallbackFindings?(subject: TriageSubject): FindingFrom<Name>[];
  /** The rule for caching answers. If absent, they are never cached. */
  readonly cache?: CachePolicy<z.output<Schema>>;
  findUnavailableReason?(subject: TriageSubject): Promise<string | null>;
  /**
   * Returns the expected usefulness of a call, from facts that cost little. Absent if nothing can be said
   * before the call.
   */
  estimateOutlook?(subject: TriageSubject, signal: AbortSignal): Promise<Outlook>;
  /** Returns the reason why these arguments are not allowed for this category, or null. */
  guard?(args: z.output<Schema>, context: ToolContext): string | null;
  /** Returns the findings. The tool's name determines the type of their data. */
  run(args: z.output<Schema>, context: ToolContext): Promise<FindingFrom<Name>[]>;
}

/** Creates a tool whose `run` receives only arguments that match its schema. */
export function defineTool<Schema extends z.ZodObject, Name extends string>(
  definition: ToolDefinition<Schema, Name>,
): Tool {
  return {
    description: {
      name: definition.name,
      question: definition.question,
      categories: CATEGORIES.filter((category) => category in definition.serves),
      serves: definition.serves,
      investigator: definition.investigator,
      asks: definition.asks,
      precedence: definition.precedence,
      always: definition.always ?? false,
      costClass: definition.costClass,
      usualLatencyMs: definition.usualLatencyMs,
      fallback: definition.fallback ?? false,
      isEmptyFinal: definition.isEmptyFinal,
      argumentsFrom: definition.argumentsFrom,
      parameters: toJsonSchema(definition.parameters),
    },
    provider: definition.provider,
    alternative: definition.alternative ?? null,
    listFallbackFindings: (subject) => definition.listFallbackFindings?.(subject) ?? [],
    cacheTtlMs: definition.cache?.ttlMs ?? null,
    findUnavailableReason: async (subject) => (await definition.findUnavailableReason?.(subject)) ?? null,
    estimateOutlook: async (subject, signal) => await definition.estimateOutlook?.(subject, signal),
    parseArguments(args) {
      const parsed = definition.parameters.safeParse(withoutNulls(args));
      if (!parsed.success) return { error: describeIssues(parsed.error, args, definition.parameters) };
      return {
        args: parsed.data,
        cacheKey: async (context) => (await definition.cache?.key(parsed.data, context)) ?? null,
        findRefusal: (context) => definition.guard?.(parsed.data, context) ?? null,
        run: (context) => definition.run(parsed.data, context),
      };
    },
  };
}

/**
 * The JSON schema of each parameter schema. Tools are created several times in a process (for each triage in
 * a terminal) from the same schemas, and translating one is expensive.
 */
const jsonSchemas = new WeakMap<z.ZodObject, Readonly<Record<string, unknown>>>();

function toJsonSchema(schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const known = jsonSchemas.get(schema);
  if (known !== undefined) return known;
  const { $schema: _version, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  jsonSchemas.set(schema, rest);
  return rest;
}

function withoutNulls(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).filter(([, value]) => value !== null && value !== undefined),
  );
}

function describeIssues(error: z.ZodError, args: unknown, schema: z.ZodObject): string {
  const issues = explainIssues(error.issues, args, schema);
  return issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}

/**
 * The scope of the tools. Returns, for a build's repository, a filter for the repositories that its tools may
 * read, in addition to its own. Their findings are stored with the answer, and everyone who may read the
 * build can read them.
 */
export type RepositoryScope = (repository: string) => Promise<(other: string) => boolean>;

/**
 * Allows every repository: in the terminal, and in a service that shares its repositories
 * (`triage.shareRepositories`).
 */
export const ALL_REPOSITORIES: RepositoryScope = async () => () => true;

/**
 * Creates the scope of a repository from its readers: the repositories that every reader may read too. The
 * readers are the tokens restricted to some repositories, including this one. Without such a token, every
 * repository is allowed.
 */
export function createReaderScope(tokens: {
  scopes(): Promise<readonly (readonly string[])[]>;
}): RepositoryScope {
  return async (repository) => {
    const readers = (await tokens.scopes()).filter((scope) => isInScope(scope, repository));
    return (other) => other === repository || readers.every((scope) => isInScope(scope, other));
  };
}
