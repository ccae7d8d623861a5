import { styleText } from 'node:util';
import type { JudgementTrace } from '../domain/analysis.ts';
import { formatDollars, formatDuration } from './answer-facts.ts';
import type { AnalysisTrace, StepTrace, ToolTrace } from './trace.ts';
import { disarmRunnerCommands, formatNumber, visibleLine } from './visible-text.ts';
import { wrap } from './wrap.ts';

export interface TraceOptions {
  readonly color: boolean;
  /** Columns of the terminal; under 40 counts as 40. */
  readonly width: number;
}

const MAX_ARGUMENTS = 120;

/** The trace as a tree: steps, under each its judgements and tools, the totals at the end. No line is wider than `width`. */
export function renderTraceTree(trace: AnalysisTrace, { color, width }: TraceOptions): string {
  const columns = Math.max(40, width);
  const dim = (text: string) => (color ? styleText('dim', text, { validateStream: false }) : text);
  const bold = (text: string) => (color ? styleText('bold', text, { validateStream: false }) : text);
  const lines = trace.steps.flatMap((step, at) => {
    const last = at === trace.steps.length - 1 && !trace.truncated;
    const parts = partsOf(step);
    const head = cut(stepLine(step), columns - 3);
    return [
      `${dim(last ? '└─' : '├─')} ${bold(head)}`,
      ...parts.map((part, index) => {
        const stem = `${last ? '  ' : '│ '} ${index === parts.length - 1 ? '└─' : '├─'} `;
        return `${dim(stem)}${cut(part, columns - stem.length)}`;
      }),
    ];
  });
  const more = trace.truncated ? [dim('└─ … more steps')] : [];
  const head = [
    `${trace.category} · ${trace.terminationReason.replaceAll('_', ' ')} · ${trace.action.replaceAll('_', ' ')}`,
    trace.analysisId,
  ];
  return [bold(cut(head.map(visibleLine).join(' · '), columns)), ...lines, ...more, ...wrap(totalsOf(trace).join(' · '), columns)]
    .map((line) => `${line}\n`)
    .join('');
}

/** The same for pipes: `Key<tab>value` lines without any escape. Keys: Trace, Step, Judgement, Tool, Total. */
export function renderTracePlain(trace: AnalysisTrace): string {
  const rows: string[][] = [
    ['Trace', trace.analysisId, trace.category, trace.terminationReason, trace.action],
    ...trace.steps.flatMap((step) => [
      ['Step', stepLine(step)],
      ...step.judgements.map((judgement) => ['Judgement', judgementLine(judgement)]),
      ...step.tools.map((tool) => ['Tool', toolLine(tool)]),
    ]),
    ['Total', totalsOf(trace).join(' · ')],
  ];
  return rows.map((cells) => `${cells.map((cell) => disarmRunnerCommands(visibleLine(cell))).join('\t')}\n`).join('');
}

function partsOf(step: StepTrace): string[] {
  return [...step.judgements.map(judgementLine), ...step.tools.map(toolLine)];
}

function stepLine({ node, round, investigator, milliseconds, summary, tools }: StepTrace): string {
  const where = [node, round > 0 ? `round ${round}` : '', investigator ?? ''].filter((part) => part !== '').join(', ');
  // Each tool says its own below.
  return joined([where, formatDuration(milliseconds), tools.length > 0 ? '' : summary]);
}

function judgementLine(judgement: JudgementTrace): string {
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
  } = judgement;
  const cached = cachedInputTokens > 0 ? ` (${formatNumber(cachedInputTokens)} cached)` : '';
  const tokens = modelCalls === 0 ? '' : `${formatNumber(inputTokens)}${cached} → ${formatNumber(outputTokens)} tokens`;
  const cost = modelCalls === 0 ? '' : formatDollars(costUsd);
  return joined([
    `${name} by ${model ?? by}`,
    formatDuration(milliseconds),
    tokens,
    cost,
    modelCalls > 1 ? `${modelCalls} calls` : '',
    retriesOf(retries),
    note ?? '',
  ]);
}

function toolLine({ tool, args, status, summary, milliseconds, attempts, cached, answeredBy }: ToolTrace): string {
  const written = JSON.stringify(args);
  const shown = written.length > MAX_ARGUMENTS ? `${written.slice(0, MAX_ARGUMENTS)}…` : written;
  const how = cached ? 'from cache' : retriesOf(attempts - 1);
  const instead = answeredBy === undefined ? '' : `answered by ${answeredBy}`;
  // The arguments last: a narrow terminal cuts them first.
  return joined([tool, status, formatDuration(milliseconds), how, instead, summary, written === '{}' ? '' : shown]);
}

function totalsOf({ totals, milliseconds, reduction }: AnalysisTrace): string[] {
  const cached = totals.cachedInputTokens > 0 ? ` (${formatNumber(totals.cachedInputTokens)} cached)` : '';
  const kept = totals.cachedToolCalls > 0 ? ` (${totals.cachedToolCalls} from cache)` : '';
  return [
    formatDuration(milliseconds),
    counted(totals.iterations, 'round'),
    counted(totals.modelCalls, 'model call'),
    ...(totals.modelCalls === 0
      ? []
      : [`${formatNumber(totals.inputTokens)}${cached} → ${formatNumber(totals.outputTokens)} tokens`, formatDollars(totals.costUsd)]),
    `${counted(totals.toolCalls, 'tool call')}${kept}`,
    ...(totals.retries > 0 ? [retriesOf(totals.retries)] : []),
    `${formatNumber(reduction.logLines)} log lines → ${formatNumber(reduction.keptLines)} kept`,
  ];
}

function retriesOf(count: number): string {
  if (count <= 0) return '';
  return count === 1 ? '1 retry' : `${count} retries`;
}

function counted(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function joined(parts: readonly string[]): string {
  return disarmRunnerCommands(visibleLine(parts.filter((part) => part !== '').join(' · ')));
}

function cut(text: string, columns: number): string {
  const characters = Array.from(text);
  return characters.length <= columns ? text : `${characters.slice(0, columns - 1).join('')}…`;
}
