import { listDays, type ReviewingFigures, type TopCause, type WeekFigures } from '../../domain/insights.ts';
import { computeProportion, type Proportion, sumCounts } from '../../lib/statistics.ts';
import { formatCount } from '../../lib/text.ts';
import { formatDollars, formatDuration } from '../../notifications/answer-view.ts';
import type { TrustFacts } from '../../service/answers/trust.ts';
import { formatCauseAddress, search } from '../addresses.ts';
import { registerCausePage } from '../causes/cause-page.ts';
import {
  type Chart,
  createColumnsChart,
  createLinesChart,
  type DayOf,
  figure,
  formatPercent,
} from '../charts/chart.ts';
import { computeBins, createCalibrationChart, summarizeBins } from '../charts/confidence.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { formatDay } from '../controls.ts';
import { type Html, html, type Shown } from '../html.ts';
import { type ConsoleApp, route } from '../page.ts';
import { categoryTile } from '../parts/marks.ts';
import { formatScopedAddress } from '../scope.ts';
import { renderHealthView } from './health.ts';
import {
  daysField,
  filterForm,
  type InsightsQuery,
  type InsightsView,
  registerInsightsRoute,
  TESTS_PATH,
  toPeriod,
} from './insights-frame.ts';
import { renderModelsView } from './models.ts';
import { renderGraded } from './outcomes.ts';
import { registerTestPage } from './test-page.ts';
import { renderTestsView } from './tests.ts';
import { formatHours, renderCausesView } from './top-causes.ts';
import { createCoverageChart, renderCheckedView, trustFacts, trustView } from './trust.ts';

/**
 * Registers the pages with figures about answers and decisions. All readers may see them, except for the page
 * on how people decide, which is for reviewers.
 */
export function registerInsightsPages(app: ConsoleApp, deps: ConsoleDeps): void {
  registerInsightsRoute(app, deps, { path: '/insights', role: 'read', view: renderOverviewView });
  registerInsightsRoute(app, deps, { path: '/insights/trust', role: 'read', view: trustView });
  registerInsightsRoute(app, deps, {
    path: '/insights/trust/answers',
    role: 'read',
    view: renderCheckedView,
  });
  registerInsightsRoute(app, deps, { path: '/insights/trust/outcomes', role: 'read', view: renderGraded });
  registerInsightsRoute(app, deps, { path: '/insights/models', role: 'read', view: renderModelsView });
  registerInsightsRoute(app, deps, { path: '/insights/health', role: 'read', view: renderHealthView });
  registerInsightsRoute(app, deps, { path: TESTS_PATH, role: 'read', view: renderTestsView });
  registerInsightsRoute(app, deps, { path: '/insights/causes', role: 'read', view: renderCausesView });
  registerInsightsRoute(app, deps, { path: '/insights/cost', role: 'read', view: renderCostView });
  registerInsightsRoute(app, deps, {
    path: '/insights/reviewers',
    role: 'review',
    view: renderReviewersView,
  });
  app.get('/insights/flaky', route('read'), async (request, reply) =>
    reply.redirect(`${TESTS_PATH}${request.url.slice('/insights/flaky'.length)}`, 301),
  );
  registerCausePage(app, deps);
  registerTestPage(app, deps);
}

const TOP = 5;

/**
 * Renders `/insights`: the received builds, the reliability of the answers, and the highest costs. Each part
 * links to its own page.
 */
async function renderOverviewView(query: InsightsQuery, deps: ConsoleDeps): Promise<InsightsView> {
  const { stores, clock } = deps;
  const period = toPeriod({ ...query, day: undefined }, query.days === 90 ? 90 : 30, clock.now());
  const weeks = toPeriod({ ...query, day: undefined }, WEEKS * 7, clock.now());
  const [counts, causes, trust, figures] = await Promise.all([
    stores.insights.categoriesPerDay(period),
    stores.insights.topCauses(period, TOP),
    trustFacts(query, { ...deps, stores: { insights: stores.insights } }),
    stores.insights.perWeek(weeks),
  ]);
  const { repo } = query;
  const listAddress = (day: string, days: number) => `/insights/causes${search({ repo, day, days })}`;
  const csv = `/insights${search({ repo, days: period.days, csv: 'days' })}`;
  const columns = createColumnsChart({ counts, days: listDays(period), listAddress, csv });
  const filters = filterForm('/insights', query, daysField(period.days, [30, 90]));
  const main = html`<h1 tabindex="-1">${writeFinding(counts, trust, period.days)}</h1>${filters}
    ${
      counts.length === 0
        ? html`<div
          class="empty"><p>No answers in the last ${period.days} days${repo !== '' && ` for ${repo}`}.
          Figures appear after the first analyzed build.</p><p><a class="btn" href="/">Overview</a></p></div>`
        : html`${renderTrust(query, trust)}${figure(columns)}<div
          class="halves">${renderCostliest(
            causes,
            formatScopedAddress('/insights/causes', query),
          )}${renderPrice(figures, formatScopedAddress(COST_PATH, query))}</div>`
    }`;
  return { title: 'Insights', main, tables: { days: columns.table } };
}

/**
 * Returns the most important fact in a sentence: how often checked answers are right, or how many answers
 * wait for a person.
 */
function writeFinding(counts: readonly DayOf[], { trust }: TrustFacts, days: number): string {
  const here = trust.thresholds.find(({ threshold }) => threshold === trust.threshold);
  if (trust.enough && here !== undefined && here.decided > 0)
    return `${here.right} of ${here.decided} answers that were sure enough to publish are right`;
  const all = sumCounts(counts);
  const open = sumCounts(counts.filter((count) => count.open));
  if (all === 0) return `No answer in ${days} days`;
  const waiting = open === 0 ? 'none of them waits' : `${open} ${open === 1 ? 'waits' : 'wait'}`;
  return `${formatCount(all, 'answer')} in ${days} days, ${waiting} for a person`;
}

/**
 * Renders whether answers may be published without a person, and whether the stated confidence is correct.
 */
function renderTrust(query: InsightsQuery, facts: TrustFacts): Html {
  const { trust, decided } = facts;
  const path = `/insights/trust${search({ repo: query.repo })}`;
  if (!trust.enough)
    return html`<p class="quiet">${summarizeBins(computeBins(decided), trust.decided)} <a
      href="${path}">What is known so far</a></p>`;
  const coverage = createCoverageChart(query, facts);
  const calibration = createCalibrationChart({
    id: 'calibration',
    name: 'How sure it said it was (horizontal), and how often it was right (vertical)',
    judged: decided,
    small: true,
    csv: `/insights/trust${search({ repo: query.repo, csv: 'calibration' })}`,
  });
  return html`<div class="halves"><div>${figure(coverage)}<p class="meta"><a
    href="${path}#thresholds">Other limits</a></p></div><div>${figure(calibration)}</div></div>`;
}

/** Renders the causes that cost the most build hours. Each bar is relative to the first one. */
function renderCostliest(causes: readonly TopCause[], all: string): Shown {
  const timed = causes.filter(({ hours }) => hours > 0);
  const [first] = timed;
  if (first === undefined) return null;
  const rows = timed.map(
    (cause) => html`<li>${categoryTile(cause.category)}<div class="grow"><a class="whole"
      href="${formatCauseAddress(cause.fingerprint)}">${cause.title}</a><progress
        max="${Math.max(first.hours, 0.01)}"
      value="${cause.hours}" aria-label="Hours lost">${formatHours(cause)}</progress></div><span
      class="end num">${formatHours(cause)}</span></li>`,
  );
  const equal = timed.filter((cause) => formatHours(cause) === formatHours(first)).length;
  const took =
    equal === 1
      ? `The costliest cause took ${formatHours(first)} of builds`
      : `The ${equal} costliest causes took ${formatHours(first)} of builds each`;
  return html`<section class="part" aria-labelledby="costliest"><h2 id="costliest">${took}</h2>
    <div class="panel"><ul class="rows">${rows}</ul></div><p
      class="meta"><a
    href="${all}">All causes</a></p></section>`;
}

/** Renders the cost and the duration of answers in the newest week that has any. */
function renderPrice(figures: readonly WeekFigures[], more: string): Shown {
  const week = figures.at(-1);
  if (week === undefined) return null;
  const { medianSeconds, medianUsd } = week;
  const time = medianSeconds === null ? 'nothing new' : formatDuration(medianSeconds * 1000);
  const price = medianUsd === null || medianUsd === 0 ? 'nothing' : formatDollars(medianUsd);
  const sentence =
    medianSeconds === null
      ? 'Every answer of this week was known from a decision'
      : `Most answers take ${time} and cost ${price}`;
  return html`<section class="part" aria-labelledby="price"><h2 id="price">${sentence}</h2><dl class="kv">
    <dt>Answers since ${formatDay(week.week)}</dt><dd>${week.answers}</dd>
    <dt>Known from a decision</dt><dd>${week.recalled}, at once, for nothing</dd>
    <dt>9 in 10 take at most</dt><dd>${
      week.p90Seconds === null ? 'unknown' : formatDuration(week.p90Seconds * 1000)
    }</dd></dl><p class="meta"><a href="${more}">By week</a></p></section>`;
}

const REVIEWED_DAYS = 90;
/**
 * The share of hasty decisions above which the goal is missed (docs/reference/insights.md lists the goals).
 */
const HASTY_SHARE = 0.1;

/** Renders `/insights/reviewers`: how the team decides. Figures of individuals are never shown. */
async function renderReviewersView(
  query: InsightsQuery,
  { stores, clock }: ConsoleDeps,
): Promise<InsightsView> {
  const figures = await stores.insights.reviewing(
    toPeriod({ ...query, day: undefined }, REVIEWED_DAYS, clock.now()),
  );
  const main = html`<h1 tabindex="-1">How the team decides</h1>
    <p>The whole team, never individuals, over the last ${REVIEWED_DAYS} days.</p>
    ${filterForm('/insights/reviewers', query)}
    ${
      figures.decided === 0 ? html`<p>No decisions in the last ${REVIEWED_DAYS} days.</p>` : content(figures)
    }`;
  const rows = Object.entries(figures).map(([name, value]) => [name, value]);
  return { title: 'Reviewing', main, tables: { reviewing: { head: ['figure', 'value'], rows } } };
}

function content(figures: ReviewingFigures): Html {
  const { decided, medianSeconds, p90Seconds, timedAccepts, hastyAccepts, pairs, pairsAgreed } = figures;
  const hasty = computeProportion(hastyAccepts, timedAccepts);
  const seconds = (value: number | null) => (value === null ? 'unknown' : `${Math.round(value)} s`);
  const agreement = computeProportion(pairsAgreed, pairs);
  return html`<dl class="kv">
    <dt>Decided</dt><dd>${decided}</dd>
    <dt>Agreed with Faultline</dt><dd>${renderShare(computeProportion(figures.agreed, figures.judged))}</dd>
    <dt>Time to decide</dt><dd>median ${seconds(medianSeconds)}, 90th percentile ${seconds(p90Seconds)}</dd>
    <dt>Accepted within 3 s</dt><dd>${renderShare(hasty)}${
      hasty.of > 0 &&
      hasty.share > HASTY_SHARE &&
      html` <strong
        class="is-amber">more than ${formatPercent(HASTY_SHARE)}: are answers being read?</strong>`
    }</dd>
    <dt>Two reviewers agree on the same cause</dt><dd>${renderShare(agreement)}</dd></dl>
    <p><a href="?csv=reviewing">Download CSV</a></p>`;
}

function renderShare({ hits, of, share, low, high }: Proportion): Html {
  if (of === 0) return html`<span class="quiet">none yet</span>`;
  return html`<strong>${formatPercent(share)}</strong>, ${hits} of ${of} <span class="quiet">(95 % interval
    ${formatPercent(low)} to ${formatPercent(high)})</span>`;
}

const COST_PATH = '/insights/cost';
const WEEKS = 12;
const WEEK_MS = 7 * 86_400_000;

/** Renders `/insights/cost`: what answers cost, how long they take, and how many need no model. */
async function renderCostView(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<InsightsView> {
  const figures = await stores.insights.perWeek(
    toPeriod({ ...query, day: undefined }, WEEKS * 7, clock.now()),
  );
  const charts = figures.length === 0 ? [] : createCostCharts(figures, query, clock.now());
  const sum = (of: 'answers' | 'recalled') => figures.reduce((total, week) => total + week[of], 0);
  const main = html`<h1 tabindex="-1">Cost and time</h1>
    <p>Time and cost are per answer and week, without answers that were known from a decision, which cost
    nothing.</p>
    ${filterForm(COST_PATH, query)}${
      charts.length === 0
        ? html`<p>No answers in the last ${WEEKS} weeks, so there is no cost to show.</p>`
        : html`<p>${formatCount(sum('answers'), 'answer')} in ${WEEKS} weeks, ${sum('recalled')}
          of them known from a decision.</p>${charts.map((chart) => figure(chart))}`
    }`;
  return {
    title: 'Cost and time',
    main,
    tables: Object.fromEntries(charts.map(({ id, table }) => [id, table])),
  };
}

function createCostCharts(figures: readonly WeekFigures[], { repo }: InsightsQuery, now: number): Chart[] {
  const weeks = listWeeks(figures);
  const of = (value: (week: WeekFigures) => number | null) =>
    weeks.map((week) => figures.filter((other) => other.week === week).map(value)[0] ?? null);
  const csv = (id: string) => `${COST_PATH}${search({ repo, csv: id })}`;
  const two = (unit: 'Seconds' | 'Usd') => [
    { name: 'median', look: 'median', values: of((week) => week[`median${unit}`]) },
    { name: '90th percentile', look: 'p90', values: of((week) => week[`p90${unit}`]) },
  ];
  const [seconds, dollars] = [two('Seconds'), two('Usd')];
  const share = [
    { name: 'from known fingerprints', look: 'median', values: of((week) => week.recalled / week.answers) },
  ];
  const time = (value: number) => formatDuration(value * 1000);
  const newest = weeks.at(-1) ?? '';
  const when = Date.parse(newest) + WEEK_MS > now ? 'this week so far' : `in the week of ${newest}`;
  const isPaid = dollars.some(({ values }) => values.some((value) => value !== null && value > 0));
  return [
    createLinesChart({
      id: 'time',
      name: 'Time per answer',
      finding: summarizeSeries('An answer takes', takeLast(seconds), time),
      steps: weeks,
      series: seconds,
      say: time,
      csv: csv('time'),
    }),
    isPaid &&
      createLinesChart({
        id: 'cost',
        name: 'Cost per answer',
        finding: summarizeSeries('An answer costs', takeLast(dollars), formatDollars),
        steps: weeks,
        series: dollars,
        say: formatDollars,
        csv: csv('cost'),
      }),
    createLinesChart({
      id: 'known',
      name: 'Answered from known fingerprints, without a model',
      finding: `${formatPercent(takeLast(share)[0] ?? 0)} of answers ${when} came from earlier decisions.`,
      steps: weeks,
      series: share,
      say: formatPercent,
      top: 1,
      csv: csv('known'),
    }),
  ].filter((chart) => chart !== false);
}

function takeLast(series: readonly { readonly values: readonly (number | null)[] }[]): (number | null)[] {
  return series.map(({ values }) => values.findLast((value) => value !== null) ?? null);
}

function summarizeSeries(
  start: string,
  [median, p90]: readonly (number | null)[],
  say: (value: number) => string,
): string {
  if (median == null) return 'Every answer came from a known fingerprint.';
  return (
    `${start} ${say(median)} at the ` +
    `median${p90 == null ? '' : ` and ${say(p90)} at the 90th percentile`}.`
  );
}

/** Lists every Monday from the first week with answers to the last. */
function listWeeks(figures: readonly WeekFigures[]): string[] {
  const [first, end] = [Date.parse(figures[0]?.week ?? ''), Date.parse(figures.at(-1)?.week ?? '')];
  return Array.from({ length: Math.round((end - first) / WEEK_MS) + 1 }, (_, at) =>
    new Date(first + at * WEEK_MS).toISOString().slice(0, 10),
  );
}
