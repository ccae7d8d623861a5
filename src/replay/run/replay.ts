import { type Build, sparseBuild } from '../../domain/build.ts';
import { messageOf } from '../../domain/errors.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { maskSources, readMasked } from '../../triage/read-build.ts';
import type { TriagedSources } from '../../triage/triage-sources.ts';
import { type CaseTexts, type DatasetRow, type RowOutcome, readDataset, textsOf } from '../cases/dataset.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { type CaseResult, failedResult, resultOf } from './result.ts';

export interface ReplayOptions {
  readonly dataset: string;
  readonly budgetTokens: number;
  readonly concurrency: number;
  readonly maxLogBytes: number;
  /** Use the green log of rows that name one. */
  readonly green: boolean;
  /** Answers a case; null replays the reading alone. */
  readonly triage: ((build: Build, texts: CaseTexts, signal: AbortSignal) => Promise<TriagedSources>) | null;
  readonly onCase: (done: ReplayedCase) => Promise<void> | void;
}

/** A finished case with its labels, null where the row itself was not readable. */
export interface ReplayedCase {
  readonly row: DatasetRow | null;
  readonly result: CaseResult;
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
  for await (const outcome of readDataset(options.dataset)) {
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

async function replayRow(outcome: RowOutcome, options: ReplayOptions, signal: AbortSignal): Promise<ReplayedCase> {
  const startedAt = performance.now();
  if ('error' in outcome)
    return { row: null, result: failedResult(outcome.id ?? `line-${outcome.line}`, outcome.error, 0), quotes: NO_QUOTES };
  const { row } = outcome;
  try {
    const texts = await textsOf(row, options.dataset, { maxBytes: options.maxLogBytes, green: options.green });
    const { reading, analyses } = await answer(row, texts, options, signal);
    const result = resultOf(row.id, reading, analyses[0] ?? null, performance.now() - startedAt);
    return { row, result, ...checkCase(row, result, texts.source.text) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { row, result: failedResult(row.id, messageOf(error), performance.now() - startedAt), quotes: NO_QUOTES };
  }
}

async function answer(row: DatasetRow, texts: CaseTexts, options: ReplayOptions, signal: AbortSignal): Promise<TriagedSources> {
  if (options.triage !== null) return options.triage(buildOf(row), texts, signal);
  const { sources, secrets } = await maskSources([texts.source], createMasker());
  const green = texts.greenText;
  const reading = readMasked(sources, {
    budgetTokens: options.budgetTokens,
    secrets,
    ...(green === undefined ? {} : { greenText: green }),
  });
  return { reading, analyses: [] };
}

function checkCase(row: DatasetRow, result: CaseResult, text: string): Omit<ReplayedCase, 'row' | 'result'> {
  const startedAt = performance.now();
  const quotes = checkQuotes(result, text);
  const logTokens = row.expected_lines == null ? {} : { logTokens: estimateTokens(text) };
  return { quotes, ...logTokens, checkMilliseconds: performance.now() - startedAt };
}

/** Quotations are checked against the log as it came; `***`, a hidden secret, stands for any characters. */
function checkQuotes(result: CaseResult, text: string): ReplayedCase['quotes'] {
  const quotes = result.claims.flatMap((claim) => claim.quotes).filter((quote) => quote.source === result.excerpts[0]?.source);
  if (quotes.length === 0) return NO_QUOTES;
  const lines = text.split('\n');
  return { made: quotes.length, literal: quotes.filter((quote) => stands(quote.text, lines[quote.line - 1] ?? '')).length };
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
