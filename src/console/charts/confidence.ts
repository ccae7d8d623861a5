import { TOO_FEW } from '../../domain/insights.ts';
import { findMax } from '../../lib/collections.ts';
import {
  type CoveragePoint,
  computeCoverageAt,
  computeProportion,
  findThreshold,
  type Judged,
  listCoveragePoints,
  type Proportion,
  sumCounts,
} from '../../lib/statistics.ts';
import { renderHiddenFields } from '../controls.ts';
import { type Html, html } from '../html.ts';
import {
  type Chart,
  createDrawing,
  type Drawing,
  formatPercent,
  grid,
  line,
  type Plot,
  place,
  round,
  ticks,
  withTooltip,
} from './chart.ts';

/** The answers with a stated confidence of at least `from` and below `to`. */
interface Bin extends Proportion {
  readonly from: number;
  readonly to: number;
  /** The mean stated confidence of these answers. */
  readonly stated: number;
}

/** The minimum number of decided answers for a curve. */
const NO_CURVE_BELOW = 50;
/**
 * The number of decided answers below which there are five bins of about equal size, and otherwise ten of
 * equal width.
 */
const FIVE_BINS_BELOW = 200;
/** The number of answers below which a bin is drawn faded, because it may be due to chance. */
const FADED_BELOW = 10;

/**
 * Returns the non-empty bins of a calibration curve. Returns none if there are too few answers for a curve.
 */
export function computeBins(judged: readonly Judged[]): Bin[] {
  const total = sumCounts(judged);
  if (total < NO_CURVE_BELOW) return [];
  return total < FIVE_BINS_BELOW ? splitByMass(judged, total, 5) : splitByWidth(judged, 10);
}

function splitByWidth(judged: readonly Judged[], bins: number): Bin[] {
  const groups = Map.groupBy(judged, ({ at }) => Math.min(bins - 1, Math.floor(at * bins + 1e-9)));
  return [...groups]
    .toSorted(([left], [right]) => left - right)
    .map(([bin, group]) => createBin(group, bin / bins, (bin + 1) / bins));
}

/** Answers with the same hundredth stay together, so the sizes of the bins are only about equal. */
function splitByMass(judged: readonly Judged[], total: number, bins: number): Bin[] {
  const levels = [...Map.groupBy(judged, ({ at }) => at)].toSorted(([left], [right]) => left - right);
  let before = 0;
  const groups = Map.groupBy(levels, ([, group]) => {
    const middle = before + sumCounts(group) / 2;
    before += sumCounts(group);
    return Math.min(bins - 1, Math.floor((middle / total) * bins));
  });
  return [...groups.values()].map((group) => {
    const [first, last] = [group[0]?.[0] ?? 0, group.at(-1)?.[0] ?? 0];
    const members = group.flatMap(([, ones]) => ones);
    return createBin(members, first, Math.min(1, last + 0.01));
  });
}

function createBin(group: readonly Judged[], from: number, to: number): Bin {
  const of = sumCounts(group);
  const right = sumCounts(group.filter((judged) => judged.right));
  // Confidence is stored in hundredths. The middle of the hundredth stands for its answers.
  const stated =
    group.reduce((total, { at, count }) => total + Math.min(1, at + 0.005) * count, 0) / Math.max(1, of);
  return { from, to, stated, ...computeProportion(right, of) };
}

const CALIBRATION_PLOT: Plot = { left: 46, top: 10, width: 360, height: 260 };
const SMALL: Plot = { left: 46, top: 10, width: 200, height: 130 };
const BARS = 40;
const GAP = 22;
const SHARES = [0, 0.25, 0.5, 0.75, 1].map((share) => ({ share, words: formatPercent(share) }));
const HEAD = ['Stated', 'Average stated', 'Decided', 'Right', 'Share right', 'From (95 %)', 'To (95 %)'];

/**
 * Creates a chart of stated confidence against actual accuracy, by people's decisions. `small` charts are
 * shown side by side.
 */
export function createCalibrationChart(of: {
  readonly id: string;
  readonly name: string;
  readonly judged: readonly Judged[];
  readonly csv: string | null;
  readonly small?: boolean;
}): Chart {
  const bins = computeBins(of.judged);
  const total = sumCounts(of.judged);
  const plot = of.small === true ? SMALL : CALIBRATION_PLOT;
  return {
    id: of.id,
    name: of.name,
    finding: summarizeBins(bins, total),
    description:
      'Each point is a group of answers: stated confidence on the horizontal axis, share that was ' +
      'right on the vertical axis, with its 95 % interval. On the diagonal, both are equal. ' +
      'The bars below count the answers.',
    drawing: bins.length === 0 ? null : drawBins(bins, plot),
    table: bins.length === 0 ? createCountTable(of.judged) : { head: HEAD, rows: bins.map(createRow) },
    csv: of.csv,
  };
}

/** Describes in one sentence the widest gap that chance does not explain. */
export function summarizeBins(bins: readonly Bin[], total: number): string {
  if (bins.length === 0)
    return total === 0
      ? 'No decisions yet, so stated confidence cannot be compared with accuracy.'
      : `${total} decided. The comparison starts at ${NO_CURVE_BELOW} decisions.`;
  const off = bins.filter((bin) => bin.of >= FADED_BELOW && (bin.stated < bin.low || bin.stated > bin.high));
  const [worst] = off.toSorted(
    (left, right) => Math.abs(right.share - right.stated) - Math.abs(left.share - left.stated),
  );
  if (worst === undefined)
    return `Stated confidence matches accuracy, as far as ${total} decisions can show.`;
  const points = Math.round(Math.abs(worst.share - worst.stated) * 100);
  const manner = worst.share > worst.stated ? 'underconfident' : 'overconfident';
  return (
    `States ${formatPercent(worst.stated)}, is right ${formatPercent(worst.share)}: ${manner} ` +
    `by ${points} ${points === 1 ? 'point' : 'points'} between ${Math.round(worst.from * 100)} ` +
    `and ${Math.round(worst.to * 100)}.`
  );
}

function drawBins(bins: readonly Bin[], plot: Plot): Drawing {
  const most = findMax(bins.map(({ of }) => of));
  const floor = plot.top + plot.height + GAP;
  const [from, to] = [place(plot, 0, 0), place(plot, 1, 1)];
  const points = bins.map((bin) => place(plot, bin.stated, bin.share));
  const marks = html`${grid(plot, SHARES)}<line class="diagonal" x1="${round(from.x)}" y1="${round(from.y)}"
    x2="${round(to.x)}" y2="${round(to.y)}"/>
    ${line('curve', points)}${bins.map((bin) => point(bin, plot))}${bins.map((bin) =>
      bar(bin, plot, floor, most),
    )}${ticks(plot, SHARES, GAP + BARS + 16)}`;
  return createDrawing(plot, 24, GAP + BARS + 24, marks);
}

function point(bin: Bin, plot: Plot): Html {
  const { x, y } = place(plot, bin.stated, bin.share);
  const [low, high] = [place(plot, 0, bin.low).y, place(plot, 0, bin.high).y];
  const faded = bin.of < FADED_BELOW ? ' faded' : '';
  return withTooltip(
    describeBin(bin),
    html`<line class="whisker${faded}" x1="${round(x)}" x2="${round(x)}" y1="${round(low)}"
        y2="${round(high)}"/>
      <circle class="point${faded}" cx="${round(x)}" cy="${round(y)}" r="5" data-mark="${bin.of}"/>`,
  );
}

function bar(bin: Bin, plot: Plot, top: number, most: number): Html {
  const [x, end] = [place(plot, bin.from, 0).x + 1, place(plot, bin.to, 0).x - 1];
  const height = Math.max(1, (bin.of / most) * BARS);
  const mark = html`<rect class="count-bar" x="${round(x)}" y="${round(top + BARS - height)}"
    width="${round(Math.max(2, end - x))}" height="${round(height)}"/>`;
  return withTooltip(`${bin.of} decided`, mark);
}

function describeBin(bin: Bin): string {
  return (
    `Stated ${formatRange(bin)}: right ${bin.hits} of ${bin.of} ` +
    `(${formatPercent(bin.share)}; ${formatPercent(bin.low)} to ${formatPercent(bin.high)} with 95 % ` +
    'confidence)'
  );
}

function formatRange({ from, to }: Bin): string {
  return `${Math.round(from * 100)}–${Math.round(to * 100)} %`;
}

function createRow(bin: Bin) {
  return [
    formatRange(bin),
    formatPercent(bin.stated),
    bin.of,
    bin.hits,
    formatPercent(bin.share),
    formatPercent(bin.low),
    formatPercent(bin.high),
  ];
}

/** Creates a table of right and wrong answers, for too few answers for a curve. */
function createCountTable(judged: readonly Judged[]) {
  const count = (right: boolean) => sumCounts(judged.filter((other) => other.right === right));
  const rows = Object.entries({ right: count(true), wrong: count(false) });
  return { head: ['Decided', 'Count'], rows };
}

const COVERAGE_PLOT: Plot = { left: 46, top: 10, width: 480, height: 240 };

export interface CoverageChart {
  /** The id, unique on the page; `coverage` if absent. */
  readonly id?: string;
  readonly judged: readonly Judged[];
  readonly answered: readonly { readonly at: number; readonly count: number }[];
  /** The threshold that the reader is looking at, 0..1. */
  readonly threshold: number;
  /** The accepted share of wrong answers. */
  readonly wrong: number;
  readonly csv: string | null;
  /** Fields to keep in the form for another threshold. Null if there is no such form. */
  readonly kept: Readonly<Record<string, string>> | null;
}

/**
 * Creates a chart that shows, for every threshold, how many answers reach it and how many of those are right.
 */
export function createThresholdChart(of: CoverageChart): Chart {
  const points = listCoveragePoints(of.judged, of.answered);
  const here = computeCoverageAt(of.judged, of.answered, of.threshold);
  const chosen = findThreshold(points, of.wrong);
  return {
    id: of.id ?? 'coverage',
    name: 'Accuracy (vertical) and coverage (horizontal)',
    finding: summarizeCoverage(here),
    description:
      'Horizontal axis: the share of all answers that are sure enough to publish. Vertical axis: ' +
      'the share of decided answers among them that was right, with the lower end of its 95 % ' +
      'interval. The threshold decreases from left to right.',
    drawing:
      points.length < 2 ? null : createDrawing(COVERAGE_PLOT, 36, 26, coverageMarks(points, here, chosen)),
    below: html`${choice(chosen, of)}${form(of)}`,
    table: {
      head: ['Threshold', 'Sure enough to publish', 'Decided', 'Right', 'Share right', 'From (95 %)'],
      rows: points.map(({ threshold, coverage, of: decided, hits, share, low }) => {
        return [
          threshold.toFixed(2),
          formatPercent(coverage),
          decided,
          hits,
          formatPercent(share),
          formatPercent(low),
        ];
      }),
    },
    csv: of.csv,
  };
}

function summarizeCoverage(here: CoveragePoint): string {
  const start = `At ${here.threshold.toFixed(2)}: ${formatPercent(here.coverage)} sure enough to publish`;
  if (here.of === 0) return `${start}; none of those is decided.`;
  // With few decided answers, a percentage would look like a guarantee, so only counts are shown.
  const count = `${here.hits} of ${here.of} decided`;
  return here.of < TOO_FEW
    ? `${start}; ${count} are right.`
    : `${start}, ${formatPercent(here.share)} right (${count}).`;
}

function choice(chosen: CoveragePoint | null, { wrong }: CoverageChart): Html {
  if (chosen === null)
    return html`<p>With so few or so mixed decisions, no threshold can promise to keep wrong answers at or
      below ${formatPercent(wrong)}.</p>`;
  return html`<p>At most ${formatPercent(wrong)} wrong: threshold
    <strong>${chosen.threshold.toFixed(2)}</strong> (${formatPercent(chosen.coverage)} sure enough to publish,
    ${formatPercent(chosen.share)} right, ${formatPercent(chosen.low)} at worst).</p>`;
}

function form({ threshold, wrong, kept }: CoverageChart): Html | null {
  if (kept === null) return null;
  return html`<form class="filters">${renderHiddenFields(kept)}<label>threshold
    <input type="number" name="t" min="0" max="1" step="0.01" value="${threshold.toFixed(2)}"></label>
    <label>maximum wrong, % <input type="number" name="wrong" min="0" max="50" step="1"
    value="${Math.round(wrong * 100)}"></label><button>Preview</button></form>`;
}

function coverageMarks(
  points: readonly CoveragePoint[],
  here: CoveragePoint,
  chosen: CoveragePoint | null,
): Html {
  const x = round(place(COVERAGE_PLOT, here.coverage, 0).x);
  const marks = points.map((point) => {
    const { x: cx, y } = place(COVERAGE_PLOT, point.coverage, point.share);
    return withTooltip(
      `Threshold ${point.threshold.toFixed(2)}: ${formatPercent(point.coverage)} sure enough to ` +
        `publish, right ${point.hits} of ${point.of}`,
      html`<circle class="dot" cx="${round(cx)}" cy="${round(y)}" r="2.5" data-mark="${point.of}"/>`,
    );
  });
  const [band, curve] = [
    points.map((coveragePoint) => place(COVERAGE_PLOT, coveragePoint.coverage, coveragePoint.low)),
    points.map((coveragePoint) => place(COVERAGE_PLOT, coveragePoint.coverage, coveragePoint.share)),
  ];
  return html`${grid(COVERAGE_PLOT, SHARES)}${ticks(COVERAGE_PLOT, SHARES)}${line('band', band)}${line('curve', curve)}${marks}
    <line class="threshold" x1="${x}" x2="${x}" y1="${COVERAGE_PLOT.top}"
    y2="${COVERAGE_PLOT.top + COVERAGE_PLOT.height}"/>
    <text class="label" x="${x}" y="${COVERAGE_PLOT.top + COVERAGE_PLOT.height - 6}"
    dx="4">${here.threshold.toFixed(2)}</text>${chosen !== null && chosenMark(chosen)}`;
}

function chosenMark(chosen: CoveragePoint): Html {
  const { x, y } = place(COVERAGE_PLOT, chosen.coverage, chosen.low);
  const mark = html`<rect class="chosen" x="${round(x - 6)}" y="${round(y - 6)}" width="12" height="12"/>`;
  return withTooltip(`Chosen: ${chosen.threshold.toFixed(2)}`, mark);
}
