import { judgeCorrection } from '../../domain/analysis.ts';
import { TOOL_SOURCES, type ToolSource } from '../../ports/toolbox.ts';
import { describeTools } from '../../tools/all-tools.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { CaseResult } from '../run/results.ts';
import {
  computeMean,
  computeRatio,
  createMeanFigure,
  createShareFigure,
  type Figure,
  listIds,
  listJudgedCases,
  shareFigure,
} from './figure.ts';

interface Run {
  readonly one: ReplayedCase;
}

/** The possible outcomes of a tool call. Statuses without an answer differ from an empty answer. */
const STATUSES = ['ok', 'empty', 'unavailable', 'refused', 'failed'] as const;

/**
 * Scores how many rounds the loop had, how it ended, and whether it looked in the right place. Returns none
 * if nothing was answered.
 */
export function scoreLoop(cases: readonly ReplayedCase[]): Figure[] {
  const runs = listRuns(cases);
  if (runs.length === 0) return [];
  const rounds = (replayedCase: ReplayedCase) => replayedCase.result.iterations ?? 0;
  const most = runs.reduce((top, { one }) => Math.max(top, rounds(one)), 0);
  const counts = Array.from({ length: most + 1 }, (_, count): Figure => {
    const value = runs.filter(({ one }) => rounds(one) === count).length;
    return {
      name: `runs of ${count} ${count === 1 ? 'round' : 'rounds'}`,
      value,
      cases: runs.length,
      unit: 'count',
    };
  });
  const reasons = [...new Set(runs.map(({ one }) => one.result.terminationReason ?? 'unknown'))].sort();
  const code = runs.filter(({ one }) => one.result.category === 'CODE_ERROR');
  return [
    { ...createMeanFigure('rounds a run (mean)', runs, ({ one }) => rounds(one)), unit: 'measure' },
    ...counts.filter(({ value }) => value > 0),
    ...reasons.map((reason) =>
      createShareFigure(
        `ended by ${reason}`,
        runs,
        ({ one }) => (one.result.terminationReason ?? 'unknown') === reason,
        'neither',
      ),
    ),
    {
      ...createMeanFigure('tool calls a run (mean)', runs, ({ one }) => one.result.tools.length),
      unit: 'measure',
    },
    ...(code.length === 0
      ? []
      : [
          createShareFigure('CODE_ERROR runs that asked the code host', code, ({ one }) =>
            hasAsked(one.result, 'code host'),
          ),
          createShareFigure('CODE_ERROR runs that the code host answered', code, ({ one }) =>
            hasAnswered(one.result, 'code host'),
          ),
        ]),
    ...scoreReadCode(runs),
    ...listUnansweredCalls(runs),
    ...scoreCorrections(runs),
  ];
}

/** Scores how often the code was read in runs with a repository. */
function scoreReadCode(runs: readonly Run[]): Figure[] {
  const atHand = runs.filter(({ one }) => one.row?.repo_path != null);
  const ofCode = atHand.filter(({ one }) => one.result.category === 'CODE_ERROR');
  const hasRead = ({ one }: Run) => hasAnswered(one.result, 'code host');
  const read = (name: string, among: readonly Run[]) => createShareFigure(name, among, hasRead, 'neither');
  return [
    ...(atHand.length === 0 ? [] : [read('runs with a repository that read code', atHand)]),
    ...(ofCode.length === 0 ? [] : [read('CODE_ERROR runs with a repository that read code', ofCode)]),
  ];
}

/**
 * Scores the corrections by verify: how often it sent an answer back, how often the next answer was more
 * certain, how often nothing new was found, and, for labeled cases, how often the category became right or
 * wrong.
 */
function scoreCorrections(runs: readonly Run[]): Figure[] {
  const corrected = runs.filter(({ one }) => one.result.corrections.length > 0);
  const all = corrected.flatMap(({ one }) => one.result.corrections);
  const results = all.map(judgeCorrection);
  const count = (wanted: (typeof results)[number]) => results.filter((result) => result === wanted).length;
  const changes = listJudgedCases(corrected.map(({ one }) => one)).flatMap(({ accepted, one }) =>
    one.result.corrections.map(({ before, after }) => ({
      before: accepted.includes(before.category),
      after: accepted.includes((after ?? before).category),
    })),
  );
  const righted = changes.filter(({ before, after }) => !before && after);
  const spoiled = changes.filter(({ before, after }) => before && !after);
  return [
    createShareFigure(
      'runs that were sent back',
      runs,
      ({ one }) => one.result.corrections.length > 0,
      'neither',
    ),
    ...(all.length === 0
      ? []
      : [
          shareFigure('corrections that made the answer surer', count('helped'), all.length),
          shareFigure('corrections that found nothing new', count('nothing_new'), all.length),
        ]),
    ...(changes.length === 0
      ? []
      : [
          shareFigure('corrections that righted the category', righted.length, changes.length),
          shareFigure('corrections that spoiled the category', spoiled.length, changes.length),
        ]),
  ];
}

/**
 * Returns one row for each answered category: the calls in each run, and the share of its runs that called
 * each class of tools.
 */
export function scoreToolsByCategory(cases: readonly ReplayedCase[]): Figure[] {
  const runs = listRuns(cases).filter(({ one }) => one.result.category !== null);
  const used = TOOL_CLASSES.filter((name) => runs.some(({ one }) => hasAsked(one.result, name)));
  if (used.length === 0) return [];
  const byCategory = [...Map.groupBy(runs, ({ one }) => one.result.category ?? '')].sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  return byCategory.flatMap(([row, own]) => {
    const calls = own.reduce((total, { one }) => total + one.result.tools.length, 0) / own.length;
    return [
      {
        name: `tool calls a run, ${row}`,
        value: calls,
        cases: own.length,
        unit: 'measure' as const,
        cell: { row, column: 'calls' },
      },
      ...used.map((column) => {
        const figure = createShareFigure(
          `runs that asked: ${column}, ${row}`,
          own,
          ({ one }) => hasAsked(one.result, column),
          'neither',
        );
        return { ...figure, cell: { row, column } };
      }),
    ];
  });
}

/** Returns one row for each tool: how often it was called, and the outcomes of its calls. */
export function scoreTools(cases: readonly ReplayedCase[]): Figure[] {
  const byTool = new Map<string, Map<string, number>>();
  for (const { tool, status } of cases.flatMap((replayedCase) => replayedCase.result.tools)) {
    const counts = byTool.get(tool) ?? new Map<string, number>();
    byTool.set(tool, counts.set('calls', (counts.get('calls') ?? 0) + 1));
    const column = getColumn(status);
    counts.set(column, (counts.get(column) ?? 0) + 1);
  }
  return [...byTool]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([row, counts]) => {
      const total = counts.get('calls') ?? 0;
      return ['calls', ...STATUSES].map((column): Figure => {
        const name = column === 'calls' ? `calls of ${row}` : `calls of ${row}: ${column}`;
        const cell = { row, column: column === 'unavailable' ? 'unavail.' : column };
        return { name, value: counts.get(column) ?? 0, cases: total, unit: 'count', cell };
      });
    });
}

function listUnansweredCalls(runs: readonly Run[]): Figure[] {
  const statuses = runs.flatMap(({ one }) => one.result.tools.map(({ status }) => getColumn(status)));
  if (statuses.length === 0) return [];
  const count = (wanted: string) => statuses.filter((status) => status === wanted).length;
  const failing = runs.filter(({ one }) =>
    one.result.tools.some(({ status }) => getColumn(status) === 'failed'),
  );
  return [
    shareFigure('tool calls that found something', count('ok'), statuses.length),
    shareFigure('tool calls that failed', count('failed'), statuses.length, listIds(failing)),
  ];
}

/** Returns the column of a status. Invalid arguments and timeouts count as failed. */
function getColumn(status: string): (typeof STATUSES)[number] {
  return STATUSES.find((known) => known === status) ?? 'failed';
}

function hasAsked({ tools }: CaseResult, name: ToolClass): boolean {
  return tools.some(({ tool }) => getToolClass(tool) === name);
}

function hasAnswered({ tools }: CaseResult, name: ToolClass): boolean {
  return tools.some(
    ({ tool, status }) => getToolClass(tool) === name && (status === 'ok' || status === 'empty'),
  );
}

function listRuns(cases: readonly ReplayedCase[]): Run[] {
  return cases
    .filter((replayedCase) => replayedCase.result.iterations !== null)
    .map((replayedCase) => ({ one: replayedCase }));
}

/** The kind of source that a tool queries; `other` for tools in old results that no longer exist. */
type ToolClass = ToolSource | 'other';

const TOOL_CLASSES: readonly ToolClass[] = [...TOOL_SOURCES, 'other'];

const CLASSES = new Map(describeTools().map(({ name, asks }) => [name, asks]));

/** Returns the class of a tool, or `other` for an unknown tool. */
export function getToolClass(tool: string): ToolClass {
  return CLASSES.get(tool) ?? 'other';
}

/**
 * Scores the tokens and dollars, for each case and in total, if a model was called, and the time for each
 * case. Times of failed cases are left out.
 */
export function scoreCosts(cases: readonly ReplayedCase[]): Figure[] {
  const answered = cases.filter((replayedCase) => replayedCase.result.action !== null);
  if (answered.length === 0) return [];
  const usages = cases.map(({ result }) => result.usage);
  const input = usages.map(({ inputTokens }) => inputTokens);
  const output = usages.map(({ outputTokens }) => outputTokens);
  const dollars = usages.map(({ costUsd }) => costUsd);
  const tokens = usages.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens);
  const total = (name: string, values: readonly number[], unit: 'count' | 'dollars'): Figure => ({
    name,
    value: values.reduce((sum, value) => sum + value, 0),
    cases: cases.length,
    unit,
  });
  const times = answered.map(({ result }) => result.milliseconds);
  const asked = tokens.some((count) => count > 0);
  return [
    ...(asked ? [total('input tokens', input, 'count'), total('output tokens', output, 'count')] : []),
    ...(asked
      ? [...createSpread('tokens a case', tokens, 'measure'), total('dollars', dollars, 'dollars')]
      : []),
    ...(asked ? createSpread('dollars a case', dollars, 'dollars') : []),
    ...createSpread('milliseconds a case', times, 'measure'),
  ];
}

function createSpread(name: string, values: readonly number[], unit: 'measure' | 'dollars'): Figure[] {
  const sorted = [...values].sort((left, right) => left - right);
  const figure = (which: string, value: number): Figure => ({
    name: `${name} (${which})`,
    value,
    cases: values.length,
    unit,
  });
  return [
    figure('mean', computeMean(values)),
    figure('p50', computePercentile(sorted, 0.5)),
    figure('p95', computePercentile(sorted, 0.95)),
  ];
}

/**
 * Returns the smallest value that at least this share of all values do not exceed (nearest rank). Returns 0
 * for no values.
 */
export function computePercentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

const MEGABYTE = 1_000_000;
/** The minimum number of megabytes for a speed. With less, mainly the start of the program is measured. */
const LEAST = 1;

/**
 * Computes milliseconds for each megabyte of log: the time of the whole run, including the data set and files
 * but not the checks against labels, divided by the bytes of all logs. It is the figure of one thread only if
 * one case runs at a time. Returns none for less than a megabyte.
 */
export function scoreSpeed(cases: readonly ReplayedCase[], elapsedMilliseconds: number): Figure[] {
  const megabytes = cases.reduce((total, replayedCase) => total + replayedCase.result.logBytes, 0) / MEGABYTE;
  if (megabytes < LEAST) return [];
  const checks = cases.reduce((total, replayedCase) => total + (replayedCase.checkMilliseconds ?? 0), 0);
  return [
    { name: 'megabytes of log', value: megabytes, cases: cases.length, unit: 'measure' },
    {
      name: 'milliseconds a megabyte',
      value: computeRatio(elapsedMilliseconds - checks, megabytes),
      cases: cases.length,
      unit: 'measure',
    },
  ];
}
