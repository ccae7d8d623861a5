import type { TopCause } from '../../ports/insights.ts';
import { causeAddress } from '../addresses.ts';
import { sparkline } from '../charts/strip.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { timeOf } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { daysField, filterForm, type InsightsQuery, type InsightsView, periodOf, search } from './insights-frame.ts';

const PATH = '/insights/causes';
const SHOWN = 50;
const CHOICES = [7, 30, 90];
const HEAD = ['cause', 'category', 'builds', 'pull requests', 'hours', 'first', 'last', 'decided by', 'fingerprint'];

/** `/insights/causes`: what costs most, by the hours its builds ran. */
export async function causesView(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<InsightsView> {
  const days = query.days ?? 30;
  const period = periodOf(query, days, clock.now());
  const causes = await stores.insights.topCauses(period, SHOWN);
  const when = query.day === undefined ? `the last ${days} days` : `${days === 1 ? '' : `${days} days from `}${query.day}`;
  const more = html`${daysField(
    days,
    [...new Set([days, ...CHOICES])].toSorted((one, other) => one - other),
  )}${query.day !== undefined && html`<label>from <input type="date" name="day" value="${query.day}"></label>`}`;
  const main = html`<h1 tabindex="-1">${headline(causes, when)}</h1>
<p>Hours are the run time of the failed builds. A build with several causes counts evenly toward each.</p>
${filterForm(query, more)}${causes.length === 0 ? html`<p>No cause was found in ${when}.</p>` : html`${causesTable(causes)}<p><a href="${PATH}${search({ repo: query.repo, days, day: query.day, csv: 'causes' })}">Download CSV</a></p>`}`;
  return { title: 'Causes', main, tables: { causes: { head: HEAD, rows: causes.map(cells) } } };
}

function headline(causes: readonly TopCause[], when: string): string {
  const [worst] = causes;
  if (worst === undefined) return `No causes in ${when}`;
  if (worst.hours === 0) return `${causes.length} ${causes.length === 1 ? 'cause' : 'causes'} in ${when}`;
  return `${worst.title} cost the most in ${when}: ${hoursOf(worst)}`;
}

/** Causes with what they cost, each a link to its own page. */
export function causesTable(causes: readonly TopCause[]): Html {
  const head = ['Cause', 'Builds', 'Pull requests', 'Hours lost', 'First', 'Last', 'Last 30 days', 'Decided by'];
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Causes, most hours first"><table><thead><tr>${head.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead><tbody>${causes.map(row)}</tbody></table></div>`;
}

function row(cause: TopCause): Html {
  return html`<tr><th scope="row"><a href="${causeAddress(cause.fingerprint)}">${cause.title === '' ? cause.fingerprint : cause.title}</a><br><span class="category">${cause.category}</span></th>
<td class="number">${cause.builds}</td><td class="number">${cause.pullRequests}</td><td class="number">${hoursOf(cause)}</td>
<td>${timeOf(cause.firstAt)}</td><td>${timeOf(cause.lastAt)}</td><td>${sparkline('builds', cause.perDay)}</td>
<td>${cause.decided === null ? html`<span class="quiet">nobody</span>` : html`${cause.decided.reviewer}<br>${timeOf(cause.decided.at)}`}</td></tr>`;
}

/** "3.5 h", with what is not known beside it. */
export function hoursOf({ hours, builds, untimed }: Pick<TopCause, 'hours' | 'builds' | 'untimed'>): string {
  if (untimed === builds) return 'unknown';
  return `${hours.toFixed(1)} h${untimed === 0 ? '' : ` (without ${untimed} ${untimed === 1 ? 'build' : 'builds'} of unknown length)`}`;
}

function cells(cause: TopCause) {
  const counts = [cause.builds, cause.pullRequests, Number(cause.hours.toFixed(3))];
  return [cause.title, cause.category, ...counts, cause.firstAt, cause.lastAt, cause.decided?.reviewer ?? null, cause.fingerprint];
}
