import type { ProgressStream } from '../../cli/progress.ts';
import { TriageError } from '../../domain/errors.ts';
import { formatCount } from '../../lib/text.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { CaseOutcome } from '../cases/case.ts';
import type { FigureSection } from '../figures/figure.ts';
import { type ReplayedCase, type ReplayOptions, replay } from '../run/replay.ts';
import type { CaseResult } from '../run/results.ts';
import type { ResultsFile } from '../run/results-file.ts';
import type { Measured } from './run-files.ts';

export type SourceOptions = Omit<ReplayOptions, 'onCase' | 'cases' | 'finished' | 'mayStart'>;

export interface Going {
  /** The file of results; null if they are not written. */
  readonly results: ResultsFile | null;
  readonly spending: Spending;
  readonly progress: ReplayProgress;
}

export interface SourceRun {
  readonly source: Measured['source'];
  readonly cases: readonly ReplayedCase[];
  readonly milliseconds: number;
  /** The reason why the run is incomplete, as a phrase; null if it is complete. */
  readonly stopped: string | null;
}

/** Replays the cases of one source, and writes each result when it is available. */
export async function replaySource(
  { source, cases: total }: Measured,
  options: SourceOptions,
  { results, spending, progress }: Going,
  signal: AbortSignal,
): Promise<SourceRun> {
  const cases: ReplayedCase[] = [];
  const startedAt = performance.now();
  const spentBefore = spending.usd;
  const counts = { resumed: 0, errors: 0, resumedMs: 0 };
  const onCase = async (done: ReplayedCase) => {
    const { result } = done;
    if (done.resumed) counts.resumed++;
    else await results?.append(result);
    if (done.resumed) counts.resumedMs += result.milliseconds / options.concurrency;
    else spending.add(result.usage.costUsd);
    cases.push(stripForMetrics(done));
    if (result.error !== null) counts.errors++;
    if (result.error !== null && !done.resumed) progress.say(toVisibleLine(`${result.id}: ${result.error}`));
    const elapsedMs = performance.now() - startedAt;
    if (!done.resumed)
      progress.show({ done: cases.length, ...counts, total, usd: spending.usd - spentBefore, elapsedMs });
  };
  // A full disk also stops the running cases.
  const controller = new AbortController();
  const finished = results === null ? {} : { finished: createFinishedReader(results) };
  const mayStart = () => spending.reached() === null;
  let stopped: string | null = null;
  try {
    const { isAll } = await replay(
      { ...options, ...finished, mayStart, cases: source.cases(), onCase },
      AbortSignal.any([signal, controller.signal]),
    );
    if (!isAll) stopped = spending.reached() ?? 'a limit was reached';
  } catch (error) {
    controller.abort();
    // The figures of the finished cases are still useful. The exit code shows that the run is incomplete.
    if (!signal.aborted || cases.length === 0) throw error;
    stopped = 'interrupted';
  } finally {
    progress.stop();
  }
  if (cases.length === 0 && stopped === null)
    throw new TriageError('invalid-input', `${source.path} contains no cases.`);
  const milliseconds = performance.now() - startedAt;
  progress.say(formatEnd(cases.length, total, counts.resumed, stopped, milliseconds));
  return { source, cases, milliseconds: milliseconds + counts.resumedMs, stopped };
}

function formatEnd(
  done: number,
  total: number | null,
  resumed: number,
  stopped: string | null,
  milliseconds: number,
): string {
  const before = resumed === 0 ? '' : `, ${resumed} of them by an earlier run`;
  if (stopped === null)
    return (
      `${formatCount(done, 'case')} ` +
      `in ${milliseconds < 10_000 ? `${(milliseconds / 1000).toFixed(1)} s` : formatDuration(milliseconds)}${before}`
    );
  return `stopped after ${total === null ? formatCount(done, 'case') : `${done} of ${formatCount(total, 'case')}`}${before}: ${stopped}`;
}

/** Returns the results of an earlier run in the order of the cases. Throws if they belong to other cases. */
function createFinishedReader(results: ResultsFile): (outcome: CaseOutcome) => Promise<CaseResult | null> {
  return async (outcome) => {
    const result = await results.next();
    if (result === null) return null;
    const id = 'error' in outcome ? (outcome.id ?? `line-${outcome.line}`) : outcome.one.row.id;
    if (result.id === id) return result;
    throw new TriageError(
      'conflict',
      `--resume: ${results.path} has ${result.id} where the cases have ${id}; it belongs to other cases.`,
    );
  };
}

/** One replay of one source, with its results. */
export interface ReportedRun {
  readonly heading: string;
  readonly run: SourceRun;
  readonly sections: readonly FigureSection[];
  /** The number of the repeat, 1-based. */
  readonly repeat: number;
  /** The file with the complete results; null if they are not kept. */
  readonly results: ResultsFile | null;
}

/**
 * Reduces a case to what figures need, because a hundred thousand cases must fit in memory. Removes logs,
 * whole answers, and the texts of excerpts, unless these are needed to measure the similarity of failures.
 */
export function stripForMetrics(done: ReplayedCase): ReplayedCase {
  const { row, result } = done;
  const keptBytes = result.excerpts.reduce((total, { text }) => total + Buffer.byteLength(text), 0);
  return {
    ...done,
    keptBytes,
    analysis: null,
    row: row === null ? null : { ...row, log: null, stack_trace: null, snippets: null },
    result:
      row?.group == null
        ? { ...result, messages: [], excerpts: result.excerpts.map((excerpt) => ({ ...excerpt, text: '' })) }
        : result,
  };
}

/**
 * The progress of a long replay: one line that is rewritten on a terminal, or else an occasional new line.
 */
interface ReplayProgress {
  show(standing: Standing): void;
  /** Prints a permanent line, such as a failed case. */
  say(line: string): void;
  /** Stops the display and clears the rewritten line. */
  stop(): void;
}

/** The minimum time between two updates of a terminal, in milliseconds. */
const FRAME_MS = 100;
/**
 * The maximum time in milliseconds between two lines elsewhere than on a terminal, because CI systems abort
 * jobs without output.
 */
const LINE_MS = 20_000;
/** The number of cases between two lines of progress. For large sets, it is a twentieth of the cases. */
const EVERY_CASES = 50;
const LINES = 20;
const CLEAR = '\r\x1b[2K';

/** Starts the progress display. `now` returns milliseconds since any fixed time. */
export function startReplayProgress(
  { plain }: { readonly plain: boolean },
  stream: ProgressStream = process.stderr,
  now: () => number = () => performance.now(),
): ReplayProgress {
  return stream.isTTY === true && !plain
    ? createRewritingProgress(stream, now)
    : createLineByLine(stream, now);
}

function createRewritingProgress(stream: ProgressStream, now: () => number): ReplayProgress {
  let lastText = '';
  let drawnAt = Number.NEGATIVE_INFINITY;
  const clear = () => {
    if (lastText !== '') stream.write(CLEAR);
    lastText = '';
  };
  return {
    show(standing) {
      if (now() - drawnAt < FRAME_MS && standing.done !== standing.total) return;
      drawnAt = now();
      lastText = formatStanding(standing).slice(0, (stream.columns || 80) - 1);
      stream.write(`${CLEAR}${lastText}`);
    },
    say(line) {
      const below = lastText;
      clear();
      stream.write(`${line}\n${below}`);
      lastText = below;
    },
    stop: clear,
  };
}

function createLineByLine(stream: ProgressStream, now: () => number): ReplayProgress {
  let saidAt = now();
  let saidDone = 0;
  return {
    show(standing) {
      if (standing.done === standing.total) return;
      if (
        now() - saidAt < LINE_MS &&
        standing.done - saidDone < Math.max(EVERY_CASES, (standing.total ?? 0) / LINES)
      )
        return;
      saidAt = now();
      saidDone = standing.done;
      stream.write(`${formatStanding(standing)}\n`);
    },
    say: (line) => void stream.write(`${line}\n`),
    stop: () => undefined,
  };
}

interface Standing {
  /** The number of finished cases, including those of an earlier run. */
  readonly done: number;
  readonly resumed: number;
  /** The number of all cases; null if unknown. */
  readonly total: number | null;
  readonly errors: number;
  /** The cost of this run in US dollars. */
  readonly usd: number;
  readonly elapsedMs: number;
}

/** The minimum number of finished cases for an estimate of the rest. */
const KNOWN_FROM = 5;

/**
 * Estimates the time and cost of the remaining cases from the mean of this run. Returns null if there are too
 * few cases or their number is unknown.
 */
export function estimateRest({ done, resumed, total, usd, elapsedMs }: Standing) {
  const fresh = done - resumed;
  if (total === null || fresh < KNOWN_FROM) return null;
  const share = Math.max(0, total - done) / fresh;
  return { milliseconds: elapsedMs * share, usd: usd * share };
}

/** Formats the progress: "120 of 214 cases, 2 failed, $0.41 so far; about 3 min and $0.32 left". */
export function formatStanding(standing: Standing): string {
  const { done, total, errors, usd } = standing;
  const left = estimateRest(standing);
  const so = [
    total === null ? `${done} cases` : `${done} of ${total} cases`,
    ...(errors === 0 ? [] : [`${errors} failed`]),
    ...(usd === 0 ? [] : [`${formatDollars(usd)} so far`]),
  ].join(', ');
  if (left === null || done === total) return so;
  return `${so}; about ${formatDuration(left.milliseconds)}${left.usd === 0 ? '' : ` and ${formatDollars(left.usd)}`} left`;
}

/** Formats a duration: "8 s", "3 min", "2 h 10 min". */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function formatDollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 3 : 2)}`;
}

/** The limits of a replay. An absent limit means no limit. */
interface Limits {
  /** The maximum cost of models in US dollars, as reported with the answers. */
  readonly usd?: number;
  readonly minutes?: number;
}

export type Spending = ReturnType<typeof createSpending>;

/**
 * Creates a meter of time and cost. Cases that run when a limit is reached are finished, so the cost may
 * exceed it. `now` returns milliseconds since any fixed time.
 */
export function createSpending(
  { usd = Number.POSITIVE_INFINITY, minutes }: Limits,
  now: () => number = () => performance.now(),
) {
  const startedAt = now();
  let spent = 0;
  return {
    add: (more: number) => {
      spent += more;
    },
    get usd(): number {
      return spent;
    },
    /** Returns the limit that was reached, as a phrase, or null if none was. */
    reached(): string | null {
      if (spent >= usd) return `$${usd} spent`;
      if (minutes !== undefined && now() - startedAt >= minutes * 60_000)
        return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} passed`;
      return null;
    },
  };
}
