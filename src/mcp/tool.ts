import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Build } from '../domain/build.ts';
import { Category } from '../domain/category.ts';
import { readInput, TriageError } from '../domain/errors.ts';
import type { DecisionInput, Review } from '../domain/review.ts';
import { withAgreedFix } from '../domain/whose.ts';
import type { ArrangedAnswer } from '../notifications/build-answers.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { Logger } from '../ports/telemetry.ts';
import { type AnswerWithWhose, findBuild, readBuildAnswers } from '../service/answers/views.ts';
import type { ShownStores } from '../stores/stores.ts';
import { toOneLine } from './shapes.ts';

interface CallContext {
  /** The signal that is aborted when the client cancels or disconnects, or when the time is up. */
  readonly signal: AbortSignal;
}

/**
 * The answer of a tool in two forms: bounded text for a model, and data for a program that matches the tool's
 * `output`.
 */
export interface ToolAnswer<Data = Readonly<Record<string, unknown>>> {
  readonly text: string;
  readonly data: Data;
}

/** A question that an agent can ask. A thrown TriageError is reported as the tool's own error. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  /** The description for a model: when to call it, what it returns, and what to call next. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** The behavior that a client may expect of the tool. */
  readonly manners: ToolAnnotations;
  /** The maximum time of one call, in milliseconds. */
  readonly timeoutMs: number;
  /** True if the page of an answer (answer-app.ts) shows its data. */
  readonly isShownByApp: boolean;
  /** Runs the tool. `args` must have been checked against `input`. Throws TriageError. */
  call(args: unknown, context: CallContext): Promise<ToolAnswer>;
}

interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject>
  extends Pick<McpTool, 'name' | 'title' | 'description'> {
  readonly input: Input;
  readonly output: Output;
  readonly manners?: ToolAnnotations;
  readonly timeoutMs?: number;
  readonly isShownByApp?: boolean;
  run(args: z.output<Input>, context: CallContext): Promise<ToolAnswer<z.input<Output>>>;
}

/** The annotations of a tool that reads nothing but this installation. */
const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * The time limit of a tool, in milliseconds. The database answers within milliseconds, so a call that takes
 * longer is stuck.
 */
const TIMEOUT_MS = 15_000;

/** Defines a tool whose arguments are checked before it runs, and whose data is checked afterwards. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
): McpTool {
  const { run, manners = READ_ONLY, timeoutMs = TIMEOUT_MS, isShownByApp = false, ...words } = spec;
  const call: McpTool['call'] = async (args, context) => {
    const { text, data } = await run(readInput('The arguments', spec.input, args), context);
    return { text, data: spec.output.parse(data) };
  };
  return { ...words, manners, timeoutMs, isShownByApp, call };
}

/** Arguments that several tools take. */
export const FIELDS = {
  repository: z.string().min(1).max(300).describe('Only this repository, as owner/name'),
  category: z.enum(Category.options).describe('Only failures of this category'),
  cursor: z
    .string()
    .min(1)
    .max(200)
    .describe(
      'The cursor at the end of the previous answer, to continue there; keep the other arguments the same',
    ),
} as const;

/** The result for a pasted log: one analysis per cause, the main one first. Nothing of it is stored. */
export type ExplainLog = (log: string, signal: AbortSignal) => Promise<readonly ArrangedAnswer[]>;

/**
 * A function that stores a decision under the reviewer's name and returns one sentence about its lesson.
 * Throws TriageError.
 */
export type Decide = (request: {
  readonly review: Review;
  readonly reviewer: string;
  readonly input: DecisionInput;
}) => Promise<{ readonly teaching: string }>;

/**
 * A function that returns the review of an analysis. It opens one if there is none, because a confident
 * answer may also be wrong. Throws `not-found`.
 */
export type OpenReview = (analysisId: string, by: string) => Promise<Review>;

/** The installation whose data the tools return. */
export interface InstallationDeps {
  readonly stores: Pick<
    ShownStores,
    'builds' | 'triages' | 'analyses' | 'failures' | 'history' | 'library' | 'reviews' | 'flakiness'
  >;
  readonly archive: Pick<BuildArchive, 'list' | 'lines'>;
  /** The public URL of the installation, for links to its console; null if it is not known. */
  readonly publicUrl: string | null;
}

/** The dependencies of the tools. A tool whose dependency is absent is not offered. */
export interface McpDeps {
  readonly installation?: InstallationDeps;
  readonly explainLog?: ExplainLog;
  /** The handlers of feedback. Without them, it is not offered. */
  readonly feedback?: { readonly decide: Decide; readonly openReview: OpenReview; readonly reviewer: string };
  readonly logger: Logger;
}

const MAX_OFFSET = 1_000_000;

/**
 * Creates the cursor at which a cut answer continues. Clients must not interpret it. It is valid only for the
 * same tool.
 */
export function createCursor(tool: string, offset: number): string {
  return Buffer.from(`${tool}.${offset}`).toString('base64url');
}

/**
 * Returns the offset of a cursor, or 0 without one. Throws `invalid-input` if it is not a cursor of this
 * tool.
 */
export function readOffset(tool: string, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [name, digits] = Buffer.from(cursor, 'base64url').toString().split('.');
  const offset = /^\d{1,7}$/.test(digits ?? '') ? Number(digits) : Number.NaN;
  if (name === tool && offset <= MAX_OFFSET) return offset;
  throw new TriageError('invalid-input', `This cursor does not belong to ${tool}. Omit it to start over.`);
}

interface Found {
  readonly build: Build | null;
  /** The answer with this id. For the id of a build, all its answers, in the order in which to fix them. */
  readonly answers: readonly [main: AnswerWithWhose, ...others: AnswerWithWhose[]];
}

/**
 * Finds the answers for an id: that of an analysis, our id of a build, or a build as `provider:number`.
 * Throws `not-found`, and `conflict` if the build is known but has no answer yet.
 */
export async function findAnswers(id: string, { stores }: InstallationDeps): Promise<Found> {
  if (!id.startsWith('bld_') && !id.includes(':')) {
    const analysis = await stores.analyses.find(id);
    if (analysis === null) throw new TriageError('not-found', `There is no failure ${toOneLine(id, 100)}.`);
    const answer = (await readBuildAnswers(stores, analysis.buildId)).find(
      (buildAnswer) => buildAnswer.analysis.id === analysis.id,
    );
    if (answer === undefined)
      throw new TriageError('not-found', `There is no failure ${toOneLine(id, 100)}.`);
    const agreed = withAgreedFix(analysis, answer.whose);
    return { build: await stores.builds.find(analysis.buildId), answers: [{ ...answer, analysis: agreed }] };
  }
  const build = await findBuild(stores.builds, id, {});
  const [main, ...others] = await readBuildAnswers(stores, build.id);
  if (main !== undefined) return { build, answers: [main, ...others] };
  const job = await stores.triages.findByBuild(build.id);
  if (job === null)
    throw new TriageError(
      'not-found',
      `The build ${build.id} has nothing to analyze: its status is ${build.status}.`,
    );
  if (job.state === 'failed')
    throw new TriageError(
      'conflict',
      `The build ${build.id} could not be analyzed: ${toOneLine(job.error ?? '', 300)}`,
    );
  throw new TriageError(
    'conflict',
    `The build ${build.id} is being analyzed (${job.state}). Ask again in a few seconds.`,
    {
      retryable: true,
    },
  );
}
