import { CATEGORIES } from '../../domain/category.ts';
import type { AnsweredCount, DecidedCount } from '../../ports/insights.ts';
import { calibrationChart } from '../charts/calibration.ts';
import { type CoverageChart, coverageChart } from '../charts/coverage.ts';
import { type Chart, figure } from '../charts/figure.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { html } from '../html.ts';
import { filterForm, type InsightsQuery, type InsightsView, periodOf, search } from './insights-frame.ts';

const PATH = '/insights/trust';
/** What was decided longer ago was decided of another machine. */
const DAYS = 365;
/** What is answered alone where nothing else is configured. */
const USUAL_THRESHOLD = 0.85;

export interface TrustFacts {
  readonly decided: readonly DecidedCount[];
  readonly answered: readonly AnsweredCount[];
}

export async function trustFacts(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<TrustFacts> {
  const period = periodOf({ ...query, day: undefined }, DAYS, clock.now());
  const [decided, answered] = await Promise.all([stores.insights.decided(period), stores.insights.answered(period)]);
  return { decided, answered };
}

/** The threshold that is looked at, and what holds there. */
export function coverageOf(query: InsightsQuery, { decided, answered }: TrustFacts, { config }: ConsoleDeps): Chart {
  const threshold = query.t ?? config.triage?.thresholds.autoNotify ?? USUAL_THRESHOLD;
  const kept: CoverageChart['kept'] = query.repo === '' ? {} : { repo: query.repo };
  const csv = `${PATH}${search({ repo: query.repo, t: query.t, wrong: query.wrong, csv: 'coverage' })}`;
  return coverageChart({ judged: decided, answered, threshold, wrong: query.wrong / 100, kept, csv });
}

/** `/insights/trust`: whether what is stated can be believed. */
export async function trustView(query: InsightsQuery, deps: ConsoleDeps): Promise<InsightsView> {
  const facts = await trustFacts(query, deps);
  const chart = (id: string, name: string, judged: readonly DecidedCount[], small: boolean) =>
    calibrationChart({ id, name, judged, small, csv: `${PATH}${search({ repo: query.repo, csv: id })}` });
  const whole = chart('calibration', 'Calibration: stated confidence and accuracy', facts.decided, false);
  const each = CATEGORIES.map((category) =>
    chart(
      `calibration-${category}`,
      category,
      facts.decided.filter((one) => one.category === category),
      true,
    ),
  );
  const coverage = coverageOf(query, facts, deps);
  const count = (blind: boolean) => facts.decided.filter((one) => one.blind === blind).reduce((sum, one) => sum + one.count, 0);
  const main = html`<h1 tabindex="-1">Accuracy</h1>
<p>Based on reviewed answers only: ${count(false)} with the verdict shown, ${count(true)} blind, in the last ${DAYS} days (latest 5,000 at most). Right means that the category was right. Published answers count once they are reviewed.</p>
${filterForm(query)}${figure(whole)}${figure(coverage)}<h2>By category</h2><div class="charts-small">${each.map((one) => figure(one, 'h3'))}</div>`;
  return { title: 'Accuracy', main, tables: Object.fromEntries([whole, coverage, ...each].map(({ id, table }) => [id, table])) };
}
