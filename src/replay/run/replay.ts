import type { ReadStage } from '../../domain/ablation.ts';
import type { Analysis } from '../../domain/analysis.ts';
import { type Build, sparseBuild } from '../../domain/build.ts';
import { messageOf } from '../../domain/errors.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { maskSources, readMasked } from '../../triage/read-build.ts';
import type { TriagedSources } from '../../triage/triage-sources.ts';
import type { CaseOutcome, CaseTexts, ReplayCase } from '../cases/case.ts';
import type { DatasetRow } from '../cases/row.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { type CaseResult, failedResult, resultOf } from './result.ts';

export interface ReplayOptions {
  readonly cases: AsyncIterable<CaseOutcome>;
  readonly budgetTokens: number;
  readonly concurrency: number;
  readonly maxLogBytes: number;
  /** Use the green log of rows that name one. */
  readonly green: boolean;
  /** Stages of the reader left out where cases are only read; an answerer knows its own. */
  readonly without?: ReadonlySet<ReadStage>;
  /** Answers a case; null replays the reading alone. */
  readonly answer: Answerer | null;
  readonly onCase: (done: ReplayedCase) => Promise<void> | void;
}

/** Answers one case. The recording of how is there where one was asked for. */
export type Answerer = (build: Build, texts: CaseTexts, signal: AbortSignal) => Promise<Answered>;

export type Answered = TriagedSources;

/** A finished case with its labels, null where the row itself was not readable. */
export interface ReplayedCase {
  readonly row: DatasetRow | null;
  readonly result: CaseResult;
  /** The whole answer; null where the case failed or was only read. */
  readonly analysis: Analysis | null;
  /** How many quotations the claims make, and how many stand literally on their line of the log. */
  readonly quotes: { readonly made: number; readonly literal: number };
  /** Tokens of the whole log, where its labelled lines are scored; counted in samples where the log is long. */
  readonly logTokens?: number;
  /** How long these checks took, which no triage makes; the clock of the run leaves it out. */
  readonly checkMilliseconds?: number;
}

const NO_QUOTES = { made: 0, literal: 0 };

/** Replays every row, several at once, and hands the cases over in the rows' order. */
export async function replay(options: ReplayOptions, signal: AbortSignal): Promise<void> {
  const running: Promise<ReplayedCase>[] = [];
  for await (const outcome of options.cases) {
    signal.throwIfAborted();
    running.push(replayRow(outcome, options, signal));
    if (running.length >= options.concurrency) await handOver(running, options);
  }
  while (running.length > 0) await handOver(running, options);
}

async function handOver(running: Promise<ReplayedCase>[], options: ReplayOptions): Promise<void> {
  const first = running.shift();
  if (first !== undefined) await options.onCase(await first);
}

async function replayRow(outcome: CaseOutcome, options: ReplayOptions, signal: AbortSignal): Promise<ReplayedCase> {
  const startedAt = performance.now();
  if ('error' in outcome)
    return { row: null, result: failedResult(outcome.id ?? `line-${outcome.line}`, outcome.error, 0), analysis: null, quotes: NO_QUOTES };
  const { one } = outcome;
  const { row } = one;
  try {
    const texts = await one.load({ maxBytes: options.maxLogBytes, green: options.green });
    const { reading, analyses } = await answerCase(one, texts, options, signal);
    const analysis = analyses[0] ?? null;
    const result = resultOf(row.id, reading, analysis, performance.now() - startedAt);
    return { row, result, analysis, ...checkCase(row, result, texts) };
  } catch (error) {
    if (signal.aborted) throw error;
    const result = failedResult(row.id, messageOf(error), performance.now() - startedAt);
    return { row, result, analysis: null, quotes: NO_QUOTES };
  }
}

async function answerCase(one: ReplayCase, texts: CaseTexts, options: ReplayOptions, signal: AbortSignal): Promise<Answered> {
  if (options.answer !== null) return options.answer(one.build ?? buildOf(one.row), texts, signal);
  const { sources, secrets } = await maskSources(texts.sources, createMasker());
  const green = texts.greenText;
  const reading = readMasked(sources, {
    budgetTokens: options.budgetTokens,
    secrets,
    ...(green === undefined ? {} : { greenText: green }),
    ...(options.without === undefined ? {} : { without: options.without }),
  });
  return { reading, analyses: [] };
}

function checkCase(row: DatasetRow, result: CaseResult, { sources }: CaseTexts): Omit<ReplayedCase, 'row' | 'result' | 'analysis'> {
  const startedAt = performance.now();
  const quotes = checkQuotes(result, sources);
  const logTokens = row.expected_lines == null ? {} : { logTokens: estimateTokens(sources[0]?.text ?? '') };
  return { quotes, ...logTokens, checkMilliseconds: performance.now() - startedAt };
}

/** Quotations are checked against the logs as they came; `***`, a hidden secret, stands for any characters. */
function checkQuotes(result: CaseResult, sources: CaseTexts['sources']): ReplayedCase['quotes'] {
  const logs = new Map(sources.map(({ name, text }) => [name, text.split('\n')]));
  const quotes = result.claims.flatMap((claim) => claim.quotes).filter((quote) => logs.has(quote.source));
  const literal = quotes.filter((quote) => stands(quote.text, logs.get(quote.source)?.[quote.line - 1] ?? ''));
  return { made: quotes.length, literal: literal.length };
}

function stands(quote: string, line: string): boolean {
  let at = 0;
  for (const part of quote.split('***')) {
    const found = line.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}

function buildOf(row: DatasetRow): Build {
  const known = { repository: row.project ?? 'unknown', pipeline: 'replay', number: row.id };
  return { ...sparseBuild(known), id: row.id, receivedAt: new Date(0).toISOString() };
}
