import { CATEGORIES, type Category } from '../../domain/category.ts';
import { CATEGORY_WORDS } from '../../domain/category-words.ts';
import type { RunMark } from '../../domain/flakiness.ts';
import { findMax, sumNumbers } from '../../lib/collections.ts';
import { sumCounts } from '../../lib/statistics.ts';
import { type Cell, formatCount } from '../../lib/text.ts';
import { formatDay } from '../controls.ts';
import { dataTable, type Html, html, type Shown } from '../html.ts';
import { getHue } from '../parts/marks.ts';

/** The area of a drawing that contains its marks. Labels are to the left of it and below. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Creates a drawing with marks on a plot, and with room for words to the right and below. */
export function createDrawing(plot: Plot, right: number, below: number, marks: Shown): Drawing {
  return { width: plot.left + plot.width + right, height: plot.top + plot.height + below, marks };
}

/** Formats a number for SVG, rounded to a tenth of a unit. */
export function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Returns the position of a share (0..1) on a plot; the y axis points up. */
export function place(plot: Plot, x: number, y: number): { readonly x: number; readonly y: number } {
  return { x: plot.left + x * plot.width, y: plot.top + (1 - y) * plot.height };
}

/**
 * Draws labeled horizontal lines at these shares of the height. With `bothEnds`, they are also labeled on the
 * right, which a narrow screen shows first.
 */
export function grid(
  plot: Plot,
  lines: readonly { readonly share: number; readonly words: string }[],
  bothEnds = false,
): Html {
  const right = plot.left + plot.width;
  return html`<g class="grid">${lines.map(({ share, words }) => {
    const y = round(place(plot, 0, share).y);
    return html`<line x1="${plot.left}" x2="${right}" y1="${y}" y2="${y}"/>
      <text x="${plot.left - 6}" y="${y}" dy="4" text-anchor="end">${words}</text>${
        bothEnds && html`<text x="${right + 6}" y="${y}" dy="4">${words}</text>`
      }`;
  })}</g>`;
}

/** Draws labels below the plot, at these shares of its width. */
export function ticks(
  plot: Plot,
  words: readonly { readonly share: number; readonly words: string }[],
  drop = 16,
): Html {
  const y = plot.top + plot.height + drop;
  return html`<g class="grid">${words.map(
    (word) =>
      html`<text x="${round(plot.left + word.share * plot.width)}" y="${y}"
        text-anchor="middle">${word.words}</text>`,
  )}</g>`;
}

/** Draws a line through points. */
export function line(name: string, points: readonly { readonly x: number; readonly y: number }[]): Html {
  return html`<polyline class="${name}"
    points="${points.map(({ x, y }) => `${round(x)},${round(y)}`).join(' ')}"/>`;
}

/** Adds a tooltip that names a mark. */
export function withTooltip(words: string, mark: Shown): Html {
  return html`<g>${mark}<title>${words}</title></g>`;
}

/**
 * Formats a share as in "72 %". Shares close to 0 or 1 keep a decimal, so that they do not read as none or
 * all: "0.4 %", "99.5 %".
 */
export function formatPercent(share: number): string {
  const rounded = Math.round(share * 100);
  const isEnd = (rounded === 0 && share > 0) || (rounded === 100 && share < 1);
  if (!isEnd) return `${rounded} %`;
  return `${Math.min(99.9, Math.max(0.1, Math.round(share * 1000) / 10))} %`;
}

/** Formats a rate as counts: "1 run in 5", "2 runs in 3", "no run". */
export function formatOneIn(hits: number, of: number): string {
  if (hits === 0 || of === 0) return 'no run';
  return hits * 2 > of ? `${hits} runs in ${of}` : `1 run in ${Math.round(of / hits)}`;
}

/** The data of a chart as a table: the values of its marks, in the same order. */
export interface ChartTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface Chart {
  /** The id, unique on the page. The ids of the chart's parts are derived from it. */
  readonly id: string;
  readonly name: string;
  /** The result of the chart in a sentence. It is the heading. */
  readonly finding: string;
  /** A description of how to read the chart, for people who cannot see it. */
  readonly description: string;
  /** The drawing. Null if there is too little data. */
  readonly drawing: Drawing | null;
  readonly table: ChartTable;
  /** The address of the table as CSV; null if it is not served. */
  readonly csv: string | null;
  /** The content between the drawing and the table, such as a legend or a form. */
  readonly below?: Shown;
}

export interface Drawing {
  /** True if time runs to the right. Then a narrow screen shows the right end first. */
  readonly newest?: boolean;
  readonly width: number;
  readonly height: number;
  readonly marks: Shown;
}

/**
 * Renders a chart: its result as a heading of this level, the drawing, the table, and a link to the table as
 * CSV.
 */
export function figure(chart: Chart, level: 'h2' | 'h3' = 'h2'): Html {
  return html`<figure class="chart" id="${chart.id}" aria-labelledby="${chart.id}-finding">
    <figcaption>${
      level === 'h2'
        ? html`<h2 id="${chart.id}-finding">${chart.finding}</h2>`
        : html`<h3 id="${chart.id}-finding">${chart.finding}</h3>`
    }<p class="quiet">${chart.name}</p></figcaption>
    ${chart.drawing !== null && svg(chart, chart.drawing)}${chart.below}
    <details><summary>Show as table</summary>${renderTable(chart.name, chart.table)}${
      chart.csv !== null && html`<p><a href="${chart.csv}">Download CSV</a></p>`
    }</details></figure>`;
}

function svg({ id, name, description }: Chart, { width, height, marks, newest = false }: Drawing): Html {
  return html`<div class="scroll${newest && ' newest'}" tabindex="0" role="region" aria-label="${name}">
    <svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group"
    aria-labelledby="${id}-title ${id}-desc">
    <title id="${id}-title">${name}</title><desc id="${id}-desc">${description}</desc>${marks}</svg></div>`;
}

function renderTable(name: string, { head, rows }: ChartTable): Html {
  const cells = (row: readonly Cell[]) =>
    row.map((cell, at) =>
      at === 0
        ? html`<th scope="row">${cell}</th>`
        : html`<td class="${typeof cell === 'number' ? 'number' : ''}">${cell}</td>`,
    );
  const columns = head.map((title, at) => (typeof rows[0]?.[at] === 'number' ? { number: title } : title));
  return dataTable(
    `${name}, as table`,
    columns,
    rows.map((row) => html`<tr>${cells(row)}</tr>`),
  );
}

export interface DayOf {
  readonly day: string;
  readonly category: Category;
  /** True if no one has decided the answers yet. */
  readonly open: boolean;
  readonly count: number;
}

interface ColumnsChart {
  readonly counts: readonly DayOf[];
  /** All shown days, oldest first. */
  readonly days: readonly string[];
  readonly csv: string;
  /** Returns the address of the list of causes of these days. */
  readonly listAddress: (from: string, days: number) => string;
}

const COLUMNS_PLOT: Plot = { left: 46, top: 10, width: 760, height: 180 };
/** The minimum width of a link on the chart, so that it can be tapped. */
const LINK_WIDTH = 24;
const OPEN = 'not decided';

/** Builds a chart of answers per day, by category. Answers that no one has decided are hatched. */
export function createColumnsChart(chart: ColumnsChart): Chart {
  const { counts, days } = chart;
  const known = Map.groupBy(counts, ({ day }) => day);
  const perDay = days.map((day) => known.get(day) ?? []);
  const name = `Answers per day by category, ${days.length} days`;
  return {
    id: 'days',
    name,
    finding: summarizeColumns(counts, days),
    description:
      'One column per day, oldest on the left. Segments are categories; hatched segments are not decided.',
    drawing:
      sumCounts(counts) === 0
        ? null
        : {
            ...createDrawing(COLUMNS_PLOT, COLUMNS_PLOT.left, 26, columnsMarks(chart, perDay)),
            newest: true,
          },
    below: legend(counts),
    table: {
      head: ['Day', ...CATEGORIES.map((category) => CATEGORY_WORDS[category]), OPEN, 'All'],
      rows: days.map((day, index) => createRow(day, perDay[index] ?? [])),
    },
    csv: chart.csv,
  };
}

function summarizeColumns(counts: readonly DayOf[], days: readonly string[]): string {
  const total = sumCounts(counts);
  if (total === 0) return `No answers in ${days.length} days.`;
  const [most, next] = countDecided(counts).toSorted((left, right) => right.count - left.count);
  // The sentence names the leading category only if it leads alone.
  if (most === undefined || most.count === (next?.count ?? 0)) return 'No category leads.';
  return `${CATEGORY_WORDS[most.category]} leads: ${most.count} of ${formatCount(total, 'answer')}.`;
}

function columnsMarks({ days, listAddress }: ColumnsChart, perDay: readonly (readonly DayOf[])[]): Html {
  const most = findMax(perDay.map(sumCounts), 1);
  const step = COLUMNS_PLOT.width / days.length;
  const columns = perDay.map((counts, index) => column(counts, COLUMNS_PLOT.left + index * step, step, most));
  const links = drawDayLinks(COLUMNS_PLOT, days, 'Causes', listAddress);
  const every = Math.max(1, Math.ceil(days.length / 8));
  const words = days.flatMap((day, index) =>
    index % every === 0 ? [{ share: (index + 0.5) / days.length, words: formatDay(day) }] : [],
  );
  const lines = [0, 0.5, 1].map((share) => ({ share, words: String(Math.round(share * most * 10) / 10) }));
  return html`<pattern id="open" width="6" height="6" patternUnits="userSpaceOnUse"
    patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/>
    <line class="hatch" x1="0" x2="0" y1="0"
    y2="6"/></pattern>${grid(COLUMNS_PLOT, lines, true)}${columns}${ticks(COLUMNS_PLOT, words)}${links}`;
}

/**
 * Draws links over a plot to the lists behind its days. If one day is too narrow, a link covers several days.
 */
function drawDayLinks(
  plot: Plot,
  days: readonly string[],
  what: string,
  address: (from: string, days: number) => string,
): Html[] {
  const step = plot.width / days.length;
  const perLink = Math.max(1, Math.ceil(LINK_WIDTH / step));
  return days
    .filter((_, index) => index % perLink === 0)
    .map((day, index) => {
      const count = Math.min(perLink, days.length - index * perLink);
      const words = count === 1 ? `${what} of ${day}` : `${what} of ${count} days from ${day}`;
      return html`<a href="${address(day, count)}" aria-label="${words}">
        <rect class="hit-area" x="${round(plot.left + index * perLink * step)}" y="${plot.top}"
        width="${round(count * step)}" height="${plot.height}"/></a>`;
    });
}

/**
 * Draws the column of a day from the bottom up: the categories in their order, then the undecided answers.
 */
function column(counts: readonly DayOf[], x: number, step: number, most: number): Html {
  const parts = [
    ...countDecided(counts).map(({ category, count }) => ({
      name: 'bars',
      hue: getHue(category),
      words: CATEGORY_WORDS[category],
      count,
    })),
    { name: 'open', hue: '', words: OPEN, count: countOpen(counts) },
  ].filter(({ count }) => count > 0);
  let bottom = COLUMNS_PLOT.top + COLUMNS_PLOT.height;
  return html`${parts.map(({ name, hue, words, count }) => {
    const height = (count / most) * COLUMNS_PLOT.height;
    bottom -= height;
    return withTooltip(
      `${counts[0]?.day}: ${count} ${words}`,
      html`<rect class="${name}" data-c="${hue}"${name === 'open' && html` fill="url(#open)"`} x="${round(x + 1)}"
        y="${round(bottom)}" width="${round(step - 2)}" height="${round(Math.max(1, height - 1))}"
        data-mark="${count}"/>`,
    );
  })}`;
}

function legend(counts: readonly DayOf[]): Html {
  const open = countOpen(counts);
  return html`<ul class="key">${countDecided(counts).map(
    ({ category, count }) =>
      html`<li><i data-c="${getHue(category)}"></i>${CATEGORY_WORDS[category]} <strong>${count}</strong></li>`,
  )}<li><i class="open"></i>${OPEN} <strong>${open}</strong></li></ul>`;
}

function createRow(day: string, counts: readonly DayOf[]) {
  return [day, ...countDecided(counts).map(({ count }) => count), countOpen(counts), sumCounts(counts)];
}

/** Counts the decided answers of each category, in the order of the taxonomy. */
function countDecided(counts: readonly DayOf[]): { readonly category: Category; readonly count: number }[] {
  return CATEGORIES.map((category) => ({
    category,
    count: sumCounts(counts.filter((count) => !count.open && count.category === category)),
  }));
}

function countOpen(counts: readonly DayOf[]): number {
  return sumCounts(counts.filter((count) => count.open));
}

/** The values of one figure over time. A value is null if the step has none. */
interface Series {
  readonly name: string;
  /** The CSS class of the line: `median`, `p90` or `share`. */
  readonly look: string;
  readonly values: readonly (number | null)[];
}

interface LinesChart {
  readonly id: string;
  readonly name: string;
  readonly finding: string;
  /** The time of each step, oldest first: the Mondays of weeks, days, or runs. */
  readonly steps: readonly string[];
  /** The unit of a step. A week if absent. */
  readonly per?: 'day' | 'run';
  readonly series: readonly Series[];
  /** Formats the number for people: "$0.02", "31 s". */
  readonly say: (value: number) => string;
  /** The top of the scale. The largest value if absent. */
  readonly top?: number;
  readonly csv: string;
  /** The content between the drawing and the table, instead of a legend. */
  readonly below?: Shown;
  /** The events of a step, which may explain a change. */
  readonly events?: readonly { readonly step: string; readonly name: string }[];
  /** Returns the address of the list of builds of these days, if steps are days. */
  readonly listAddress?: (from: string, days: number) => string;
}

const LINES_PLOT: Plot = { left: 62, top: 10, width: 480, height: 150 };

/** Creates a chart with lines over time and a point per step. */
export function createLinesChart(chart: LinesChart): Chart {
  const known = chart.series.flatMap(({ values }) => values.filter((value) => value !== null));
  const { per = 'week', events } = chart;
  const listEvents = (step: string) =>
    events?.filter((event) => event.step === step).map(({ name }) => name) ?? [];
  const rows = chart.steps.map((step, index): Cell[] => [
    step,
    ...chart.series.map(({ values }) => (values[index] == null ? null : chart.say(values[index]))),
    ...(events === undefined ? [] : [listEvents(step).join('; ')]),
  ]);
  return {
    id: chart.id,
    name: chart.name,
    finding: chart.finding,
    description: `One point per ${per}, oldest on the left: ${chart.series.map(({ name }) => name).join(', ')}.`,
    drawing:
      known.length === 0
        ? null
        : {
            ...createDrawing(
              LINES_PLOT,
              LINES_PLOT.left,
              26,
              linesMarks(chart, chart.top ?? (findMax(known) || 1)),
            ),
            newest: true,
          },
    below:
      chart.below ??
      (chart.series.length > 1 &&
        html`<ul class="key">${chart.series.map(
          ({ name, look }) => html`<li><i class="${look}"></i>${name}</li>`,
        )}</ul>`),
    table: {
      head: [
        `${per[0]?.toUpperCase()}${per.slice(1)}`,
        ...chart.series.map(({ name }) => name),
        ...(events === undefined ? [] : ['Events']),
      ],
      rows,
    },
    csv: chart.csv,
  };
}

function linesMarks(chart: LinesChart, top: number): Html {
  const { steps, events = [], listAddress } = chart;
  // A point with a link is in the middle of the link.
  const across = (index: number) =>
    steps.length < 2 ? 0.5 : listAddress ? (index + 0.5) / steps.length : index / (steps.length - 1);
  const lines = [0, 0.5, 1].map((share) => ({ share, words: chart.say(share * top) }));
  const every = Math.max(1, Math.ceil(chart.steps.length / 7));
  const words = chart.steps.flatMap((step, index) =>
    index % every === 0 ? [{ share: across(index), words: step.slice(5, 10) }] : [],
  );
  const happened = events.map(({ step, name }) => {
    const x = round(place(LINES_PLOT, across(steps.indexOf(step)), 0).x);
    const { top: y, height } = LINES_PLOT;
    const mark = html`<line class="event" x1="${x}" x2="${x}" y1="${y}" y2="${y + height}"/>
      <path class="event" d="M${x} ${y}l-5 -8h10z"/>`;
    return withTooltip(`${step}: ${name}`, mark);
  });
  const links = listAddress === undefined ? [] : drawDayLinks(LINES_PLOT, steps, 'Builds', listAddress);
  return html`${grid(LINES_PLOT, lines, true)}${ticks(LINES_PLOT, words)}${happened}${chart.series.map(
    ({ name, look, values }) => {
      const points = values.flatMap((value, index) =>
        value === null
          ? []
          : [{ step: chart.steps[index], value, ...place(LINES_PLOT, across(index), value / top) }],
      );
      const dots = points.map(({ step, value, x, y }) => {
        const mark = html`<circle class="dot ${look}" cx="${round(x)}" cy="${round(y)}" r="4"
          data-mark="${chart.say(value)}"/>`;
        return withTooltip(
          `${name}, ${chart.per === undefined ? 'week of ' : ''}${step}: ${chart.say(value)}`,
          mark,
        );
      });
      return html`${line(`curve ${look}`, points)}${dots}`;
    },
  )}${links}`;
}

const WIDTH = 5;
const HEIGHT = 20;
/** Height and color both show the outcome: low for passed, middle for a flake, high for failed. */
const TALL = { passed: 6, flake: 13, failed: HEIGHT } as const;
/** The CSS class of each outcome, also in legends. */
export const RUN_MARKS = { passed: 'p', flake: 'k', failed: 'f' } as const;
const WORDS = { passed: 'passed', flake: 'failed, and passed without a change', failed: 'failed' } as const;

/** Draws the newest runs of a test, oldest on the left, as bars of three heights. */
export function runStrip(test: string, runs: readonly RunMark[]): Html {
  const count = (mark: RunMark['mark']) => runs.filter((run) => run.mark === mark).length;
  const words =
    `${test}, last ${runs.length} runs: ${count('passed')} passed, ${count('failed')} ` +
    `failed, ${count('flake')} flakes`;
  const bars = runs.map(({ mark, at }, index) => {
    const height = TALL[mark];
    return html`<rect class="${RUN_MARKS[mark]}" x="${index * (WIDTH + 1)}" y="${HEIGHT - height}" width="${WIDTH}"
      height="${height}"><title>${at.slice(0, 16).replace('T', ' ')} UTC: ${WORDS[mark]}</title></rect>`;
  });
  const width = Math.max(1, runs.length * (WIDTH + 1));
  return html`<svg class="strip" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}"
    role="img" aria-label="${words}">${bars}</svg>`;
}

/** Draws counts per day as small bars, oldest on the left. */
export function sparkline(of: string, perDay: readonly number[]): Html {
  const most = findMax(perDay, 1);
  const total = sumNumbers(perDay);
  // All bars share one path, because a page may have thousands.
  let [bars, stubs] = ['', ''];
  for (const [index, count] of perDay.entries()) {
    const height = Math.max(3, Math.round((count / most) * HEIGHT));
    if (count === 0) stubs += `M${index * 4} ${HEIGHT}v-1h3v1z`;
    else bars += `M${index * 4} ${HEIGHT}v-${height}h3v${height}z`;
  }
  const width = Math.max(1, perDay.length * 4);
  return html`<svg class="spark" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}"
    role="img" aria-label="${`${of}: ${total} in ${perDay.length} days, at most ${most === 1 && total === 0 ? 0 : most} a day`}"><path class="day" d="${bars}"/><path class="day none" d="${stubs}"/></svg>`;
}
