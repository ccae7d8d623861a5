import type { PipelineHealth } from '../../domain/insights.ts';
import { proportion } from '../../lib/statistics.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import { percentOf } from '../charts/chart.ts';
import { sparkline } from '../charts/counts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { dataTable, type Html, html } from '../html.ts';
import { daysField, filterForm, type InsightsQuery, type InsightsView, periodOf, search } from './insights-frame.ts';

const PATH = '/insights/health';
/** Pipelines that are shown: those with the most failed builds. */
const SHOWN = 50;
const CHOICES = [7, 30, 90];
/** From this difference on a run time is said to have changed. */
const CHANGED = 0.1;

/** `/insights/health`: how often each pipeline fails, how long its default branch is red, and how long builds take, beside the period before. */
export async function healthView(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<InsightsView> {
  const days = query.days ?? (query.repo === '' ? 7 : 30);
  const found = await stores.insights.health(periodOf({ ...query, day: undefined }, days, clock.now()), SHOWN);
  const choices = [...new Set([days, ...CHOICES])].toSorted((one, other) => one - other);
  const main = html`<h1 tabindex="-1">${headline(found, days)}</h1>
<p>At most ${SHOWN} pipelines, those with the most failed builds first. In parentheses: the ${days} days before. A default branch is red from the end of a failed build until the end of the next build that passes.</p>
${filterForm(query, daysField(days, choices))}${found.length === 0 ? html`<p>No builds passed or failed in the last ${days} days.</p>` : html`${table(found, days)}<p><a href="${PATH}${search({ repo: query.repo, days, csv: 'health' })}">Download CSV</a></p>`}`;
  return { title: 'Health', main, tables: { health: { head: HEAD, rows: found.map(cells) } } };
}

function headline(found: readonly PipelineHealth[], days: number): string {
  const red = found.filter(({ isRed }) => isRed);
  const [worst] = red;
  if (worst !== undefined)
    return red.length === 1
      ? `${worst.repository} is red on ${worst.branch} (${worst.pipeline})`
      : `${red.length} pipelines are red on their default branch`;
  return found.length === 0 ? 'Health' : `No default branch is red; the last ${days} days`;
}

function table(found: readonly PipelineHealth[], days: number): Html {
  const numbers = ['Builds', 'Failed', 'Run time'].map((number) => ({ number }));
  const head = ['Pipeline', ...numbers, 'Default branch', { number: 'Red for' }, { number: 'Time to green' }, `Failed, last ${days} days`];
  return dataTable('Pipelines, most failed builds first', head, found.map(row));
}

function row(one: PipelineHealth): Html {
  const { repository, pipeline, branch } = one;
  return html`<tr><th scope="row"><a href="${PATH}${search({ repo: repository })}">${repository}</a><br><span class="quiet">${pipeline}</span></th>
<td class="number">${formatNumber(one.builds)} <span class="quiet">(${formatNumber(one.buildsBefore)})</span></td>
<td class="number"><a href="/builds${search({ repository, status: 'failed' })}">${percentOf(proportion(one.failed, one.builds).share)}</a> <span class="quiet">(${one.buildsBefore === 0 ? 'none' : percentOf(proportion(one.failedBefore, one.buildsBefore).share)})</span></td>
<td class="number">${runTime(one)}</td>
<td>${branch === null ? html`<span class="quiet">unknown</span>` : html`<a href="/builds${search({ repository, branch, status: 'failed' })}">${branch}</a>${one.isRed && html` <strong class="warn">red</strong>`}`}</td>
<td class="number">${branch === null ? '' : hours(one.redHours)}</td>
<td class="number">${one.hoursToGreen === null ? html`<span class="quiet">–</span>` : html`${hours(one.hoursToGreen)} <span class="quiet">(${one.recoveries} ${one.recoveries === 1 ? 'time' : 'times'})</span>`}</td>
<td>${sparkline('failed builds', one.perDay)}</td></tr>`;
}

/** "4 min (3 min)", marked where it rose. */
function runTime({ minutes, minutesBefore }: PipelineHealth): Html {
  if (minutes === null) return html`<span class="quiet">unknown</span>`;
  const before = minutesBefore === null ? 'none' : duration(minutesBefore);
  const rose = minutesBefore !== null && minutesBefore > 0 && minutes / minutesBefore > 1 + CHANGED;
  return html`${duration(minutes)} <span class="quiet">(${before})</span>${rose && html` <span class="warn">slower</span>`}`;
}

function duration(minutes: number): string {
  if (minutes < 1) return `${Math.round(minutes * 60)} s`;
  return minutes < 90 ? `${Math.round(minutes)} min` : hours(minutes / 60);
}

function hours(value: number): string {
  if (value === 0) return '0 h';
  if (value < 1) return `${Math.max(1, Math.round(value * 60))} min`;
  return value < 48 ? `${value.toFixed(1)} h` : `${(value / 24).toFixed(1)} days`;
}

const HEAD = [
  ...['repository', 'pipeline', 'builds', 'failed', 'builds before', 'failed before', 'median minutes', 'median minutes before'],
  ...['default branch', 'red now', 'red hours', 'recoveries', 'median hours to green'],
];

function cells(one: PipelineHealth) {
  const short = (value: number | null) => (value === null ? null : Number(value.toFixed(2)));
  return [
    ...[
      one.repository,
      one.pipeline,
      one.builds,
      one.failed,
      one.buildsBefore,
      one.failedBefore,
      short(one.minutes),
      short(one.minutesBefore),
    ],
    ...[one.branch, String(one.isRed), short(one.redHours), one.recoveries, short(one.hoursToGreen)],
  ];
}
