import { CATEGORIES, type Category } from '../../domain/category.ts';
import { maxOf } from '../../lib/lists.ts';
import { type Html, html } from '../html.ts';
import { at, grid, type Plot, ticks, told } from './draw.ts';
import type { Chart } from './figure.ts';

export interface DayOf {
  readonly day: string;
  readonly category: Category;
  /** Nobody knows yet. */
  readonly open: boolean;
  readonly count: number;
}

export interface ColumnsChart {
  readonly counts: readonly DayOf[];
  /** Every day that is shown, oldest first. */
  readonly days: readonly string[];
  readonly csv: string;
  /** Where the causes of these days are listed. */
  readonly listAddress: (from: string, days: number) => string;
}

const PLOT: Plot = { left: 46, top: 10, width: 760, height: 180 };
/** A link on the chart is at least so wide, so that a finger meets it. */
const LINK_WIDTH = 24;
const OPEN = 'not decided';

/** Causes per day, by category, with a hatch for those that nobody has decided. */
export function columnsChart(chart: ColumnsChart): Chart {
  const { counts, days } = chart;
  const totals = days.map((day) => sum(counts.filter((one) => one.day === day)));
  const name = `Causes per day by category, ${days.length} days`;
  return {
    id: 'days',
    name,
    finding: columnsFinding(counts, days),
    description: 'One column per day, oldest on the left. Segments are categories; hatched segments are not decided.',
    drawing:
      sum(counts) === 0 ? null : { width: PLOT.left + PLOT.width + 10, height: PLOT.top + PLOT.height + 26, marks: drawing(chart, totals) },
    below: legend(counts),
    table: { head: ['Day', ...CATEGORIES, OPEN, 'All'], rows: days.map((day) => rowOf(day, counts)) },
    csv: chart.csv,
  };
}

function columnsFinding(counts: readonly DayOf[], days: readonly string[]): string {
  const total = sum(counts);
  if (total === 0) return `No cause in ${days.length} days.`;
  const parts = CATEGORIES.map((category) => ({ category, count: sum(counts.filter((one) => !one.open && one.category === category)) }));
  const [most] = parts.toSorted((one, other) => other.count - one.count);
  const open = sum(counts.filter((one) => one.open));
  const rest = open === 0 ? '' : `; ${open} not decided`;
  if (most === undefined || most.count === 0) return `${total} causes in ${days.length} days${rest}.`;
  return `${total} causes in ${days.length} days, mostly ${most.category} (${most.count})${rest}.`;
}

function drawing({ counts, days, listAddress }: ColumnsChart, totals: readonly number[]): Html {
  const most = maxOf(totals, 1);
  const step = PLOT.width / days.length;
  const columns = days.map((day, index) =>
    column(
      counts.filter((one) => one.day === day),
      PLOT.left + index * step,
      step,
      most,
    ),
  );
  const perLink = Math.max(1, Math.ceil(LINK_WIDTH / step));
  const links = days
    .filter((_, index) => index % perLink === 0)
    .map((day, index) => {
      const width = Math.min(perLink, days.length - index * perLink) * step;
      const words = perLink === 1 ? `Causes of ${day}` : `Causes of ${perLink} days from ${day}`;
      return html`<a href="${listAddress(day, perLink)}" aria-label="${words}"><rect class="hit" x="${at(PLOT.left + index * perLink * step)}" y="${PLOT.top}" width="${at(width)}" height="${PLOT.height}"/></a>`;
    });
  const every = Math.max(1, Math.ceil(days.length / 8));
  const words = days.flatMap((day, index) => (index % every === 0 ? [{ share: (index + 0.5) / days.length, words: day.slice(5) }] : []));
  const lines = [0, 0.5, 1].map((share) => ({ share, words: String(Math.round(share * most * 10) / 10) }));
  return html`<pattern id="open" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/><line class="hatch" x1="0" x2="0" y1="0" y2="6"/></pattern>${grid(PLOT, lines)}${columns}${ticks(PLOT, words)}${links}`;
}

/** The parts of a day, from the bottom up: the categories in their order, then what is open. */
function column(counts: readonly DayOf[], x: number, step: number, most: number): Html {
  const parts = [
    ...CATEGORIES.map((category) => ({
      name: `cat ${category}`,
      words: category,
      count: sum(counts.filter((one) => !one.open && one.category === category)),
    })),
    { name: 'open', words: OPEN, count: sum(counts.filter((one) => one.open)) },
  ].filter(({ count }) => count > 0);
  let bottom = PLOT.top + PLOT.height;
  return html`${parts.map(({ name, words, count }) => {
    const height = (count / most) * PLOT.height;
    bottom -= height;
    return told(
      `${counts[0]?.day}: ${count} ${words}`,
      html`<rect class="${name}"${name === 'open' && html` fill="url(#open)"`} x="${at(x + 1)}" y="${at(bottom)}" width="${at(step - 2)}" height="${at(Math.max(1, height - 1))}" data-mark="${count}"/>`,
    );
  })}`;
}

function legend(counts: readonly DayOf[]): Html {
  const parts = CATEGORIES.map((category) => ({
    name: category,
    count: sum(counts.filter((one) => !one.open && one.category === category)),
  }));
  const open = sum(counts.filter((one) => one.open));
  return html`<ul class="legend">${parts.map(({ name, count }) => html`<li><span class="key ${name}"></span>${name} <strong>${count}</strong></li>`)}<li><span class="key open"></span>${OPEN} <strong>${open}</strong></li></ul>`;
}

function rowOf(day: string, counts: readonly DayOf[]) {
  const own = counts.filter((one) => one.day === day);
  const decided = CATEGORIES.map((category) => sum(own.filter((one) => !one.open && one.category === category)));
  return [day, ...decided, sum(own.filter((one) => one.open)), sum(own)];
}

function sum(counts: readonly DayOf[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
