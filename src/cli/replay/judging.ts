import type { Config } from '../../config/schema.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import type { FigureSection } from '../../replay/figures/figure.ts';
import { judgeCases, scoreJudge } from '../../replay/judge.ts';
import type { Spending } from '../../replay/run/progress.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import type { SourceRun } from './replay-source.ts';

/**
 * Asks the judge about the explanations of a run: a section of its own, told apart from what is measured. Empty where the run was stopped, or
 * the judge is interrupted: what was replayed keeps its figures.
 */
export type Judging = (run: SourceRun, spending: Spending, signal: AbortSignal) => Promise<FigureSection[]>;

/** Opens the judge before anything is replayed, so that a missing model is said at once; null where none was asked for. */
export async function judging(options: ReplayCommandOptions, config: Config): Promise<Judging | null> {
  if (options.judge === undefined) return null;
  const { openJudge } = await import('../../app/open-judge.ts');
  const opened = await openJudge(config, silentLogger);
  const repeats = options.judge === true ? 1 : options.judge;
  return async ({ cases, stopped }, spending, signal) => {
    if (stopped !== null) return [];
    const limit = options.maxUsd === undefined ? {} : { maxCostUsd: Math.max(0, options.maxUsd - spending.usd) };
    const asked = { ...opened, ...limit, repeats, concurrency: options.concurrency };
    const report = await judgeCases(cases, asked, signal).catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (report === null) return [];
    spending.add(report.costUsd);
    return [scoreJudge(report)];
  };
}
