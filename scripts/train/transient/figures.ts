import { isNotDevelopersFault } from '../../../src/domain/analysis.ts';
import { predictRerun } from '../../../src/domain/rerun.ts';
import type { TransientLesson } from './fit.ts';

/** The prediction of a model that did not see the failure's group. */
export interface Forecast {
  readonly lesson: TransientLesson;
  readonly share: number;
}

/** Describes the forecasts of each set, one line each, and of all sets together. */
export function describeForecasts(forecasts: readonly Forecast[]): string[] {
  const sets = [...Map.groupBy(forecasts, ({ lesson }) => lesson.set)];
  return [...sets, ['all', forecasts] as const].map(([set, own]) => describeSet(set, own));
}

function describeSet(set: string, own: readonly Forecast[]): string {
  const passes = own.filter(({ lesson }) => lesson.passes);
  const byCategory = own.map(({ lesson }) => ({ lesson, share: Number(isNotDevelopersFault(lesson.told)) }));
  const likely = own.filter(({ share }) => predictRerun(share) === true);
  const unlikely = own.filter(({ share }) => predictRerun(share) === false);
  const wrongLikely = likely.filter(({ lesson }) => !lesson.passes).length;
  const wrongUnlikely = unlikely.filter(({ lesson }) => lesson.passes).length;
  return [
    `${set}: ${own.length}, ${passes.length} pass`,
    `${scoreF1(own)}; by category ${scoreF1(byCategory)}`,
    `calibration error ${formatCalibrationError(own).toFixed(3)}`,
    `told to pass: ${likely.length}, ${wrongLikely} fail`,
    `told to fail: ${unlikely.length}, ${wrongUnlikely} pass`,
  ].join('; ');
}

function scoreF1(own: readonly Forecast[]): string {
  const told = own.filter(({ share }) => share >= 0.5);
  const hits = told.filter(({ lesson }) => lesson.passes).length;
  const passes = own.filter(({ lesson }) => lesson.passes).length;
  const share = (part: number, of: number) => (of === 0 ? '–' : (part / of).toFixed(3));
  return `F1 ${share(2 * hits, told.length + passes)} (precision ${share(hits, told.length)}, recall ${share(hits, passes)})`;
}

/** Computes the expected calibration error, in ten bins of equal width. */
function formatCalibrationError(own: readonly Forecast[]): number {
  const bins = Map.groupBy(own, ({ share }) => Math.min(9, Math.floor(share * 10)));
  const off = Array.from(bins.values(), (some) =>
    Math.abs(some.reduce((sum, { share, lesson }) => sum + share - Number(lesson.passes), 0)),
  );
  return off.reduce((sum, value) => sum + value, 0) / own.length;
}
