import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { CauseBuild, CauseFacts, CausePlace, ComparedBuild, TopCause } from '../../domain/insights.ts';
import { type Difference, ENOUGH_BUILDS, type Traits, whatDiffers } from '../../lib/statistics.ts';
import { counted } from '../../lib/text.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import { analysisAddress, buildAddress, causeAddress } from '../addresses.ts';
import { standingPart } from '../causes.ts';
import { percentOf } from '../charts/chart.ts';
import { sparkline } from '../charts/counts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { timeOf } from '../controls.ts';
import { dataTable, type Html, html, type Shown } from '../html.ts';
import { readerOf, sendPage } from '../page.ts';
import { daysField, filterForm, type InsightsQuery, type InsightsView, periodOf, search } from './insights-frame.ts';

const PATH = '/insights/causes';
const SHOWN = 50;
const CHOICES = [7, 30, 90];
const HEAD = ['cause', 'category', 'builds', 'pull requests', 'hours', 'first', 'last', 'decided by', 'fingerprint'];

/** `/insights/causes`: what costs most, by the hours its builds ran. */
export async function causesView(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<InsightsView> {
  const days = query.days ?? 30;
  const period = periodOf(query, days, clock.now());
  const [causes, count] = await Promise.all([stores.insights.topCauses(period, SHOWN, query.offset), stores.insights.countCauses(period)]);
  const when = query.day === undefined ? `the last ${days} days` : `${days === 1 ? '' : `${days} days from `}${query.day}`;
  const more = html`${daysField(
    days,
    [...new Set([days, ...CHOICES])].toSorted((one, other) => one - other),
  )}${query.day !== undefined && html`<label>from <input type="date" name="day" value="${query.day}"></label>`}`;
  const main = html`<h1 tabindex="-1">${headline(causes, count, query.offset, when)}</h1>
<p>Hours are the run time of the failed builds. A build with several causes counts evenly toward each.</p>
${filterForm(query, more)}${causes.length === 0 ? html`<p>${query.offset > 0 ? 'No more causes' : 'No cause was found'} in ${when}.</p>` : html`${causesTable(causes)}${pages(query, days, count)}<p><a href="${PATH}${search({ repo: query.repo, days, day: query.day, offset: query.offset || undefined, csv: 'causes' })}">Download CSV</a></p>`}`;
  return { title: 'Causes', main, tables: { causes: { head: HEAD, rows: causes.map(cells) } } };
}

function headline(causes: readonly TopCause[], count: number, offset: number, when: string): string {
  const [worst] = causes;
  if (count === 0) return `No causes in ${when}`;
  if (worst === undefined || worst.hours === 0 || offset > 0)
    return `${formatNumber(count)} ${count === 1 ? 'cause' : 'causes'} in ${when}`;
  return `${worst.title} cost the most in ${when}: ${hoursOf(worst)}`;
}

/** Which of how many are shown, and the way to the others. */
function pages({ repo, day, offset }: InsightsQuery, days: number, count: number): Html {
  if (count <= SHOWN && offset === 0) return html``;
  const to = (from: number) => `${PATH}${search({ repo, days, day, offset: from || undefined })}`;
  return html`<p class="pages"><span>${formatNumber(offset + 1)}–${formatNumber(Math.min(offset + SHOWN, count))} of ${formatNumber(count)} causes</span>${offset > 0 && html` <a href="${to(Math.max(0, offset - SHOWN))}">Previous</a>`}${offset + SHOWN < count && html` <a href="${to(offset + SHOWN)}">Next</a>`}</p>`;
}

/** Causes with what they cost, each a link to its own page. */
export function causesTable(causes: readonly TopCause[]): Html {
  const head = ['Cause', 'Builds', 'Pull requests', 'Hours lost', 'First', 'Last', 'Last 30 days', 'Decided by'];
  return dataTable('Causes, most hours first', head, causes.map(row));
}

function row(cause: TopCause): Html {
  return html`<tr><th scope="row"><a href="${causeAddress(cause.fingerprint)}">${cause.title === '' ? cause.fingerprint : cause.title}</a><br><span class="category">${cause.category}</span></th>
<td class="number">${cause.builds}</td><td class="number">${cause.pullRequests}</td><td class="number">${hoursOf(cause)}</td>
<td>${timeOf(cause.firstAt)}</td><td>${timeOf(cause.lastAt)}</td><td>${sparkline('builds', cause.perDay)}</td>
<td>${cause.decided === null ? html`<span class="quiet">nobody</span>` : html`${cause.decided.reviewer}<br>${timeOf(cause.decided.at)}`}</td></tr>`;
}

/** "3.5 h", with what is not known beside it. */
function hoursOf({ hours, builds, untimed }: Pick<TopCause, 'hours' | 'builds' | 'untimed'>): string {
  if (untimed === builds) return 'unknown';
  return `${hours.toFixed(1)} h${untimed === 0 ? '' : ` (without ${untimed} ${untimed === 1 ? 'build' : 'builds'} of unknown length)`}`;
}

function cells(cause: TopCause) {
  const counts = [cause.builds, cause.pullRequests, Number(cause.hours.toFixed(3))];
  return [cause.title, cause.category, ...counts, cause.firstAt, cause.lastAt, cause.decided?.reviewer ?? null, cause.fingerprint];
}

const Params = z.object({ fingerprint: z.string().min(1).max(300) });
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** `/failures/:fingerprint`: a recurring cause: how often and where it came, what people said of it, and what its builds have in common. */
export function registerCausePage(app: FastifyInstance, deps: ConsoleDeps): void {
  const { stores, clock } = deps;
  const config = { access: { role: 'read' } } as const;
  app.withTypeProvider<ZodTypeProvider>().get('/failures/:fingerprint', { config, schema: { params: Params } }, async (request, reply) => {
    const { fingerprint } = request.params;
    const until = new Date(clock.now()).toISOString();
    const facts = await stores.insights.cause(fingerprint, until);
    if (facts === null) throw new TriageError('not-found', `There is no cause ${fingerprint}.`);
    const compared = await stores.insights.compared(fingerprint);
    const main = pageOf(facts, compared, await standingPart(deps, fingerprint, request.principal));
    return sendPage(request, reply, { title: facts.cause.title, place: 'page', part: 'insights', main }, await readerOf(request, deps));
  });
}

function pageOf({ cause, builds, decisions, places }: CauseFacts, compared: readonly ComparedBuild[], standing: Html): Html {
  const { decided } = cause;
  return html`<h1 tabindex="-1">${cause.title === '' ? cause.fingerprint : cause.title}</h1>
<p><span class="category">${cause.category}</span> · ${counted(cause.builds, 'build')} in ${counted(cause.repositories, 'repository', 'repositories')}, ${counted(cause.pullRequests, 'pull request')} · ${hoursOf(cause)} lost · first ${timeOf(cause.firstAt)}, last ${timeOf(cause.lastAt)}</p>
<p>${sparkline('builds', cause.perDay)} <span class="quiet">last 30 days</span></p>
<p>${decided === null ? 'Not decided yet.' : html`${decided.reviewer} decided on ${timeOf(decided.at)} that it is <span class="category">${decided.category}</span>.`} <span class="quiet mono">${cause.fingerprint}</span></p>
${standing}
<h2>What is different</h2>${differences(compared)}
<h2>Where</h2>${dataTable('Where it was seen', ['Repository', 'Pipeline', 'Branch', 'Builds', 'Last'], places.map(place))}
<h2>Decisions</h2>${decisions.length === 0 ? html`<p>Nothing yet.</p>` : dataTable('Decisions', ['When', 'Who', 'Said', 'Faultline said'], decisions.map(said))}
<h2>Builds</h2>${dataTable('Newest builds', ['Build', 'When', 'Answer', 'Decision'], builds.map(buildRow))}`;
}

function differences(compared: readonly ComparedBuild[]): Html {
  const [failing, passing] = [true, false].map((which) => compared.filter((build) => build.failing === which).map(traitsOf));
  if (failing === undefined || passing === undefined || failing.length < ENOUGH_BUILDS || passing.length < ENOUGH_BUILDS)
    return html`<p>The comparison needs ${ENOUGH_BUILDS} builds with this cause and ${ENOUGH_BUILDS} passed builds; there are ${failing?.length ?? 0} and ${passing?.length ?? 0}.</p>`;
  const found = whatDiffers(failing, passing);
  if (found.length === 0) return html`<p>No known difference from passed builds.</p>`;
  return html`<p>Shares among the newest ${failing.length} builds with this cause and the newest ${passing.length} passed builds in the same repositories. A difference is a place to look, not a cause.</p>
${dataTable('What is different', ['What', 'With this cause', 'Passed', 'Difference'], found.map(difference))}`;
}

function traitsOf(build: ComparedBuild): Traits {
  const { pipeline, branch, author, provider, pullRequest, rerun, hour, weekday } = build;
  const yes = (one: boolean) => (one ? 'yes' : 'no');
  return {
    branch,
    pipeline,
    author,
    provider,
    'pull request': yes(pullRequest),
    rerun: yes(rerun),
    'hour (UTC)': String(hour),
    weekday: WEEKDAYS[weekday] ?? null,
  };
}

function difference({ dimension, value, failing, passing, difference }: Difference): Html {
  const points = Math.round(difference * 100);
  return html`<tr><th scope="row">${dimension}: <span class="mono">${value}</span></th><td class="number">${percentOf(failing)}</td><td class="number">${percentOf(passing)}</td><td class="number">${points > 0 ? '+' : '−'}${Math.abs(points)} points</td></tr>`;
}

function place({ repository, pipeline, branch, builds, lastAt }: CausePlace): Html {
  return html`<tr><th scope="row">${repository}</th><td>${pipeline}</td><td>${branch}</td><td class="number">${builds}</td><td>${timeOf(lastAt)}</td></tr>`;
}

function said(build: CauseBuild): Html {
  return html`<tr><td><a href="${analysisAddress(build.analysisId)}">${build.decidedAt !== null && timeOf(build.decidedAt)}</a></td><td>${build.reviewer}</td><td>${decisionWords(build)}</td><td class="category">${build.category}</td></tr>`;
}

function decisionWords({ decision, decidedCategory, category }: CauseBuild): Shown {
  if (decision === null) return html`<span class="quiet">not decided</span>`;
  if (decision === 'reject') return 'rejected the answer';
  return decision === 'accept'
    ? html`accepted <span class="category">${category}</span>`
    : html`corrected to <span class="category">${decidedCategory ?? category}</span>`;
}

function buildRow(build: CauseBuild): Html {
  return html`<tr><th scope="row"><a href="${buildAddress(build.buildId)}">${build.repository} · ${build.pipeline} #${build.number}</a></th><td>${timeOf(build.at)}</td>
<td><a href="${analysisAddress(build.analysisId)}">${build.analyst === 'recall' ? 'recalled' : percentOf(build.confidence)}</a></td><td>${decisionWords(build)}</td></tr>`;
}
