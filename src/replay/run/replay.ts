import { type Analysis, type Step, Usage, withTried } from '../../domain/analysis.ts';
import { type Build, createSparseBuild } from '../../domain/build.ts';
import type { ReadStage } from '../../domain/calibration.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { createMasker, type Masker } from '../../log/mask/mask.ts';
import { maskSources, readMasked } from '../../service/triage/read-build.ts';
import type { TriagedSources } from '../../service/triage/triage-build.ts';
import {
  type CaseOutcome,
  type CaseTexts,
  type DatasetRow,
  isLabelledBuild,
  type ReplayCase,
} from '../cases/case.ts';
import { type CaseChecks, checkCase } from './check-case.ts';
import { type CaseResult, toFailedResult, toResult } from './results.ts';

export interface ReplayOptions {
  readonly cases: AsyncIterable<CaseOutcome>;
  readonly budgetTokens: number;
  readonly concurrency: number;
  readonly maxLogBytes: number;
  /** True to use the green log of rows that have one. */
  readonly green: boolean;
  /** The stages of the reader to skip if cases are only read. An answerer has its own setting. */
  readonly without?: ReadonlySet<ReadStage>;
  /** Answers a case. Null to only read the logs. */
  readonly answer: Answerer | null;
  /**
   * The masker of texts that are only read, and of errors, which quote rows, logs and servers. By default, a
   * masker without settings.
   */
  readonly masker?: Masker;
  readonly onCase: (done: ReplayedCase) => Promise<void> | void;
  /**
   * Returns the result of a case from an earlier run, or null if it must be run. Called once for each case,
   * in order.
   */
  readonly finished?: (outcome: CaseOutcome) => Promise<CaseResult | null>;
  /** Checks before each case whether it may start. False ends the replay. */
  readonly mayStart?: () => boolean;
}

/**
 * Answers one case. Calls `onStep` after each finished step, so that the cost of a failed case is known. With
 * `everyCause`, all causes of the build are answered, not only the first one.
 */
export type Answerer = (
  build: Build,
  texts: CaseTexts,
  signal: AbortSignal,
  onStep: (step: Step) => void,
  everyCause: boolean,
) => Promise<Answered>;

interface Answered
  extends Pick<TriagedSources, 'reading' | 'analyses'>,
    Partial<Pick<TriagedSources, 'groups'>> {
  /**
   * The paths of the repository's files at the failing commit, one on each line. Empty or absent without a
   * clone.
   */
  readonly tree?: string;
}

/** A finished case with its labels; null if the row was unreadable. */
export interface ReplayedCase extends CaseChecks {
  readonly row: DatasetRow | null;
  readonly result: CaseResult;
  /** The whole answer; null if the case failed, was only read, or was finished in an earlier run. */
  readonly analysis: Analysis | null;
  /** The size of the excerpts in bytes, if their texts are no longer available. */
  readonly keptBytes?: number;
  /** True if an earlier run has finished and stored it. */
  readonly resumed?: true;
}

const NO_QUOTES = { made: 0, literal: 0 };

/**
 * Replays all cases, several at once, and passes them on in order. If `mayStart` returns false, no further
 * case is started, and running ones are finished. Returns the number of cases passed on, and whether these
 * are all. Rejects if `signal` aborts.
 */
export async function replay(options: ReplayOptions, signal: AbortSignal) {
  const line = createLine(options.concurrency, options.onCase);
  for await (const outcome of options.cases) {
    signal.throwIfAborted();
    const finished = (await options.finished?.(outcome)) ?? null;
    if (finished !== null) {
      await line.add(
        Promise.resolve(createReplayedCase('error' in outcome ? null : outcome.one.row, finished)),
      );
      continue;
    }
    await line.room();
    if (options.mayStart?.() === false) return { cases: await line.end(), isAll: false };
    await line.add(replayRow(outcome, options, signal));
  }
  return { cases: await line.end(), isAll: true };
}

/** Creates a replayed case from a known result, such as one from a results file. */
export function createReplayedCase(row: DatasetRow | null, result: CaseResult): ReplayedCase {
  const logTokens = result.logTokens === null ? {} : { logTokens: result.logTokens };
  return { row, result, analysis: null, quotes: result.quotes ?? NO_QUOTES, ...logTokens, resumed: true };
}

async function replayRow(
  outcome: CaseOutcome,
  options: ReplayOptions,
  signal: AbortSignal,
): Promise<ReplayedCase> {
  const startedAt = performance.now();
  const masker = options.masker ?? createMasker();
  if ('error' in outcome) {
    const result = toFailedResult(
      outcome.id ?? `line-${outcome.line}`,
      (await masker.mask(outcome.error)).text,
      0,
    );
    return { row: null, result, analysis: null, quotes: NO_QUOTES };
  }
  const { one } = outcome;
  const { row } = one;
  const steps: Step[] = [];
  try {
    const texts = await one.load({ maxBytes: options.maxLogBytes, green: options.green });
    const answered = await answerCase(
      one,
      texts,
      { ...options, masker, onStep: (step) => steps.push(step) },
      signal,
    );
    const [first, ...others] = answered.analyses;
    const tried = first === undefined || row.experiment == null ? first : withTried(first, row.experiment);
    const analyses = tried === undefined ? [] : [tried, ...others];
    const analysis = tried ?? null;
    const result = toResult(row.id, { ...answered, analyses }, performance.now() - startedAt);
    const checks = checkCase(row, result, texts, answered.tree);
    const { quotes, logTokens = null, stepFound = null, advice = null } = checks;
    return { row, result: { ...result, quotes, logTokens, stepFound, advice }, analysis, ...checks };
  } catch (error) {
    if (signal.aborted) throw error;
    const failed = toFailedResult(
      row.id,
      (await masker.mask(getErrorMessage(error))).text,
      performance.now() - startedAt,
    );
    return { row, result: { ...failed, usage: sumSpent(steps, error) }, analysis: null, quotes: NO_QUOTES };
  }
}

const Paid = Usage.pick({ inputTokens: true, outputTokens: true, costUsd: true });

/**
 * Sums the cost of a failed case: its finished steps, and the failed question if its error states the cost.
 */
function sumSpent(steps: readonly Step[], error: unknown): CaseResult['usage'] {
  const last = Paid.safeParse(error instanceof TriageError ? error.details.usage : null);
  const paid = [
    ...steps.flatMap(({ judgements: judgments = [] }) => judgments),
    ...(last.success ? [last.data] : []),
  ];
  const sum = (of: (usage: CaseResult['usage']) => number) =>
    paid.reduce((total, usage) => total + of(usage), 0);
  return {
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    costUsd: sum((usage) => usage.costUsd),
  };
}

type Masked = ReplayOptions & { readonly masker: Masker; readonly onStep: (step: Step) => void };

async function answerCase(
  replayCase: ReplayCase,
  texts: CaseTexts,
  options: Masked,
  signal: AbortSignal,
): Promise<Answered> {
  if (options.answer !== null)
    return options.answer(
      replayCase.build ?? toBuild(replayCase.row),
      texts,
      signal,
      options.onStep,
      isLabelledBuild(replayCase.row),
    );
  const { budgetTokens, without, masker } = options;
  const { sources, secrets } = await maskSources(texts.sources, masker);
  const reading = readMasked(sources, {
    budgetTokens,
    secrets,
    ...omitUndefined({ greenText: texts.greenText, without }),
  });
  return { reading, analyses: [] };
}

function toBuild(row: DatasetRow): Build {
  const known = { repository: row.project ?? 'unknown', pipeline: 'replay', number: row.id };
  return {
    ...createSparseBuild(known),
    id: row.id,
    commit: row.commit ?? null,
    receivedAt: new Date(0).toISOString(),
  };
}

/** The number of finished cases for each running one that may wait for a slow case before them. */
const WAITING = 8;

/**
 * Creates a queue that runs at most `most` tasks at once and passes on their results in the order in which
 * they were started.
 */
export function createLine<T>(most: number, onDone: (done: T) => Promise<void> | void) {
  const waiting: Promise<T>[] = [];
  const running = new Set<Promise<T>>();
  const settled = new Set<Promise<T>>();
  let count = 0;
  const handOver = async () => {
    const first = waiting.shift();
    if (first === undefined) return;
    const done = await first;
    settled.delete(first);
    await onDone(done);
    count++;
  };
  return {
    async room(): Promise<void> {
      while (running.size >= most) await Promise.race(running);
    },
    /**
     * Adds a running task. Passes on the finished results at the front, and waits while the queue is full.
     */
    async add(task: Promise<T>): Promise<void> {
      waiting.push(task);
      running.add(task);
      const leave = () => {
        running.delete(task);
        settled.add(task);
      };
      // This prevents an unhandled rejection. The error is reported when the task's result is awaited.
      task.then(leave, leave);
      await this.room();
      while (waiting[0] !== undefined && (settled.has(waiting[0]) || waiting.length >= most * WAITING))
        await handOver();
    },
    /** Waits for the remaining tasks. Returns the total number of results passed on. */
    async end(): Promise<number> {
      while (waiting.length > 0) await handOver();
      return count;
    },
  };
}
