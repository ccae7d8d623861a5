import { flakeProbability, type TestFlakiness } from '../../domain/flakiness.ts';
import { proportion } from '../../lib/statistics.ts';
import { counted } from '../../lib/text.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import type { TestCost } from '../../stores/flakiness.ts';
import { buildAddress } from '../addresses.ts';
import { type ChartTable, percentOf } from '../charts/chart.ts';
import { runStrip } from '../charts/counts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { timeOf } from '../controls.ts';
import { dataTable, type Html, html, type Shown } from '../html.ts';
import { daysField, filterForm, type InsightsQuery, type InsightsView, periodOf, search } from './insights-frame.ts';
import { testAddress } from './test-page.ts';

const PAGE = 50;
const PATH = '/insights/flaky';
/** Failed runs are kept for 31 days. */
const PERIODS = [7, 30] as const;

/** One of the lists of the page: what it holds, and how it is told. */
interface List {
  readonly introduction: string;
  readonly more?: Html;
  readonly found: number;
  readonly table: Html;
  readonly none: string;
  readonly cells: ChartTable;
}

/** `/insights/flaky`: tests that failed and passed without a change, tests by what their failures cost, and those in quarantine. */
export async function flakyView(query: InsightsQuery, deps: ConsoleDeps): Promise<InsightsView> {
  const { repo, list, offset } = query;
  const shown = list === 'cost' ? await costly(query, deps) : await flaky(query, deps);
  const main = html`<h1 tabindex="-1">${NAMES[list]}</h1>${lists(query)}<p>${shown.introduction}</p>
${filterForm(query, html`<input type="hidden" name="list" value="${list}">${shown.more}`)}${
  shown.found === 0
    ? html`<p>${offset > 0 ? 'No more tests.' : shown.none}</p>`
    : html`${shown.table}${pages(shown.found > PAGE, query)}
<p>${list === 'flaky' && html`For builds: <a href="/api/flaky-tests?format=csv">CSV</a>, <a href="/api/flaky-tests?format=junit-names">names for Surefire</a> or <a href="/api/flaky-tests?format=text">plain names</a>, with a token. `}<a href="${PATH}${search({ ...kept(query), offset, csv: list })}">This page as CSV</a>.</p>`
}`;
  return { title: `${NAMES[list]}${repo !== '' ? ` of ${repo}` : ''}`, main, tables: { [list]: shown.cells } };
}

const NAMES = { flaky: 'Flaky tests', cost: 'Costliest tests', quarantine: 'Tests in quarantine' } as const;

function kept({ repo, list, days, minutes }: InsightsQuery) {
  return { repo, list: list === 'flaky' ? undefined : list, ...(list === 'cost' && { days, minutes }) };
}

function lists(query: InsightsQuery): Html {
  const links = (['flaky', 'cost', 'quarantine'] as const).map(
    (list) =>
      html`<li><a href="${PATH}${search(kept({ ...query, list }))}"${list === query.list && html` aria-current="page"`}>${NAMES[list]}</a></li>`,
  );
  return html`<nav class="tabs" aria-label="Lists of tests"><ul class="legend">${links}</ul></nav>`;
}

async function flaky({ repo, list, offset }: InsightsQuery, { stores }: ConsoleDeps): Promise<List> {
  const quarantined = list === 'quarantine';
  const filter = { ...(repo !== '' && { repository: repo }), quarantined };
  const found = await stores.flakiness.list(filter, { limit: PAGE + 1, offset });
  const tests = found.slice(0, PAGE);
  const head = ['Test', 'Flakes', 'Passed on rerun', 'Last 30 runs', 'Since'];
  return {
    introduction: quarantined
      ? 'Nobody is notified of a build in which only these tests fail. A quarantine ends on its own; the failures stay visible.'
      : 'A flake is a failed run whose commit later passed, or an isolated failure on a default branch that kept changing. Each test is judged by its latest 100 runs. Flaky is not a category: no failure is hidden because of it.',
    found: found.length,
    table: dataTable(quarantined ? 'Tests in quarantine, ending soonest first' : 'Flaky tests, most flakes first', head, tests.map(row)),
    none: quarantined
      ? `No test${repo !== '' ? ` of ${repo}` : ''} is in quarantine.`
      : `No test${repo !== '' ? ` of ${repo}` : ''} is known to be flaky. Flakiness is detected from test results of failed and passed builds: upload test reports of both.`,
    cells: { head: HEAD, rows: tests.map(cells) },
  };
}

async function costly(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<List> {
  const { repo, minutes, offset } = query;
  const days = query.days === 30 ? 30 : 7;
  const period = periodOf({ ...query, day: undefined }, days, clock.now());
  const found = await stores.flakiness.costs({ ...period, minutes }, { limit: PAGE + 1, offset });
  const tests = found.slice(0, PAGE);
  const head = ['Test', 'Lost', 'Machines', 'People', 'Failures'];
  return {
    introduction: `The run time of each failed build, and ${minutes} minutes of a person's time, are shared evenly among the tests that failed in it.`,
    more: html`${daysField(days, PERIODS)}<label>minutes of a person's time per failed build <input name="minutes" type="number" min="0" max="480" value="${minutes}"></label>`,
    found: found.length,
    table: dataTable(
      'Tests, costliest first',
      head,
      tests.map((test) => costRow(test, minutes)),
    ),
    none: `No test${repo !== '' ? ` of ${repo}` : ''} failed in the last ${days} days.`,
    cells: { head: COST_HEAD, rows: tests.map((test) => costCells(test, minutes)) },
  };
}

function costRow(test: TestCost, minutes: number): Html {
  const people = test.builds * minutes;
  const untimed = test.untimed > 0 && html`<br><span class="quiet">${counted(test.untimed, 'build')} of unknown run time</span>`;
  return html`<tr>${named(test)}<td><strong>${formatNumber(Math.round(test.machineMinutes + people))} min</strong></td>
<td>${formatNumber(Math.round(test.machineMinutes))} min${untimed}</td><td>${formatNumber(Math.round(people))} min</td><td>${test.failures}</td></tr>`;
}

function named(test: Pick<TestFlakiness, 'name' | 'suite' | 'repository' | 'file' | 'quarantine'>): Html {
  const until: Shown =
    test.quarantine !== null && html`<br><span class="status">in quarantine until ${test.quarantine.until.slice(0, 10)}</span>`;
  return html`<th scope="row"><a class="mono" href="${testAddress(test)}">${test.name}</a><br><span class="quiet">${test.suite !== null && `${test.suite} · `}${test.repository}${test.file !== null && ` · ${test.file}`}</span>${until}</th>`;
}

function row(test: TestFlakiness): Html {
  const { share, low, high } = proportion(test.flakes, test.runs);
  const last = test.recent.findLast(({ mark }) => mark === 'flake');
  return html`<tr>${named(test)}
<td><strong>${percentOf(share)}</strong>, ${test.flakes} of ${test.runs}<br><span class="quiet">95 % interval ${percentOf(low)} to ${percentOf(high)}</span></td>
<td>${again(test)}</td><td>${runStrip(test.name, test.recent)}</td>
<td>${test.since !== null && timeOf(test.since)}${last !== undefined && html`<br><a href="${buildAddress(last.buildId)}">last flake</a>`}</td></tr>`;
}

function again(test: TestFlakiness): Html {
  const probability = flakeProbability(test);
  const flips =
    test.flips > 0 && html`<br><span class="quiet">changed ${test.flips} times in ${test.defaultRuns} runs of the default branch</span>`;
  if (probability === null) return html`<span class="quiet">never rerun on the same commit</span>${flips}`;
  return html`${test.recovered} of ${test.rerun} ${test.rerun === 1 ? 'commit' : 'commits'} <span class="quiet">(probability ${percentOf(probability)})</span>${flips}`;
}

function pages(more: boolean, query: InsightsQuery): Html {
  const { offset } = query;
  const at = (next: number) => `${PATH}${search({ ...kept(query), offset: next })}`;
  return html`<p class="pages">${offset > 0 && html`<a href="${at(Math.max(0, offset - PAGE))}">Previous</a>`}${more && html`<a href="${at(offset + PAGE)}">Next</a>`}</p>`;
}

const HEAD = [
  ...['test', 'suite', 'repository', 'runs', 'failed', 'flakes', 'share', 'low', 'high', 'rerun', 'recovered', 'probability'],
  ...['since', 'quarantined_until'],
];

function cells(test: TestFlakiness) {
  const { share, low, high } = proportion(test.flakes, test.runs);
  const rate = [share, low, high].map((one) => Number(one.toFixed(4)));
  const known = [test.name, test.suite, test.repository, test.runs, test.failed, test.flakes];
  return [...known, ...rate, test.rerun, test.recovered, flakeProbability(test), test.since, test.quarantine?.until ?? null];
}

const COST_HEAD = ['test', 'suite', 'repository', 'lost_minutes', 'machine_minutes', 'people_minutes', 'failures', 'untimed_failures'];

function costCells(test: TestCost, minutes: number) {
  const [machines, people] = [test.machineMinutes, test.builds * minutes];
  const rounded = [machines + people, machines, people].map((one) => Number(one.toFixed(1)));
  return [test.name, test.suite, test.repository, ...rounded, test.failures, test.untimed];
}
