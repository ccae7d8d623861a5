import { z } from 'zod';
import { isInScope } from '../domain/access.ts';
import type { Category } from '../domain/category.ts';
import type { Finding, ToolCall } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { explainIssues } from '../lib/explain-issue.ts';
import type { CostClass, ToolDescription } from '../ports/toolbox.ts';

/** What a tool is given besides its arguments. */
export interface ToolContext {
  readonly subject: TriageSubject;
  readonly category: Category;
  /** Ends with the run or with the tool's time limit. */
  readonly signal: AbortSignal;
}

/** The tool that is asked instead when this one could not answer, and what it is asked. */
export interface Alternative {
  readonly tool: string;
  args(call: ToolCall, subject: TriageSubject): Record<string, unknown>;
}

/** Keeps a tool's answers across runs. What is kept is masked, and is of one repository and category. */
export interface CachePolicy<Args> {
  /** How long a kept answer holds, in milliseconds. */
  readonly ttlMs: number;
  /**
   * What the answer depends on beside the arguments: a commit, a content hash, the words that stand in for arguments left out. Null:
   * this answer is not kept. May ask the provider; what it throws counts as null.
   */
  key(args: Args, context: ToolContext): readonly unknown[] | null | Promise<readonly unknown[] | null>;
}

/** A question with arguments that fit: it may still be refused, and may be asked more than once. */
export interface Question {
  /** The arguments as they were read: checked, with defaults. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What its answer depends on beside them; null: it is not kept. */
  cacheKey(context: ToolContext): Promise<readonly unknown[] | null>;
  /** Why this question is not allowed for this category, or null. */
  refusal(context: ToolContext): string | null;
  run(context: ToolContext): Promise<Finding[]>;
}

/** One question that can be put to the world. Made by {@link defineTool}. */
export interface Tool {
  readonly description: ToolDescription;
  /** Who answers, "code-host:local-git"; tools of one provider share a circuit breaker. */
  readonly provider: string;
  readonly alternative: Alternative | null;
  /** How long its answers are kept, in milliseconds; null: never. */
  readonly cacheTtlMs: number | null;
  /** Why it cannot be asked about this subject at all (nothing configured), or null. */
  unavailable(subject: TriageSubject): Promise<string | null>;
  /** Checks arguments. A null value counts as absent: models must fill every field of a strict schema. */
  read(args: Readonly<Record<string, unknown>>): Question | { readonly error: string };
}

export interface ToolDefinition<Schema extends z.ZodObject> {
  readonly name: string;
  readonly question: string;
  readonly categories: readonly Category[];
  readonly always?: boolean;
  readonly costClass: CostClass;
  readonly usualLatencyMs: number;
  readonly fallback?: boolean;
  readonly provider: string;
  readonly parameters: Schema;
  readonly alternative?: Alternative;
  /** Absent: answers are never kept. */
  readonly cache?: CachePolicy<z.output<Schema>>;
  unavailable?(subject: TriageSubject): Promise<string | null>;
  /** Why these arguments are not allowed for this category, or null. */
  guard?(args: z.output<Schema>, context: ToolContext): string | null;
  run(args: z.output<Schema>, context: ToolContext): Promise<Finding[]>;
}

/** Makes a tool whose `run` sees only arguments that fit its schema. */
export function defineTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): Tool {
  return {
    description: {
      name: definition.name,
      question: definition.question,
      categories: definition.categories,
      always: definition.always ?? false,
      costClass: definition.costClass,
      usualLatencyMs: definition.usualLatencyMs,
      fallback: definition.fallback ?? false,
      parameters: jsonSchemaOf(definition.parameters),
    },
    provider: definition.provider,
    alternative: definition.alternative ?? null,
    cacheTtlMs: definition.cache?.ttlMs ?? null,
    unavailable: async (subject) => (await definition.unavailable?.(subject)) ?? null,
    read(args) {
      const parsed = definition.parameters.safeParse(withoutNulls(args));
      if (!parsed.success) return { error: describeIssues(parsed.error, args, definition.parameters) };
      return {
        args: parsed.data,
        cacheKey: async (context) => (await definition.cache?.key(parsed.data, context)) ?? null,
        refusal: (context) => definition.guard?.(parsed.data, context) ?? null,
        run: (context) => definition.run(parsed.data, context),
      };
    },
  };
}

function jsonSchemaOf(schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema: _version, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}

function withoutNulls(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== undefined));
}

function describeIssues(error: z.ZodError, args: unknown, schema: z.ZodObject): string {
  const issues = explainIssues(error.issues, args, schema);
  return issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}

/**
 * Which repositories the tools may look at for a build of this one, beside its own. What they find is stored with the answer, and read by
 * whoever may read the build.
 */
export type Sight = (repository: string) => Promise<(other: string) => boolean>;

/** Everything: where nobody is held to single repositories, as in a terminal. */
export const SEES_ALL: Sight = async () => () => true;

/** What every reader of the repository may see too: each token that is held to some repositories, and to this one among them. */
export function sightOfReaders(tokens: { scopes(): Promise<readonly (readonly string[])[]> }): Sight {
  return async (repository) => {
    const readers = (await tokens.scopes()).filter((scope) => isInScope(scope, repository));
    return (other) => other === repository || readers.every((scope) => isInScope(scope, other));
  };
}
