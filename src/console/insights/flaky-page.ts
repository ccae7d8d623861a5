import { flakeProbability, type TestFlakiness } from '../../domain/flakiness.ts';
import { proportion } from '../../lib/statistics.ts';
import { buildAddress } from '../addresses.ts';
import { percentOf } from '../charts/chart.ts';
import { runStrip } from '../charts/counts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { timeOf } from '../controls.ts';
import { dataTable, type Html, html } from '../html.ts';
import { filterForm, type InsightsQuery, type InsightsView, search } from './insights-frame.ts';

const PAGE = 50;
const PATH = '/insights/flaky';

/** `/insights/flaky`: tests that failed and passed without a change. */
export async function flakyView(query: InsightsQuery, { stores }: ConsoleDeps): Promise<InsightsView> {
  const filter = query.repo === '' ? {} : { repository: query.repo };
  const found = await stores.flakiness.list(filter, { limit: PAGE + 1, offset: query.offset });
  const tests = found.slice(0, PAGE);
  const main = html`<h1 tabindex="-1">Flaky tests</h1>
<p>A flake is a failed run whose commit later passed, or an isolated failure on a default branch that kept changing. Each test is judged by its latest 100 runs. Flaky is not a category: no failure is hidden because of it.</p>
${filterForm(query)}${
  tests.length === 0
    ? nothing(query)
    : html`${table(tests)}${pages(found.length > PAGE, query)}
<p>For builds: <a href="/api/flaky-tests?format=csv">CSV</a>, <a href="/api/flaky-tests?format=junit-names">names for Surefire</a> or <a href="/api/flaky-tests?format=text">plain names</a>, with a token. Here: <a href="${PATH}${search({ repo: query.repo, offset: query.offset, csv: 'flaky' })}">this page as CSV</a>.</p>`
}`;
  return { title: 'Flaky tests', main, tables: { flaky: { head: HEAD, rows: tests.map(cells) } } };
}

function nothing({ repo, offset }: InsightsQuery): Html {
  if (offset > 0) return html`<p>No more tests.</p>`;
  return html`<p>No test${repo !== '' && ` of ${repo}`} is known to be flaky. Flakiness shows once test results of failed and passed builds arrive: upload test reports of both.</p>`;
}

function table(tests: readonly TestFlakiness[]): Html {
  return dataTable('Flaky tests, most flakes first', ['Test', 'Flakes', 'Passed on rerun', 'Last 30 runs', 'Since'], tests.map(row));
}

function row(test: TestFlakiness): Html {
  const { share, low, high } = proportion(test.flakes, test.runs);
  const last = test.recent.findLast(({ mark }) => mark === 'flake');
  return html`<tr><th scope="row"><span class="mono">${test.name}</span><br><span class="quiet">${test.suite !== null && `${test.suite} · `}${test.repository}${test.file !== null && ` · ${test.file}`}</span></th>
<td><strong>${percentOf(share)}</strong>, ${test.flakes} of ${test.runs}<br><span class="quiet">${percentOf(low)} to ${percentOf(high)} with 95 %</span></td>
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

function pages(more: boolean, { repo, offset }: InsightsQuery): Html {
  const earlier = offset > 0 && html`<a href="${PATH}${search({ repo, offset: Math.max(0, offset - PAGE) })}">Previous</a>`;
  return html`<p class="pages">${earlier}${more && html`<a href="${PATH}${search({ repo, offset: offset + PAGE })}">Next</a>`}</p>`;
}

const HEAD = [
  'test',
  'suite',
  'repository',
  'runs',
  'failed',
  'flakes',
  'share',
  'low',
  'high',
  'rerun',
  'recovered',
  'probability',
  'since',
];

function cells(test: TestFlakiness) {
  const { share, low, high } = proportion(test.flakes, test.runs);
  const rate = [share, low, high].map((one) => Number(one.toFixed(4)));
  const known = [test.name, test.suite, test.repository, test.runs, test.failed, test.flakes];
  return [...known, ...rate, test.rerun, test.recovered, flakeProbability(test), test.since];
}
