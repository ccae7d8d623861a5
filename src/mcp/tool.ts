import { z } from 'zod';
import { Category } from '../domain/category.ts';

/** What a call is given besides its arguments. */
export interface CallContext {
  /** Aborted when the client cancels, goes away, or the time is up. */
  readonly signal: AbortSignal;
}

/** What a client may expect of a tool, in the protocol's words. */
export interface ToolManners {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** False: it reaches nothing but this installation. */
  readonly openWorldHint: boolean;
}

/** One question that an agent may put. Answers are bounded text; anything thrown as a TriageError is told as the tool's own error. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  /** Written for a model: when to call it, what comes back, what to call next. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly manners: ToolManners;
  /** Longest time of one call, in milliseconds. */
  readonly timeoutMs: number;
  /** `args` are checked against `input` first. Throws TriageError. */
  call(args: unknown, context: CallContext): Promise<string>;
}

interface ToolSpec<Input extends z.ZodObject> extends Pick<McpTool, 'name' | 'title' | 'description'> {
  readonly input: Input;
  readonly manners?: ToolManners;
  readonly timeoutMs?: number;
  run(args: z.output<Input>, context: CallContext): Promise<string>;
}

const READ_ONLY: ToolManners = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The database answers within milliseconds; what takes longer than this is stuck. */
const TIMEOUT_MS = 15_000;

/** A tool whose arguments are checked where they come in. */
export function defineTool<Input extends z.ZodObject>(spec: ToolSpec<Input>): McpTool {
  const { run, manners = READ_ONLY, timeoutMs = TIMEOUT_MS, ...words } = spec;
  return { ...words, manners, timeoutMs, call: async (args, context) => await run(spec.input.parse(args), context) };
}

/** Arguments that several tools take. */
export const FIELDS = {
  repository: z.string().min(1).max(300).describe('Only this repository, as owner/name'),
  category: z.enum(Category.options).describe('Only failures of this category'),
  cursor: z
    .string()
    .min(1)
    .max(200)
    .describe('The cursor that the last answer ended with, to go on where it was cut; other arguments stay the same'),
} as const;
