import { maxOf } from '../../lib/lists.ts';
import type { Cell } from '../../lib/text.ts';
import { type Html, html } from '../html.ts';
import { at, grid, line, type Plot, place, ticks, told } from './draw.ts';
import type { Chart } from './figure.ts';

/** One figure over weeks; null where a week has none. */
export interface Series {
  readonly name: string;
  /** Its class: `median`, `p90` or `share`. */
  readonly look: string;
  readonly values: readonly (number | null)[];
}

export interface LinesChart {
  readonly id: string;
  readonly name: string;
  readonly finding: string;
  readonly weeks: readonly string[];
  readonly series: readonly Series[];
  /** The number as people read it: "$0.02", "31 s". */
  readonly say: (value: number) => string;
  /** The top of the scale; absent: the largest value. */
  readonly top?: number;
  readonly csv: string;
}

const PLOT: Plot = { left: 62, top: 10, width: 480, height: 150 };

/** Figures per week as lines, each week a point. */
export function linesChart(chart: LinesChart): Chart {
  const known = chart.series.flatMap(({ values }) => values.filter((value) => value !== null));
  const rows = chart.weeks.map((week, index): Cell[] => [week, ...chart.series.map(({ values }) => say(values[index] ?? null, chart))]);
  return {
    id: chart.id,
    name: chart.name,
    finding: chart.finding,
    description: `One point per week, oldest on the left: ${chart.series.map(({ name }) => name).join(', ')}.`,
    drawing:
      known.length === 0
        ? null
        : {
            width: PLOT.left + PLOT.width + 24,
            height: PLOT.top + PLOT.height + 26,
            marks: drawing(chart, chart.top ?? (maxOf(known) || 1)),
          },
    below:
      chart.series.length > 1 &&
      html`<ul class="legend">${chart.series.map(({ name, look }) => html`<li><span class="key ${look}"></span>${name}</li>`)}</ul>`,
    table: { head: ['Week', ...chart.series.map(({ name }) => name)], rows },
    csv: chart.csv,
  };
}

function drawing(chart: LinesChart, top: number): Html {
  const across = (index: number) => (chart.weeks.length < 2 ? 0.5 : index / (chart.weeks.length - 1));
  const lines = [0, 0.5, 1].map((share) => ({ share, words: chart.say(share * top) }));
  const every = Math.max(1, Math.ceil(chart.weeks.length / 7));
  const words = chart.weeks.flatMap((week, index) => (index % every === 0 ? [{ share: across(index), words: week.slice(5) }] : []));
  return html`${grid(PLOT, lines)}${ticks(PLOT, words)}${chart.series.map(({ name, look, values }) => {
    const points = values.flatMap((value, index) =>
      value === null ? [] : [{ week: chart.weeks[index], value, ...place(PLOT, across(index), value / top) }],
    );
    const dots = points.map(({ week, value, x, y }) =>
      told(
        `${name}, week of ${week}: ${chart.say(value)}`,
        html`<circle class="dot ${look}" cx="${at(x)}" cy="${at(y)}" r="4" data-mark="${chart.say(value)}"/>`,
      ),
    );
    return html`${line(`curve ${look}`, points)}${dots}`;
  })}`;
}

function say(value: number | null, chart: LinesChart): Cell {
  return value === null ? null : chart.say(value);
}
