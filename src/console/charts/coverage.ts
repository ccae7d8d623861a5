import { type Proportion, proportion } from '../../lib/statistics.ts';
import { type Html, html } from '../html.ts';
import type { Judged } from './bins.ts';
import { at, grid, line, type Plot, percentOf, place, ticks, told } from './draw.ts';
import type { Chart } from './figure.ts';

/** What would be answered without a person from this stated confidence on, and how much of it was right. */
export interface CoveragePoint extends Proportion {
  readonly threshold: number;
  /** Share of all answers that state at least so much. */
  readonly coverage: number;
}

/** Fewer decided answers above a threshold say too little to choose it. */
const CHOSEN_FROM = 20;
const PLOT: Plot = { left: 46, top: 10, width: 480, height: 240 };
const SHARES = [0, 0.25, 0.5, 0.75, 1].map((share) => ({ share, words: percentOf(share) }));

/** One point for each hundredth at which an answer was decided, from the surest down. `answered` counts all answers, decided or not. */
export function coveragePoints(
  judged: readonly Judged[],
  answered: readonly { readonly at: number; readonly count: number }[],
): CoveragePoint[] {
  const total = answered.reduce((sum, { count }) => sum + count, 0);
  const thresholds = [...new Set(judged.map((one) => one.at))].toSorted((one, other) => other - one);
  return thresholds.map((threshold) => pointAt(judged, answered, total, threshold));
}

function pointAt(
  judged: readonly Judged[],
  answered: readonly { readonly at: number; readonly count: number }[],
  total: number,
  threshold: number,
): CoveragePoint {
  const above = judged.filter((one) => one.at >= threshold - 1e-9);
  const of = above.reduce((sum, { count }) => sum + count, 0);
  const right = above.filter((one) => one.right).reduce((sum, { count }) => sum + count, 0);
  const covered = answered.filter((one) => one.at >= threshold - 1e-9).reduce((sum, { count }) => sum + count, 0);
  return { threshold, coverage: total === 0 ? 0 : covered / total, ...proportion(right, of) };
}

/** The lowest threshold above which, with 97.5 % confidence, at most this share is wrong; null where none is. */
export function thresholdFor(points: readonly CoveragePoint[], wrong: number): CoveragePoint | null {
  return points.findLast((point) => point.of >= CHOSEN_FROM && point.low >= 1 - wrong) ?? null;
}

export interface CoverageChart {
  /** `coverage` where it is left out; unique on the page. */
  readonly id?: string;
  readonly judged: readonly Judged[];
  readonly answered: readonly { readonly at: number; readonly count: number }[];
  /** The threshold that is looked at, 0..1. */
  readonly threshold: number;
  /** The share of wrong answers that is borne. */
  readonly wrong: number;
  readonly csv: string | null;
  /** Fields that the form for another threshold keeps; null: there is no such form. */
  readonly kept: Readonly<Record<string, string>> | null;
}

/** How much would be published automatically, and how much of it rightly, at every threshold. */
export function coverageChart(of: CoverageChart): Chart {
  const points = coveragePoints(of.judged, of.answered);
  const total = of.answered.reduce((sum, { count }) => sum + count, 0);
  const here = pointAt(of.judged, of.answered, total, of.threshold);
  const chosen = thresholdFor(points, of.wrong);
  return {
    id: of.id ?? 'coverage',
    name: 'Accuracy and coverage',
    finding: finding(here),
    description:
      'Horizontal axis: the share of all answers that would be published automatically. Vertical axis: the share of decided answers among them that was right, with the lower end of its 95 % interval. The threshold decreases from left to right.',
    drawing:
      points.length < 2
        ? null
        : { width: PLOT.left + PLOT.width + 36, height: PLOT.top + PLOT.height + 26, marks: drawing(points, here, chosen) },
    below: html`${choice(chosen, of)}${form(of)}`,
    table: {
      head: ['Threshold', 'Published automatically', 'Decided', 'Right', 'Share right', 'From (95 %)'],
      rows: points.map((point) => [
        point.threshold.toFixed(2),
        percentOf(point.coverage),
        point.of,
        point.hits,
        percentOf(point.share),
        percentOf(point.low),
      ]),
    },
    csv: of.csv,
  };
}

function finding(here: CoveragePoint): string {
  const start = `At ${here.threshold.toFixed(2)}: ${percentOf(here.coverage)} published automatically`;
  return here.of === 0
    ? `${start}; none of those is decided.`
    : `${start}, ${percentOf(here.share)} right (${here.hits} of ${here.of} decided).`;
}

function choice(chosen: CoveragePoint | null, { wrong }: CoverageChart): Html {
  if (chosen === null) return html`<p>With the decisions so far, no threshold keeps wrong answers at or below ${percentOf(wrong)}.</p>`;
  return html`<p>At most ${percentOf(wrong)} wrong: threshold <strong>${chosen.threshold.toFixed(2)}</strong> (${percentOf(chosen.coverage)} published automatically, ${percentOf(chosen.share)} right, ${percentOf(chosen.low)} at worst).</p>`;
}

function form({ threshold, wrong, kept }: CoverageChart): Html | null {
  if (kept === null) return null;
  const hidden = Object.entries(kept).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  return html`<form class="filters">${hidden}<label>threshold <input type="number" name="t" min="0" max="1" step="0.01" value="${threshold.toFixed(2)}"></label>
<label>maximum wrong, % <input type="number" name="wrong" min="0" max="50" step="1" value="${Math.round(wrong * 100)}"></label><button>Apply</button></form>`;
}

function drawing(points: readonly CoveragePoint[], here: CoveragePoint, chosen: CoveragePoint | null): Html {
  const x = at(place(PLOT, here.coverage, 0).x);
  const marks = points.map((point) => {
    const { x: cx, y } = place(PLOT, point.coverage, point.share);
    return told(
      `Threshold ${point.threshold.toFixed(2)}: ${percentOf(point.coverage)} published automatically, right ${point.hits} of ${point.of}`,
      html`<circle class="dot" cx="${at(cx)}" cy="${at(y)}" r="2.5" data-mark="${point.of}"/>`,
    );
  });
  return html`${grid(PLOT, SHARES)}${ticks(PLOT, SHARES)}${line(
    'band',
    points.map((one) => place(PLOT, one.coverage, one.low)),
  )}${line(
    'curve',
    points.map((one) => place(PLOT, one.coverage, one.share)),
  )}${marks}
<line class="threshold" x1="${x}" x2="${x}" y1="${PLOT.top}" y2="${PLOT.top + PLOT.height}"/><text class="label" x="${x}" y="${PLOT.top + PLOT.height - 6}" dx="4">${here.threshold.toFixed(2)}</text>${chosen !== null && chosenMark(chosen)}`;
}

function chosenMark(chosen: CoveragePoint): Html {
  const { x, y } = place(PLOT, chosen.coverage, chosen.low);
  return told(
    `Chosen: ${chosen.threshold.toFixed(2)}`,
    html`<rect class="chosen" x="${at(x - 6)}" y="${at(y - 6)}" width="12" height="12"/>`,
  );
}
