import type { Cause } from '../../domain/cause.ts';
import { estimateFlakeProbability, type TestFlakiness } from '../../domain/flakiness.ts';
import { computeProportion } from '../../lib/statistics.ts';
import { formatCount } from '../../lib/text.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import type { TestCost } from '../../stores/flakiness.ts';
import { search } from '../addresses.ts';
import { formatOneIn, formatPercent, RUN_MARKS, runStrip } from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { formatSpan, pager, postForm, renderHiddenFields } from '../controls.ts';
import { createNumberColumns, dataTable, type Html, html, type Shown } from '../html.ts';
import { FIRST_FAILING, listFailing, renderFailing } from './failing-tests.ts';
import {
  daysField,
  filterForm,
  type InsightsQuery,
  type InsightsView,
  TESTS_PATH,
  toPeriod,
} from './insights-frame.ts';
import { causeLink, type List, ownerCell, PAGE, testCell } from './test-lists.ts';
import { TEST_PATH, testAddress } from './test-page.ts';

const LISTS_PATH = TESTS_PATH;
/** The periods to choose from, in days. Failed runs are stored for 31 days. */
const PERIODS = [7, 30] as const;
const WEEK_DAYS = 7;
const MINUTE_MS = 60_000;
/** The maximum number of tests whose cost is read for the list of flaky ones. */
const MAX_COSTS = 500;

/**
 * Renders `/tests`: flaky tests, tests by the cost of their failures, and tests in quarantine. `acts` is true
 * if the reader may change quarantines.
 */
export async function renderTestsView(
  query: InsightsQuery,
  deps: ConsoleDeps,
  acts = false,
): Promise<InsightsView> {
  const { repo, list, offset } = query;
  const content = await readList(query, deps, acts);
  const main = html`<h1 tabindex="-1">${content.title}</h1><p class="quiet">${content.introduction}</p>
    ${content.before}${filterForm(TESTS_PATH, query, html`${renderHiddenFields({ list })}${content.more}`)}${
      content.found === 0
        ? html`<p>${offset > 0 ? 'No more tests.' : content.none}</p>`
        : html`${content.table}${pager(
            { offset, size: PAGE, more: content.found > PAGE },
            (at) => `${LISTS_PATH}${search({ ...keepFilters(query), offset: at })}`,
            ['Previous', 'Next'],
          )}
          <p>${
            list === 'flaky' &&
            html`For builds: <a href="/api/flaky-tests?format=csv">CSV</a>,
              <a href="/api/flaky-tests?format=junit-names">names for Surefire</a> or
              <a href="/api/flaky-tests?format=text">plain names</a>, with a token. `
          }<a
            href="${LISTS_PATH}${search({ ...keepFilters(query), offset, csv: list })}">This page as CSV</a>.</p>`
    }`;
  return {
    title: `${NAMES[list]}${repo !== '' ? ` of ${repo}` : ''}`,
    main,
    tables: { [list]: content.cells },
  };
}

async function readList(query: InsightsQuery, deps: ConsoleDeps, acts: boolean): Promise<List> {
  if (query.list === 'cost') return await listCostly(query, deps);
  return query.list === 'failing' ? await listFailing(query, deps) : await listFlaky(query, deps, acts);
}

const NAMES = {
  flaky: 'Flaky tests',
  failing: 'Failing tests',
  cost: 'Costliest tests',
  quarantine: 'Tests in quarantine',
} as const;

function keepFilters({ repo, list, days, minutes }: InsightsQuery) {
  return { repo, list: list === 'flaky' ? undefined : list, ...(list === 'cost' && { days, minutes }) };
}

async function listFlaky(
  { repo, list, offset }: InsightsQuery,
  { stores, clock }: ConsoleDeps,
  acts: boolean,
): Promise<List> {
  const quarantined = list === 'quarantine';
  const within = repo === '' ? {} : { repository: repo };
  const week = { ...toPeriod({ repo, day: undefined }, WEEK_DAYS, clock.now()), minutes: 0 };
  const isFirst = !quarantined && offset === 0;
  const [found, costs, failing] = await Promise.all([
    stores.flakiness.list({ ...within, quarantined }, { limit: PAGE + 1, offset }),
    stores.flakiness.costs(week, { limit: MAX_COSTS, offset: 0 }),
    isFirst ? stores.flakiness.listFailing(within, { limit: FIRST_FAILING + 1, offset: 0 }) : [],
  ]);
  const tests = found.slice(0, PAGE);
  const causes = await stores.causes.ofTests({ tests: [...tests, ...failing] });
  const minutes = new Map(costs.map((cost) => [testAddress(cost), cost.machineMinutes]));
  const rows = tests.map((test, at) =>
    row(test, minutes.get(testAddress(test)) ?? 0, causes[at] ?? null, acts),
  );
  return {
    title: quarantined ? NAMES.quarantine : sayCost(tests, minutes, found.length > PAGE || offset > 0),
    introduction: quarantined
      ? 'Nobody is notified of a build in which only these tests fail. A quarantine ends on its own; ' +
        'the failures stay visible.'
      : 'A flake is a failed run whose commit later passed, or an isolated failure on a default branch ' +
        'that kept changing. Each test is judged by its latest 100 runs. No failure is hidden because of it.',
    before: failing.length > 0 && renderFailing(failing, causes.slice(tests.length), repo),
    found: found.length,
    table: html`${dataTable(
      quarantined ? 'Tests in quarantine, ending soonest first' : 'Flaky tests, most flakes first',
      [
        'Test',
        'Last 30 runs',
        'Flakes',
        'What is known',
        'Owner',
        ...createNumberColumns('Cost this week'),
        ...(acts ? [html`<span class="seen-not">Act</span>`] : []),
      ],
      rows,
      { className: 'fold' },
    )}<ul class="key">${(['passed', 'flake', 'failed'] as const).map(
      (mark) => html`<li><i class="${RUN_MARKS[mark]}"></i>${MARK_WORDS[mark]}</li>`,
    )}</ul>`,
    none: quarantined
      ? `No test${repo !== '' ? ` of ${repo}` : ''} is in quarantine.`
      : `No test${repo !== '' ? ` of ${repo}` : ''} is known to be flaky. ` +
        'Flakiness is detected from test results of failed and passed builds: ' +
        'upload test reports of both.',
    cells: { head: FLAKY_HEAD, rows: tests.map(listFlakyCells) },
  };
}

const MARK_WORDS = {
  passed: 'passed',
  flake: 'failed, then passed on the same commit',
  failed: 'failed',
} as const;

/** Describes the cost of the flaky tests in one sentence: "2 flaky tests cost 48 min of builds this week". */
function sayCost(
  tests: readonly TestFlakiness[],
  minutes: ReadonlyMap<string, number>,
  isPart: boolean,
): string {
  const sum = tests.reduce((total, test) => total + (minutes.get(testAddress(test)) ?? 0), 0);
  if (tests.length === 0 || isPart) return NAMES.flaky;
  const spent = sum < 1 ? 'no time' : formatSpan(sum * MINUTE_MS);
  return `${formatCount(tests.length, 'flaky test')} cost ${spent} of builds this week`;
}

async function listCostly(query: InsightsQuery, { stores, clock }: ConsoleDeps): Promise<List> {
  const { repo, minutes, offset } = query;
  const days = query.days === 30 ? 30 : 7;
  const period = toPeriod({ ...query, day: undefined }, days, clock.now());
  const found = await stores.flakiness.costs({ ...period, minutes }, { limit: PAGE + 1, offset });
  const tests = found.slice(0, PAGE);
  const head = ['Test', 'Lost', 'Machines', 'People', 'Failures'];
  return {
    title: NAMES.cost,
    introduction:
      `The run time of each failed build, and ${minutes} minutes of a person's time, are shared evenly ` +
      'among the tests that failed in it.',
    more: html`${daysField(days, PERIODS)}<label>minutes of a person's time per failed build
      <input name="minutes" type="number" min="0" max="480" value="${minutes}"></label>`,
    found: found.length,
    table: dataTable(
      'Tests, costliest first',
      head,
      tests.map((test) => costRow(test, minutes)),
    ),
    none: `No test${repo !== '' ? ` of ${repo}` : ''} failed in the last ${days} days.`,
    cells: { head: COST_HEAD, rows: tests.map((test) => listCostCells(test, minutes)) },
  };
}

function costRow(test: TestCost, minutes: number): Html {
  const people = test.builds * minutes;
  const untimed =
    test.untimed > 0 &&
    html`<br><span class="quiet">${formatCount(test.untimed, 'build')} of unknown run time</span>`;
  return html`<tr>${testCell(test)}<td><strong>${formatNumber(Math.round(test.machineMinutes + people))}
    min</strong></td>
    <td>${formatNumber(Math.round(test.machineMinutes))} min${untimed}</td>
    <td>${formatNumber(Math.round(people))} min</td><td>${test.failures}</td></tr>`;
}

function row(test: TestFlakiness, minutes: number, cause: Cause | null, acts: boolean): Html {
  const { low, high } = computeProportion(test.flakes, test.runs);
  const { repository, suite, name, quarantine } = test;
  const fields = { repository, suite: suite ?? '', name, days: quarantine === null ? WEEK_DAYS : 0 };
  const act = html`<td><span class="above">${postForm(
    TEST_PATH,
    fields,
    html`<button>${quarantine === null ? 'Quarantine' : 'End'}<span class="seen-not"> ${name}</span></button>`,
  )}</span></td>`;
  return html`<tr>${testCell(test)}<td>${runStrip(name, test.recent)}</td>
    <td class="num"><b>${formatOneIn(test.flakes, test.runs)}</b><br><span class="meta">${test.flakes} of
    ${test.runs}, ${formatPercent(low)} to ${formatPercent(high)}</span></td>
    <td>${causeLink(cause)}${rerunWords(test)}</td><td>${ownerCell(cause)}</td><td class="number">${
      minutes < 1 ? html`<span class="quiet">–</span>` : formatSpan(minutes * MINUTE_MS)
    }</td>${acts && act}</tr>`;
}

/** Describes how often a rerun of the same commit passed after a failed run. */
function rerunWords({ rerun, recovered }: TestFlakiness): Shown {
  if (rerun === 0) return null;
  return html`<br><span class="meta">passed on rerun of ${recovered} of
    ${formatCount(rerun, 'commit')}</span>`;
}

const FLAKY_HEAD = [
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
  'quarantined_until',
];

function listFlakyCells(test: TestFlakiness) {
  const { share, low, high } = computeProportion(test.flakes, test.runs);
  const rate = [share, low, high].map((value) => Number(value.toFixed(4)));
  const known = [test.name, test.suite, test.repository, test.runs, test.failed, test.flakes];
  return [
    ...known,
    ...rate,
    test.rerun,
    test.recovered,
    estimateFlakeProbability(test),
    test.since,
    test.quarantine?.until ?? null,
  ];
}

const COST_HEAD = [
  'test',
  'suite',
  'repository',
  'lost_minutes',
  'machine_minutes',
  'people_minutes',
  'failures',
  'untimed_failures',
];

function listCostCells(test: TestCost, minutes: number) {
  const [machines, people] = [test.machineMinutes, test.builds * minutes];
  const rounded = [machines + people, machines, people].map((costUsd) => Number(costUsd.toFixed(1)));
  return [test.name, test.suite, test.repository, ...rounded, test.failures, test.untimed];
}
