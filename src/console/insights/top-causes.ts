import type { TopCause } from '../../domain/insights.ts';
import { formatCount } from '../../lib/text.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import { formatCauseAddress, search } from '../addresses.ts';
import { sparkline } from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { formatDay, formatSpan, renderTime } from '../controls.ts';
import { createNumberColumns, dataTable, type Html, html } from '../html.ts';
import { categoryTile } from '../parts/marks.ts';
import { daysField, filterForm, type InsightsQuery, type InsightsView, toPeriod } from './insights-frame.ts';

const PATH = '/insights/causes';
const SHOWN = 50;
const CHOICES = [7, 30, 90];
const HEAD = [
  'cause',
  'category',
  'builds',
  'pull requests',
  'hours',
  'first',
  'last',
  'decided by',
  'fingerprint',
];

/**
 * Creates the view of `/insights/causes`: the causes with the highest cost, by the hours that their builds
 * ran.
 */
export async function renderCausesView(
  query: InsightsQuery,
  { stores, clock }: ConsoleDeps,
): Promise<InsightsView> {
  const days = query.days ?? 30;
  const period = toPeriod(query, days, clock.now());
  const [causes, count] = await Promise.all([
    stores.insights.topCauses(period, SHOWN, query.offset),
    stores.insights.countCauses(period),
  ]);
  const when =
    query.day === undefined
      ? `in the last ${days} days`
      : days === 1
        ? `on ${formatDay(query.day)}`
        : `in ${days} days from ${formatDay(query.day)}`;
  const more = html`${daysField(
    days,
    [...new Set([days, ...CHOICES])].toSorted((left, right) => left - right),
  )}${
    query.day !== undefined && html`<label>from <input type="date" name="day" value="${query.day}"></label>`
  }`;
  const main = html`<h1 tabindex="-1">${writeHeadline(causes, count, query.offset, when)}</h1>
    <p>Hours are the run time of the failed builds. A build with several causes counts evenly toward each.</p>
    ${filterForm(PATH, query, more)}${
      causes.length === 0
        ? html`<p>${query.offset > 0 ? 'No more causes' : 'No cause was found'} ${when}.</p>`
        : html`${causesTable(causes)}${pagesOfTop(query, days, count)}<p><a
          href="${PATH}${search({ repo: query.repo, days, day: query.day, offset: query.offset || undefined, csv: 'causes' })}">Download CSV</a></p>`
    }`;
  return { title: 'Top causes', main, tables: { causes: { head: HEAD, rows: causes.map(listCells) } } };
}

function writeHeadline(causes: readonly TopCause[], count: number, offset: number, when: string): string {
  const [worst] = causes;
  if (count === 0) return `No causes ${when}`;
  if (worst === undefined || worst.hours === 0 || offset > 0)
    return `${formatNumber(count)} ${count === 1 ? 'cause' : 'causes'} ${when}`;
  return `${worst.title} cost the most ${when}: ${formatHours(worst)}`;
}

/** Renders the position in the list and the number of causes, with links to the other pages. */
function pagesOfTop({ repo, day, offset }: InsightsQuery, days: number, count: number): Html {
  if (count <= SHOWN && offset === 0) return html`<p>${formatCount(count, 'cause')}.</p>`;
  const to = (from: number) => `${PATH}${search({ repo, days, day, offset: from || undefined })}`;
  return html`<p class="pages"><span>${formatNumber(offset + 1)}–${formatNumber(Math.min(offset + SHOWN, count))} of ${formatNumber(count)} causes</span>${offset > 0 && html` <a href="${to(Math.max(0, offset - SHOWN))}">Previous</a>`}${offset + SHOWN < count && html` <a href="${to(offset + SHOWN)}">Next</a>`}</p>`;
}

/** Renders causes with their cost, each with a link to its own page. */
function causesTable(causes: readonly TopCause[]): Html {
  const head = [
    'Cause',
    ...createNumberColumns('Builds', 'Pull requests', 'Hours lost'),
    'First',
    'Last',
    'Last 30 days',
    'Decided by',
  ];
  return dataTable('Causes, most hours first', head, causes.map(row));
}

function row(cause: TopCause): Html {
  return html`<tr><th scope="row"><span class="row">${categoryTile(cause.category)}<span class="grow"><a class="whole"
    href="${formatCauseAddress(cause.fingerprint)}">${
      cause.title === '' ? cause.fingerprint : cause.title
    }</a></span></span></th>
    <td class="number">${cause.builds}</td><td class="number">${cause.pullRequests}</td>
    <td class="number">${formatHours(cause)}</td>
    <td>${renderTime(cause.firstAt)}</td><td>${renderTime(cause.lastAt)}</td>
    <td>${sparkline('builds', cause.perDay)}</td>
    <td>${
      cause.decided === null ? null : html`${cause.decided.reviewer}<br>${renderTime(cause.decided.at)}`
    }</td></tr>`;
}

/** Formats hours as in "3 h 30 min", followed by the number of builds whose length is unknown. */
export function formatHours({
  hours,
  builds,
  untimed,
}: Pick<TopCause, 'hours' | 'builds' | 'untimed'>): string {
  if (untimed === builds) return 'unknown';
  const rest = untimed === 0 ? '' : ` (without ${formatCount(untimed, 'build')} of unknown length)`;
  return `${formatSpan(hours * HOUR_MS)}${rest}`;
}

const HOUR_MS = 3_600_000;

function listCells(cause: TopCause) {
  const counts = [cause.builds, cause.pullRequests, Number(cause.hours.toFixed(3))];
  return [
    cause.title,
    cause.category,
    ...counts,
    cause.firstAt,
    cause.lastAt,
    cause.decided?.reviewer ?? null,
    cause.fingerprint,
  ];
}
