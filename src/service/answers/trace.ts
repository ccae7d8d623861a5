import { styleText } from 'node:util';
import { z } from 'zod';
import {
  Action,
  type Analysis,
  JudgementTrace,
  type Step,
  TerminationReason,
  Usage,
} from '../../domain/analysis.ts';
import { Category } from '../../domain/category.ts';
import { nameCategory } from '../../domain/category-words.ts';
import { ToolOutcome } from '../../domain/evidence.ts';
import { cutAfter, cutCharacters, formatCount } from '../../lib/text.ts';
import { formatDollars, formatDuration } from '../../notifications/answer-view.ts';
import {
  clip,
  disarmRunnerCommands,
  formatNumber,
  toVisibleLine,
  wrap,
} from '../../notifications/visible-text.ts';

/** One call of a tool. Texts in its arguments are masked and truncated. */
const ToolTrace = ToolOutcome.omit({ findings: true, call: true }).extend({
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
  why: z.string(),
  cached: z.boolean(),
});
export type ToolTrace = z.infer<typeof ToolTrace>;

const StepTrace = z.object({
  node: z.string(),
  round: z.int(),
  investigator: z.string().optional(),
  startedAt: z.iso.datetime(),
  milliseconds: z.number(),
  summary: z.string(),
  /** The analyst; absent if none was asked for a judgment. */
  by: z.string().optional(),
  judgements: z.array(JudgementTrace),
  tools: z.array(ToolTrace),
});
export type StepTrace = z.infer<typeof StepTrace>;

/** The steps of an analysis and the cost of each part. */
export const AnalysisTrace = z.object({
  analysisId: z.string(),
  buildId: z.string(),
  category: Category,
  action: Action,
  terminationReason: TerminationReason,
  analyst: z.string(),
  model: z.string().nullable(),
  createdAt: z.iso.datetime(),
  milliseconds: z.number(),
  totals: Usage.extend({
    steps: z.int(),
    judgements: z.int(),
    /** The number of input tokens that the provider had cached. */
    cachedInputTokens: z.int(),
    /** The number of tool answers that were reused from earlier calls. */
    cachedToolCalls: z.int(),
    /** The number of failed calls of the model and the tools that were made again. */
    retries: z.int(),
  }),
  reduction: z.object({ logLines: z.int(), logBytes: z.int(), keptLines: z.int(), tokens: z.int() }),
  promptHashes: z.record(z.string(), z.string()),
  notes: z.array(z.string()),
  /** The first 300 steps, in order. */
  steps: z.array(StepTrace),
  /** True if there were more steps. */
  truncated: z.boolean(),
});
export type AnalysisTrace = z.infer<typeof AnalysisTrace>;

const MAX_STEPS = 300;
const MAX_PARTS = 64;
const MAX_TEXT = 500;
const MAX_DEPTH = 3;

type Mask = (text: string) => Promise<string>;

/**
 * Builds the trace of a stored analysis. Its size is bounded. Every text is masked again, because the list of
 * secrets may have grown.
 */
export async function buildTrace(analysis: Analysis, mask: Mask): Promise<AnalysisTrace> {
  const {
    id,
    buildId,
    category,
    verdict,
    terminationReason,
    analyst,
    model,
    createdAt,
    milliseconds,
    reduction,
    promptHashes,
  } = analysis;
  return {
    analysisId: id,
    buildId,
    category,
    action: verdict.action,
    terminationReason,
    analyst,
    model,
    createdAt,
    milliseconds,
    totals: sumUsage(analysis),
    reduction,
    promptHashes,
    notes: await Promise.all(analysis.notes.slice(0, MAX_PARTS).map((note) => maskShort(note, mask))),
    steps: await Promise.all(analysis.steps.slice(0, MAX_STEPS).map((step) => traceStep(step, mask))),
    truncated: analysis.steps.length > MAX_STEPS,
  };
}

function sumUsage({ steps, usage }: Analysis): AnalysisTrace['totals'] {
  const judgments = steps.flatMap((step) => step.judgements ?? []);
  const outcomes = steps.flatMap((step) => step.outcomes ?? []);
  return {
    ...usage,
    steps: steps.length,
    judgements: judgments.length,
    cachedInputTokens: sum(judgments.map((judgment) => judgment.cachedInputTokens ?? 0)),
    cachedToolCalls: outcomes.filter((outcome) => outcome.cached === true).length,
    retries: sum([
      ...judgments.map((judgment) => judgment.retries ?? 0),
      ...outcomes.map(({ attempts }) => Math.max(0, attempts - 1)),
    ]),
  };
}

/** Formats one step for a trace, bounded and masked. */
export async function traceStep(
  { outcomes = [], judgements: judgments = [], ...step }: Step,
  mask: Mask,
): Promise<StepTrace> {
  return {
    ...step,
    summary: await maskShort(step.summary, mask),
    judgements: await Promise.all(
      judgments.slice(0, MAX_PARTS).map((judgment) => traceJudgment(judgment, mask)),
    ),
    tools: await Promise.all(outcomes.slice(0, MAX_PARTS).map((outcome) => traceTool(outcome, mask))),
  };
}

async function traceJudgment(judgment: JudgementTrace, mask: Mask): Promise<JudgementTrace> {
  return { ...judgment, note: judgment.note === null ? null : await maskShort(judgment.note, mask) };
}

async function traceTool(
  { call, ...outcome }: NonNullable<Step['outcomes']>[number],
  mask: Mask,
): Promise<ToolTrace> {
  const args = await maskValue(call.args, mask, MAX_DEPTH);
  return {
    ...outcome,
    tool: await maskShort(call.tool, mask),
    args: typeof args === 'object' && args !== null && !Array.isArray(args) ? { ...args } : {},
    why: await maskShort(call.why, mask),
    summary: await maskShort(outcome.summary, mask),
    cached: outcome.cached ?? false,
  };
}

async function maskValue(value: unknown, mask: Mask, depth: number): Promise<unknown> {
  if (typeof value === 'string') return await maskShort(value, mask);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value))
    return await Promise.all(value.slice(0, MAX_PARTS).map((item) => maskValue(item, mask, depth - 1)));
  const entries = Object.entries(value).slice(0, MAX_PARTS);
  return Object.fromEntries(
    await Promise.all(
      entries.map(async ([name, item]) => [name, await maskValue(item, mask, depth - 1)] as const),
    ),
  );
}

/** Masks text before truncating it, because half a secret is not recognized. */
async function maskShort(text: string, mask: Mask): Promise<string> {
  return clip(await mask(text), MAX_TEXT);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export interface TraceOptions {
  readonly color: boolean;
  /** The width of the terminal in columns; at least 40 is used. */
  readonly width: number;
}

const MAX_ARGUMENTS = 120;

/**
 * Renders the trace as a tree: the steps with their judgments and tools, and the totals at the end. No line
 * is wider than `width`.
 */
export function renderTraceTree(trace: AnalysisTrace, { color, width }: TraceOptions): string {
  const columns = Math.max(40, width);
  const dim = (text: string) => (color ? styleText('dim', text, { validateStream: false }) : text);
  const bold = (text: string) => (color ? styleText('bold', text, { validateStream: false }) : text);
  const lines = trace.steps.flatMap((step, at) => {
    const last = at === trace.steps.length - 1 && !trace.truncated;
    const parts = [...step.judgements.map(formatJudgmentLine), ...step.tools.map(formatToolLine)];
    const head = cutCharacters(formatStepLine(step), columns - 3);
    return [
      `${dim(last ? '└─' : '├─')} ${bold(head)}`,
      ...parts.map((part, index) => {
        const stem = `${last ? '  ' : '│ '} ${index === parts.length - 1 ? '└─' : '├─'} `;
        return `${dim(stem)}${cutCharacters(part, columns - stem.length)}`;
      }),
    ];
  });
  const more = trace.truncated ? [dim('└─ … more steps')] : [];
  const head = [
    `${nameCategory(trace.category)} · ${trace.terminationReason.replaceAll('_', ' ')} ` +
      `· ${trace.action.replaceAll('_', ' ')}`,
    trace.analysisId,
  ];
  return [
    bold(cutCharacters(head.map(toVisibleLine).join(' · '), columns)),
    ...lines,
    ...more,
    ...wrap(listTotals(trace).join(' · '), columns),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/**
 * Renders the trace for pipes: `Key<tab>value` lines without escape sequences. Keys: Trace, Step, Judgment,
 * Tool, Total.
 */
export function renderTracePlain(trace: AnalysisTrace): string {
  const rows: string[][] = [
    ['Trace', trace.analysisId, trace.category, trace.terminationReason, trace.action],
    ...trace.steps.flatMap((step) => [
      ['Step', formatStepLine(step)],
      ...step.judgements.map((judgment) => ['Judgment', formatJudgmentLine(judgment)]),
      ...step.tools.map((tool) => ['Tool', formatToolLine(tool)]),
    ]),
    ['Total', listTotals(trace).join(' · ')],
  ];
  return rows
    .map((cells) => `${cells.map((cell) => disarmRunnerCommands(toVisibleLine(cell))).join('\t')}\n`)
    .join('');
}

function formatStepLine({ node, round, investigator, milliseconds, summary, tools }: StepTrace): string {
  const where = [node, round > 0 ? `round ${round}` : '', investigator ?? '']
    .filter((part) => part !== '')
    .join(', ');
  // Each tool has its own summary below.
  return join([where, formatDuration(milliseconds), tools.length > 0 ? '' : summary]);
}

function formatJudgmentLine(judgment: JudgementTrace): string {
  const {
    name,
    by,
    model,
    milliseconds,
    modelCalls,
    inputTokens,
    outputTokens,
    cachedInputTokens = 0,
    costUsd,
    retries = 0,
    note,
  } = judgment;
  const cached = cachedInputTokens > 0 ? ` (${formatNumber(cachedInputTokens)} cached)` : '';
  const tokens =
    modelCalls === 0 ? '' : `${formatNumber(inputTokens)}${cached} → ${formatNumber(outputTokens)} tokens`;
  const cost = modelCalls === 0 ? '' : formatDollars(costUsd);
  return join([
    `${name} by ${model ?? by}`,
    formatDuration(milliseconds),
    tokens,
    cost,
    modelCalls > 1 ? `${modelCalls} calls` : '',
    formatRetries(retries),
    note ?? '',
  ]);
}

function formatToolLine({
  tool,
  args,
  status,
  summary,
  milliseconds,
  attempts,
  cached,
  answeredBy,
}: ToolTrace): string {
  const written = JSON.stringify(args);
  const shortened = cutAfter(written, MAX_ARGUMENTS);
  const how = cached ? 'from cache' : formatRetries(attempts - 1);
  const instead = answeredBy === undefined ? '' : `answered by ${answeredBy}`;
  // The arguments are last, because a narrow terminal cuts off the end.
  return join([
    tool,
    status,
    formatDuration(milliseconds),
    how,
    instead,
    summary,
    written === '{}' ? '' : shortened,
  ]);
}

function listTotals({ totals, milliseconds, reduction }: AnalysisTrace): string[] {
  const cached = totals.cachedInputTokens > 0 ? ` (${formatNumber(totals.cachedInputTokens)} cached)` : '';
  const kept = totals.cachedToolCalls > 0 ? ` (${totals.cachedToolCalls} from cache)` : '';
  return [
    formatDuration(milliseconds),
    formatCount(totals.iterations, 'round'),
    formatCount(totals.modelCalls, 'model call'),
    ...(totals.modelCalls === 0
      ? []
      : [
          `${formatNumber(totals.inputTokens)}${cached} → ${formatNumber(totals.outputTokens)} tokens`,
          formatDollars(totals.costUsd),
        ]),
    `${formatCount(totals.toolCalls, 'tool call')}${kept}`,
    ...(totals.retries > 0 ? [formatRetries(totals.retries)] : []),
    `${formatNumber(reduction.logLines)} log lines → ${formatNumber(reduction.keptLines)} kept`,
  ];
}

function formatRetries(count: number): string {
  if (count <= 0) return '';
  return count === 1 ? '1 retry' : `${count} retries`;
}

function join(parts: readonly string[]): string {
  return disarmRunnerCommands(toVisibleLine(parts.filter((part) => part !== '').join(' · ')));
}
