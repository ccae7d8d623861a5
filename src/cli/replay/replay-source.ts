import { TriageError } from '../../domain/errors.ts';
import { visibleLine } from '../../publish/visible-text.ts';
import type { CaseOutcome } from '../../replay/cases/case.ts';
import { durationText, type Spending } from '../../replay/run/progress.ts';
import { type ReplayedCase, type ReplayOptions, replay } from '../../replay/run/replay.ts';
import type { CaseResult } from '../../replay/run/result.ts';
import type { ResultsFile } from '../../replay/run/results-file.ts';
import type { ReplayProgress } from './replay-progress.ts';
import type { Measured } from './run-manifest.ts';
import { stripForMetrics } from './strip-for-metrics.ts';

export type SourceOptions = Omit<ReplayOptions, 'onCase' | 'cases' | 'finished' | 'mayStart'>;

/** What a replay goes through with. */
export interface Going {
  /** Null where nobody keeps the results. */
  readonly results: ResultsFile | null;
  readonly spending: Spending;
  readonly progress: ReplayProgress;
}

/** What came of one source of cases. */
export interface SourceRun {
  readonly source: Measured['source'];
  readonly cases: readonly ReplayedCase[];
  readonly milliseconds: number;
  /** Why it is not all: a phrase; null where it is. */
  readonly stopped: string | null;
}

/** Replays the cases of one source; the results are written down as they come. */
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
    if (result.error !== null && !done.resumed) progress.say(visibleLine(`${result.id}: ${result.error}`));
    const elapsedMs = performance.now() - startedAt;
    if (!done.resumed) progress.show({ done: cases.length, ...counts, total, usd: spending.usd - spentBefore, elapsedMs });
  };
  // A disk that is full ends what still runs, too.
  const own = new AbortController();
  const finished = results === null ? {} : { finished: finishedOf(results) };
  const mayStart = () => spending.reached() === null;
  let stopped: string | null = null;
  try {
    const { isAll } = await replay(
      { ...options, ...finished, mayStart, cases: source.cases(), onCase },
      AbortSignal.any([signal, own.signal]),
    );
    if (!isAll) stopped = spending.reached() ?? 'a limit was reached';
  } catch (error) {
    own.abort();
    // What is done is worth its figures; the exit code says that it is not all.
    if (!signal.aborted || cases.length === 0) throw error;
    stopped = 'interrupted';
  } finally {
    progress.stop();
  }
  if (cases.length === 0 && stopped === null) throw new TriageError('invalid-input', `${source.path} contains no cases.`);
  const milliseconds = performance.now() - startedAt;
  progress.say(endText(cases.length, total, counts.resumed, stopped, milliseconds));
  return { source, cases, milliseconds: milliseconds + counts.resumedMs, stopped };
}

function endText(done: number, total: number | null, resumed: number, stopped: string | null, milliseconds: number): string {
  const before = resumed === 0 ? '' : `, ${resumed} of them by an earlier run`;
  if (stopped === null)
    return `${done} cases in ${milliseconds < 10_000 ? `${(milliseconds / 1000).toFixed(1)} s` : durationText(milliseconds)}${before}`;
  return `stopped after ${done}${total === null ? '' : ` of ${total}`} cases${before}: ${stopped}`;
}

/** The results that an earlier run wrote, in the order of the cases. Throws where they are of others. */
function finishedOf(results: ResultsFile): (outcome: CaseOutcome) => Promise<CaseResult | null> {
  return async (outcome) => {
    const result = await results.next();
    if (result === null) return null;
    const id = 'error' in outcome ? (outcome.id ?? `line-${outcome.line}`) : outcome.one.row.id;
    if (result.id === id) return result;
    throw new TriageError('conflict', `--resume: ${results.path} has ${result.id} where the cases have ${id}; it belongs to other cases.`);
  };
}
