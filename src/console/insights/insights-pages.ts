import type { FastifyInstance } from 'fastify';
import { CATEGORIES } from '../../domain/category.ts';
import type { AnsweredCount, DecidedCount, ReviewingFigures } from '../../domain/insights.ts';
import { type Proportion, proportion } from '../../lib/statistics.ts';
import { type Chart, figure, percentOf } from '../charts/chart.ts';
import { type CoverageChart, calibrationBins, calibrationChart, calibrationFinding, coverageChart } from '../charts/confidence.ts';
import { columnsChart } from '../charts/counts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { type Html, html } from '../html.ts';
import { causesTable, causesView, registerCausePage } from './cause-pages.ts';
import { costView } from './cost-page.ts';
import { flakyView } from './flaky-page.ts';
import { healthView } from './health-page.ts';
import {
  daysField,
  daysOf,
  filterForm,
  type InsightsQuery,
  type InsightsView,
  periodOf,
  registerInsightsRoute,
  search,
} from './insights-frame.ts';
import { registerTestPage } from './test-page.ts';

/** What was answered and decided, in figures: for all who read, and how people decide for those who review. */
export function registerInsightsPages(app: FastifyInstance, deps: ConsoleDeps): void {
  registerInsightsRoute(app, deps, { path: '/insights', role: 'read', view: overviewView });
  registerInsightsRoute(app, deps, { path: '/insights/trust', role: 'read', view: trustView });
  registerInsightsRoute(app, deps, { path: '/insights/health', role: 'read', view: healthView });
  registerInsightsRoute(app, deps, { path: '/insights/flaky', role: 'read', view: flakyView });
  registerInsightsRoute(app, deps, { path: '/insights/causes', role: 'read', view: causesView });
  registerInsightsRoute(app, deps, { path: '/insights/cost', role: 'read', view: costView });
  registerInsightsRoute(app, deps, { path: '/insights/reviewers', role: 'review', view: reviewersView });
  registerCausePage(app, deps);
  registerTestPage(app, deps);
}

const TOP = 5;

/** `/insights`: what came, whether it can be believed, what costs most; each leads on to its own page. */
async function overviewView(query: InsightsQuery, deps: ConsoleDeps): Promise<InsightsView> {
  const { stores, clock } = deps;
  const period = periodOf({ ...query, day: undefined }, query.days === 90 ? 90 : 30, clock.now());
  const filter = query.repo === '' ? {} : { repository: query.repo };
  const [counts, causes, trust, flaky] = await Promise.all([
    stores.insights.categoriesPerDay(period),
    stores.insights.topCauses(period, TOP),
    trustFacts(query, deps),
    stores.flakiness.list(filter, { limit: 1, offset: 0 }),
  ]);
  const { repo } = query;
  const listAddress = (day: string, days: number) => `/insights/causes${search({ repo, day, days })}`;
  const csv = `/insights${search({ repo, days: period.days, csv: 'days' })}`;
  const columns = columnsChart({ counts, days: daysOf(period), listAddress, csv });
  const total = trust.decided.reduce((sum, { count }) => sum + count, 0);
  const [worst] = flaky;
  const tiles = [
    tile('Accuracy', `/insights/trust${search({ repo })}`, calibrationFinding(calibrationBins(trust.decided), total)),
    tile('Threshold', `/insights/trust${search({ repo })}#coverage`, coverageOf(query, trust, deps).finding),
    tile(
      'Flaky tests',
      `/insights/flaky${search({ repo })}`,
      worst === undefined
        ? 'No test is known to be flaky.'
        : `${worst.name} flakes most: ${percentOf(proportion(worst.flakes, worst.runs).share)}, ${worst.flakes} of ${worst.runs} runs.`,
    ),
  ];
  const main = html`<h1 tabindex="-1">Insights</h1>${filterForm(query, daysField(period.days, [30, 90]))}
${counts.length === 0 ? html`<p>No answers in the last ${period.days} days${repo !== '' && ` for ${repo}`}. Figures appear after the first analyzed build.</p>` : figure(columns)}
<div class="tiles">${tiles}</div>
${causes.length > 0 && html`<h2>Most expensive causes</h2>${causesTable(causes)}<p><a href="/insights/causes${search({ repo, days: period.days })}">All causes</a></p>`}`;
  return { title: 'Insights', main, tables: { days: columns.table } };
}

function tile(name: string, address: string, finding: string): Html {
  return html`<section class="card"><h2><a href="${address}">${name}</a></h2><p>${finding}</p></section>`;
}

const PATH = '/insights/trust';
/** What was decided longer ago was decided of another machine. */
const DAYS = 365;
/** What is answered alone where nothing else is configured. */
const USUAL_THRESHOLD = 0.85;

interface TrustFacts {
  readonly decided: readonly DecidedCount[];
  readonly answered: readonly AnsweredCount[];
}

async function trustFacts(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<TrustFacts> {
  const period = periodOf({ ...query, day: undefined }, DAYS, clock.now());
  const [decided, answered] = await Promise.all([stores.insights.decided(period), stores.insights.answered(period)]);
  return { decided, answered };
}

/** The threshold that is inspected, and what holds there. */
function coverageOf(query: InsightsQuery, { decided, answered }: TrustFacts, { config }: ConsoleDeps): Chart {
  const threshold = query.t ?? config.triage?.thresholds.autoNotify ?? USUAL_THRESHOLD;
  const kept: CoverageChart['kept'] = query.repo === '' ? {} : { repo: query.repo };
  const csv = `${PATH}${search({ repo: query.repo, t: query.t, wrong: query.wrong, csv: 'coverage' })}`;
  return coverageChart({ judged: decided, answered, threshold, wrong: query.wrong / 100, kept, csv });
}

/** `/insights/trust`: whether what is stated can be believed. */
async function trustView(query: InsightsQuery, deps: ConsoleDeps): Promise<InsightsView> {
  const facts = await trustFacts(query, deps);
  const chart = (id: string, name: string, judged: readonly DecidedCount[], small: boolean) =>
    calibrationChart({ id, name, judged, small, csv: `${PATH}${search({ repo: query.repo, csv: id })}` });
  const whole = chart('calibration', 'Calibration: stated confidence and accuracy', facts.decided, false);
  const each = CATEGORIES.map((category) => {
    const own = facts.decided.filter((one) => one.category === category);
    return chart(`calibration-${category}`, category, own, true);
  });
  const coverage = coverageOf(query, facts, deps);
  const count = (blind: boolean) => facts.decided.filter((one) => one.blind === blind).reduce((sum, one) => sum + one.count, 0);
  const main = html`<h1 tabindex="-1">Accuracy</h1>
<p>Based on reviewed answers only: ${count(false)} with the verdict shown, ${count(true)} blind, in the last ${DAYS} days (latest 5,000 at most). Right means that the category was right. Published answers count once they are reviewed.</p>
${filterForm(query)}${figure(whole)}${figure(coverage)}<h2>By category</h2><div class="charts-small">${each.map((one) => figure(one, 'h3'))}</div>`;
  return { title: 'Accuracy', main, tables: Object.fromEntries([whole, coverage, ...each].map(({ id, table }) => [id, table])) };
}

const REVIEWED_DAYS = 90;
/** Blind decisions from which the difference is told, and the points from which it is an alarm. */
const BLIND_FROM = 50;
const ALARM_POINTS = 10;
/** Goals of the project: see docs/reference/insights.md. */
const HASTY_SHARE = 0.1;

/** `/insights/reviewers`: how the team decides. Nobody's own figures are shown. */
async function reviewersView(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<InsightsView> {
  const figures = await stores.insights.reviewing(periodOf({ ...query, day: undefined }, REVIEWED_DAYS, clock.now()));
  const main = html`<h1 tabindex="-1">How the team decides</h1>
<p>The whole team, never individuals, over the last ${REVIEWED_DAYS} days.</p>${filterForm(query)}
${figures.decided === 0 ? html`<p>No decisions in the last ${REVIEWED_DAYS} days.</p>` : content(figures)}`;
  const rows = Object.entries(figures).map(([name, value]) => [name, value]);
  return { title: 'Reviewing', main, tables: { reviewing: { head: ['figure', 'value'], rows } } };
}

function content(figures: ReviewingFigures): Html {
  const { decided, medianSeconds, p90Seconds, timedAccepts, hastyAccepts, pairs, pairsAgreed } = figures;
  const hasty = proportion(hastyAccepts, timedAccepts);
  const seconds = (value: number | null) => (value === null ? 'unknown' : `${Math.round(value)} s`);
  return html`${bias(figures)}<dl class="facts">
<dt>Decided</dt><dd>${decided}</dd>
<dt>Agreed with Faultline, verdict shown</dt><dd>${shareOf(proportion(figures.shownAgreed, figures.shown))}</dd>
<dt>Agreed with Faultline, blind</dt><dd>${shareOf(proportion(figures.blindAgreed, figures.blind))}</dd>
<dt>Time to decide</dt><dd>median ${seconds(medianSeconds)}, 90th percentile ${seconds(p90Seconds)}</dd>
<dt>Accepted within 3 s</dt><dd>${shareOf(hasty)}${hasty.of > 0 && hasty.share > HASTY_SHARE && html` <strong class="warn">more than ${percentOf(HASTY_SHARE)}: are answers being read?</strong>`}</dd>
<dt>Two reviewers agree on the same cause</dt><dd>${shareOf(proportion(pairsAgreed, pairs))}</dd></dl>
<p><a href="?csv=reviewing">Download CSV</a></p>`;
}

/** How much seeing the verdict sways: agreement with it in view minus agreement without. */
function bias({ shown, shownAgreed, blind, blindAgreed }: ReviewingFigures): Html {
  if (blind < BLIND_FROM || shown === 0)
    return html`<p>${blind} blind ${blind === 1 ? 'decision' : 'decisions'}: the effect of seeing the verdict is shown from ${BLIND_FROM} on.</p>`;
  const points = Math.round((shownAgreed / shown - blindAgreed / blind) * 100);
  if (points > ALARM_POINTS)
    return html`<p class="card"><strong class="warn">Seeing the verdict sways reviewers: agreement is ${points} points higher than blind.</strong> More blind items and slower decisions help.</p>`;
  return html`<p class="card">Agreement is ${Math.abs(points)} points ${points < 0 ? 'lower' : 'higher'} with the verdict shown than blind. This is within the limit of ${ALARM_POINTS}.</p>`;
}

function shareOf({ hits, of, share, low, high }: Proportion): Html {
  if (of === 0) return html`<span class="quiet">none yet</span>`;
  return html`<strong>${percentOf(share)}</strong>, ${hits} of ${of} <span class="quiet">(95 % interval ${percentOf(low)} to ${percentOf(high)})</span>`;
}
