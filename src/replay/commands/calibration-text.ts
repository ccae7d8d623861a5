import { computeProportion } from '../../lib/statistics.ts';
import { toVisibleLines } from '../../notifications/visible-text.ts';
import {
  computeReliability,
  type FitRow,
  type FittedCalibration,
  type Measured,
} from '../calibrate/calibrate.ts';
import { type LabelledAnswer, OWN_FROM, POOLED_FROM } from '../calibrate/fit.ts';
import type { CategoryThreshold } from '../calibrate/threshold.ts';

/** Answers of one analyst whose truth is known. */
export interface GatheredAnswers {
  readonly answers: readonly LabelledAnswer[];
  readonly analyst: string;
  readonly sources: readonly string[];
  /** The number of answers per day by category; null if it was not queried. */
  readonly perDay: ReadonlyMap<string, number> | null;
}

/** Formats the fitted calibration as tables for people. */
export function renderCalibration(fitted: FittedCalibration, gathered: GatheredAnswers): string {
  const { calibration, rows, thresholds, held } = fitted;
  const { fittedOn, before, after } = calibration;
  const heading =
    `Calibration of ${calibration.analyst}, ${fittedOn.cases} cases from ${fittedOn.projectCount} ` +
    'projects';
  const lines = [
    heading,
    '='.repeat(heading.length),
    '',
    'category          cases  right  fit       ECE before  after *',
    ...rows.map(formatRowText),
    '',
    `ECE    before ${formatMeasured(before.ece)}   after ` +
      `* ${after === null ? 'not known' : formatMeasured(after.ece)}`,
    `Brier  before ${formatMeasured(before.brier)}   after ` +
      `* ${after === null ? 'not known' : formatMeasured(after.brier)}`,
    after === null
      ? '* All cases belong to one project, so none could be held out: ' +
        'the quality of the fit elsewhere is unknown.'
      : '* Cross-validated: fitted without the case’s project. Intervals are 95 %, by resampling projects.',
    ...listNotes(rows),
    '',
    'Reliability: stated → share right (cases)',
    `  before   ${formatReliability(gathered.answers)}`,
    ...(held === null ? [] : [`  after *  ${formatReliability(held)}`]),
    ...listRiskLines(fitted, thresholds, gathered),
  ];
  return toVisibleLines(lines.join('\n')).join('\n');
}

function formatRowText({ category, cases, right, method, eceBefore, eceAfter }: FitRow): string {
  const after = eceAfter === null || cases === 0 ? '    –' : eceAfter.toFixed(3);
  const before = cases === 0 ? '    –' : eceBefore.toFixed(3);
  return `${category.padEnd(16)}  ${`${cases}`.padStart(5)}  ${`${right}`.padStart(5)}  ${(method ?? '').padEnd(8)}  ${before.padStart(10)}  ${after.padStart(7)}`;
}

function formatMeasured({ value, low, high }: Measured): string {
  return `${value.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`;
}

function listNotes(rows: readonly FitRow[]): string[] {
  return rows.flatMap(({ category, method, cases, worth }) => {
    const caseCount =
      Math.floor(worth) === cases
        ? `${cases}`
        : `${cases}, equivalent to ${Math.floor(worth)} equally weighted cases,`;
    if (method === 'capped')
      return [
        `${category}: too few cases (${caseCount} < ${POOLED_FROM}): ` +
          'the stated confidence is kept but capped, because there are too few cases to fit it.',
      ];
    if (method === 'pooled')
      return [
        `${category}: too few cases (${caseCount} < ${OWN_FROM}) for its own fit: ` +
          'the overall fit is used, and only lowers confidence.',
      ];
    return [];
  });
}

function formatReliability(statements: Parameters<typeof computeReliability>[0]): string {
  return computeReliability(statements)
    .map(({ stated, right, cases }) => `${stated.toFixed(2)} → ${right.toFixed(2)} (${cases})`)
    .join('   ');
}

function listRiskLines(
  { calibration: { risk } }: FittedCalibration,
  thresholds: readonly CategoryThreshold[],
  gathered: GatheredAnswers,
): string[] {
  if (risk === null) return [];
  const known = thresholds.filter(({ cases }) => cases > 0);
  const all = known.reduce((sum, { cases }) => sum + cases, 0);
  const published = known.reduce((sum, row) => sum + row.published, 0);
  const wrong = known.reduce((sum, row) => sum + row.wrong, 0);
  const coverage = computeProportion(published, all);
  return [
    '',
    `Thresholds for at most ${toPercent(risk.most)} wrong among published answers, ` +
      `with ${toPercent(risk.confidence)} confidence per category`,
    'category          cases  from     published             wrong  at most  reviews of 100',
    ...thresholds.map((threshold) => formatThreshold(threshold, gathered)),
    `Total: ${published} of ${all} published ` +
      `(${toPercent(coverage.share)}, ${toPercent(coverage.low)}–${toPercent(coverage.high)}), ${wrong} ` +
      `wrong; ${Math.round(100 * (1 - coverage.share))} of 100 answers go to review.`,
    'Clopper-Pearson bound; thresholds by Learn then Test (arXiv 2110.01052), per category.',
  ];
}

function formatThreshold(
  { category, threshold, cases, published, wrong, upper, needed }: CategoryThreshold,
  { perDay }: GatheredAnswers,
): string {
  const head = `${category.padEnd(16)}  ${`${cases}`.padStart(5)}  `;
  const share = computeProportion(published, cases);
  const load = threshold === null ? 100 : Math.round(100 * (1 - share.share));
  const daily =
    perDay === null ? '' : `  ${((perDay.get(category) ?? 0) * (load / 100)).toFixed(1)} reviews per day`;
  if (threshold === null)
    return (
      `${head}always reviewed: no threshold meets the risk (at least ${needed} cases without an error ` +
      `are needed)${daily}`
    );
  const interval = `${toPercent(share.low)}–${toPercent(share.high)}`;
  const covered = `${published} (${toPercent(share.share)}, ${interval})`;
  return `${head}${threshold.toFixed(4)}   ${covered.padEnd(20)}  ${`${wrong}`.padStart(5)}  ${toPercent(upper ?? 1).padStart(7)}  ${`${load}`.padStart(7)}${daily}`;
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}
