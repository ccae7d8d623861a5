import type { WeekFigures } from '../../domain/insights.ts';
import { counted } from '../../lib/text.ts';
import { formatDollars, formatDuration } from '../../notifications/answer-view.ts';
import { type Chart, figure, percentOf } from '../charts/chart.ts';
import { linesChart } from '../charts/counts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { html } from '../html.ts';
import { filterForm, type InsightsQuery, type InsightsView, periodOf, search } from './insights-frame.ts';

const PATH = '/insights/cost';
const WEEKS = 12;
const WEEK_MS = 7 * 86_400_000;

/** `/insights/cost`: what answers cost, how long they take, and how many need no model. */
export async function costView(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<InsightsView> {
  const figures = await stores.insights.perWeek(periodOf({ ...query, day: undefined }, WEEKS * 7, clock.now()));
  const charts = figures.length === 0 ? [] : costCharts(figures, query);
  const answers = figures.reduce((sum, week) => sum + week.answers, 0);
  const main = html`<h1 tabindex="-1">Cost and time</h1>
<p>Per answer and week, without answers from known fingerprints, which cost nothing.</p>
${filterForm(query)}${charts.length === 0 ? html`<p>No answers in the last ${WEEKS} weeks, so there is no cost to show.</p>` : html`<p>${counted(answers, 'answer')} in ${WEEKS} weeks.</p>${charts.map((one) => figure(one))}`}`;
  return { title: 'Cost and time', main, tables: Object.fromEntries(charts.map(({ id, table }) => [id, table])) };
}

function costCharts(figures: readonly WeekFigures[], { repo }: InsightsQuery): Chart[] {
  const weeks = allWeeks(figures);
  const of = (value: (week: WeekFigures) => number | null) =>
    weeks.map((week) => figures.filter((one) => one.week === week).map(value)[0] ?? null);
  const csv = (id: string) => `${PATH}${search({ repo, csv: id })}`;
  const two = (unit: 'Seconds' | 'Usd') => [
    { name: 'median', look: 'median', values: of((week) => week[`median${unit}`]) },
    { name: '90th percentile', look: 'p90', values: of((week) => week[`p90${unit}`]) },
  ];
  const [seconds, dollars] = [two('Seconds'), two('Usd')];
  const share = [{ name: 'from known fingerprints', look: 'median', values: of((week) => week.recalled / week.answers) }];
  const time = (value: number) => formatDuration(value * 1000);
  return [
    linesChart({
      id: 'time',
      name: 'Time per answer',
      finding: saying('An answer takes', last(seconds), time),
      steps: weeks,
      series: seconds,
      say: time,
      csv: csv('time'),
    }),
    linesChart({
      id: 'cost',
      name: 'Cost per answer',
      finding: saying('An answer costs', last(dollars), formatDollars),
      steps: weeks,
      series: dollars,
      say: formatDollars,
      csv: csv('cost'),
    }),
    linesChart({
      id: 'known',
      name: 'Answered from known fingerprints, without a model',
      finding: `${percentOf(last(share)[0] ?? 0)} of last week's answers came from earlier decisions.`,
      steps: weeks,
      series: share,
      say: percentOf,
      top: 1,
      csv: csv('known'),
    }),
  ];
}

function last(series: readonly { readonly values: readonly (number | null)[] }[]): (number | null)[] {
  return series.map(({ values }) => values.findLast((value) => value !== null) ?? null);
}

function saying(start: string, [median, p90]: readonly (number | null)[], say: (value: number) => string): string {
  if (median == null) return 'Every answer came from a known fingerprint.';
  return `${start} ${say(median)} at the median${p90 == null ? '' : ` and ${say(p90)} at the 90th percentile`}.`;
}

/** Every Monday from the first week with answers to the last. */
function allWeeks(figures: readonly WeekFigures[]): string[] {
  const [first, end] = [Date.parse(figures[0]?.week ?? ''), Date.parse(figures.at(-1)?.week ?? '')];
  return Array.from({ length: Math.round((end - first) / WEEK_MS) + 1 }, (_, at) =>
    new Date(first + at * WEEK_MS).toISOString().slice(0, 10),
  );
}
