import { z } from 'zod';
import { Category } from '../domain/category.ts';
import { readInput } from '../domain/errors.ts';

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

/** The same twice: bounded text for a model, and data for a program, which fits the tool's `output`. */
export interface ToolAnswer<Data = Readonly<Record<string, unknown>>> {
  readonly text: string;
  readonly data: Data;
}

/** One question that an agent may put. Anything thrown as a TriageError is told as the tool's own error. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  /** Written for a model: when to call it, what comes back, what to call next. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly manners: ToolManners;
  /** Longest time of one call, in milliseconds. */
  readonly timeoutMs: number;
  /** `args` are checked against `input` first. Throws TriageError. */
  call(args: unknown, context: CallContext): Promise<ToolAnswer>;
}

interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> extends Pick<McpTool, 'name' | 'title' | 'description'> {
  readonly input: Input;
  readonly output: Output;
  readonly manners?: ToolManners;
  readonly timeoutMs?: number;
  run(args: z.output<Input>, context: CallContext): Promise<ToolAnswer<z.input<Output>>>;
}

const READ_ONLY: ToolManners = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The database answers within milliseconds; what takes longer than this is stuck. */
const TIMEOUT_MS = 15_000;

/** A tool whose arguments are checked where they come in, and whose data where it goes out. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(spec: ToolSpec<Input, Output>): McpTool {
  const { run, manners = READ_ONLY, timeoutMs = TIMEOUT_MS, ...words } = spec;
  const call: McpTool['call'] = async (args, context) => {
    const { text, data } = await run(readInput('The arguments', spec.input, args), context);
    return { text, data: spec.output.parse(data) };
  };
  return { ...words, manners, timeoutMs, call };
}

/** Arguments that several tools take. */
export const FIELDS = {
  repository: z.string().min(1).max(300).describe('Only this repository, as owner/name'),
  category: z.enum(Category.options).describe('Only failures of this category'),
  cursor: z
    .string()
    .min(1)
    .max(200)
    .describe('The cursor at the end of the previous answer, to continue there; keep the other arguments the same'),
} as const;
