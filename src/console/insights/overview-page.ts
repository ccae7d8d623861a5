import { proportion } from '../../lib/statistics.ts';
import { calibrationBins } from '../charts/bins.ts';
import { calibrationFinding } from '../charts/calibration.ts';
import { columnsChart } from '../charts/columns.ts';
import { percentOf } from '../charts/draw.ts';
import { figure } from '../charts/figure.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { type Html, html } from '../html.ts';
import { causesTable } from './causes-page.ts';
import { daysField, daysOf, filterForm, type InsightsQuery, type InsightsView, periodOf, search } from './insights-frame.ts';
import { coverageOf, trustFacts } from './trust-page.ts';

const TOP = 5;

/** `/insights`: what came, whether it can be believed, what costs most; each leads on to its own page. */
export async function overviewView(query: InsightsQuery, deps: ConsoleDeps): Promise<InsightsView> {
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
