import { z } from 'zod';
import { shortenCommit } from '../../domain/build.ts';
import type { Cause } from '../../domain/cause.ts';
import { readInput, TriageError } from '../../domain/errors.ts';
import {
  type Break,
  estimateFlakeProbability,
  findLastBreak,
  measureFlakiness,
  type TestFlakiness,
  type TestRunFacts,
  WINDOW,
} from '../../domain/flakiness.ts';
import { computeProportion } from '../../lib/statistics.ts';
import { formatCount } from '../../lib/text.ts';
import { formatDuration } from '../../notifications/answer-view.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import { QuarantineRequest, quarantineTest } from '../../service/answers/flaky.ts';
import { requireReviewer } from '../../service/review/queue.ts';
import type { TestCost } from '../../stores/flakiness.ts';
import { buildAddress, formatCauseAddress, search } from '../addresses.ts';
import {
  type ChartTable,
  createLinesChart,
  figure,
  formatOneIn,
  formatPercent,
  RUN_MARKS,
  runStrip,
} from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import {
  crumbs,
  formatAge,
  formatSpan,
  pager,
  postForm,
  renderHiddenFields,
  renderTime,
  renderUndo,
} from '../controls.ts';
import { createNumberColumns, dataTable, type Html, html, type Shown } from '../html.ts';
import { type ConsoleApp, loadReader, mayReview, route, sendPage } from '../page.ts';
import {
  daysField,
  filterForm,
  type InsightsQuery,
  type InsightsView,
  sendTable,
  TESTS_PATH,
  toPeriod,
} from './insights-frame.ts';

const PAGE = 50;
const LISTS_PATH = TESTS_PATH;
/** Failed runs are kept for 31 days. */
const PERIODS = [7, 30] as const;
const WEEK_DAYS = 7;
const MINUTE_MS = 60_000;
/** The maximum number of tests whose cost is read for the list of flaky ones. */
const MOST_COSTS = 500;

/** One of the lists of the page: its content and how it is presented. */
interface List {
  readonly title: string;
  readonly introduction: string;
  readonly more?: Html;
  readonly found: number;
  readonly table: Html;
  readonly none: string;
  readonly cells: ChartTable;
}

/**
 * Renders `/tests`: tests that failed and passed without a change, tests by the cost of their
 * failures, and tests in quarantine. `acts`: the reader may change quarantines.
 */
export async function renderTestsView(
  query: InsightsQuery,
  deps: ConsoleDeps,
  acts = false,
): Promise<InsightsView> {
  const { repo, list, offset } = query;
  const content = list === 'cost' ? await listCostly(query, deps) : await listFlaky(query, deps, acts);
  const main = html`<h1 tabindex="-1">${content.title}</h1><p class="quiet">${content.introduction}</p>
    ${filterForm(TESTS_PATH, query, html`${renderHiddenFields({ list })}${content.more}`)}${
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

const NAMES = { flaky: 'Flaky tests', cost: 'Costliest tests', quarantine: 'Tests in quarantine' } as const;

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
  const [found, costs] = await Promise.all([
    stores.flakiness.list({ ...within, quarantined }, { limit: PAGE + 1, offset }),
    stores.flakiness.costs(week, { limit: MOST_COSTS, offset: 0 }),
  ]);
  const tests = found.slice(0, PAGE);
  const minutes = new Map(costs.map((cost) => [testAddress(cost), cost.machineMinutes]));
  const rows = tests.map((test) => row(test, minutes.get(testAddress(test)) ?? 0, acts));
  return {
    title: quarantined ? NAMES.quarantine : sayCost(tests, minutes, found.length > PAGE || offset > 0),
    introduction: quarantined
      ? 'Nobody is notified of a build in which only these tests fail. A quarantine ends on its own; ' +
        'the failures stay visible.'
      : 'A flake is a failed run whose commit later passed, or an isolated failure on a default branch ' +
        'that kept changing. Each test is judged by its latest 100 runs. Flaky is not a category: ' +
        'no failure is hidden because of it.',
    found: found.length,
    table: dataTable(
      quarantined ? 'Tests in quarantine, ending soonest first' : 'Flaky tests, most flakes first',
      [
        'Test',
        'Last 30 runs',
        'Flakes',
        'Passed on rerun',
        ...createNumberColumns('Cost this week'),
        ...(acts ? ['Act'] : []),
      ],
      rows,
    ),
    none: quarantined
      ? `No test${repo !== '' ? ` of ${repo}` : ''} is in quarantine.`
      : `No test${repo !== '' ? ` of ${repo}` : ''} is known to be flaky. ` +
        'Flakiness is detected from test results of failed and passed builds: ' +
        'upload test reports of both.',
    cells: { head: FLAKY_HEAD, rows: tests.map(listFlakyCells) },
  };
}

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

function testCell(test: Pick<TestFlakiness, 'name' | 'suite' | 'repository' | 'file' | 'quarantine'>): Html {
  const until: Shown =
    test.quarantine !== null &&
    html`<br><span class="status">in quarantine until ${test.quarantine.until.slice(0, 10)}</span>`;
  return html`<th scope="row"><a class="whole" href="${testAddress(test)}">${test.name}</a><br><span
    class="quiet">${test.suite !== null && `${test.suite} · `}${test.repository}${
      test.file !== null && ` · ${test.file}`
    }</span>${until}</th>`;
}

function row(test: TestFlakiness, minutes: number, acts: boolean): Html {
  const { low, high } = computeProportion(test.flakes, test.runs);
  const last = test.recent.findLast(({ mark }) => mark === 'flake');
  const { repository, suite, name, quarantine } = test;
  const fields = { repository, suite: suite ?? '', name, days: quarantine === null ? WEEK_DAYS : 0 };
  const act = html`<td class="above">${postForm(
    TEST_PATH,
    fields,
    html`<button>${quarantine === null ? 'Quarantine' : 'End'}<span class="seen-not"> ${name}</span></button>`,
  )}</td>`;
  return html`<tr>${testCell(test)}<td>${runStrip(name, test.recent)}${
    last !== undefined && html`<br><a class="above" href="${buildAddress(last.buildId)}">last flake</a>`
  }</td>
    <td><strong>${formatOneIn(test.flakes, test.runs)}</strong>, ${test.flakes} of ${test.runs}<br><span
    class="quiet">${formatPercent(low)} to ${formatPercent(high)}</span></td>
    <td>${rerunCell(test)}</td><td class="number">${
      minutes < 1 ? html`<span class="quiet">–</span>` : formatSpan(minutes * MINUTE_MS)
    }</td>${acts && act}</tr>`;
}

function rerunCell(test: TestFlakiness): Html {
  const probability = estimateFlakeProbability(test);
  const flips =
    test.flips > 0 &&
    html`<br><span class="quiet">changed ${test.flips} times in ${test.defaultRuns}
      runs of the default branch</span>`;
  if (probability === null) return html`<span class="quiet">never rerun on the same commit</span>${flips}`;
  return html`${test.recovered} of ${test.rerun} ${test.rerun === 1 ? 'commit' : 'commits'}
    <span class="quiet">(probability ${formatPercent(probability)})</span>${flips}`;
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

const TEST_PATH = '/insights/test';
/** The maximum number of rows of a comparison, and of listed runs and causes. */
const MOST_ROWS = 20;
const MOST_CAUSES = 3;

const text = z.string().max(2000);
const Query = z.object({
  repo: z.string().min(1).max(300),
  suite: text.default(''),
  test: text.min(1),
  csv: z.string().max(50).optional(),
  /** The act that was just done, and the days of quarantine that were left before it. */
  done: z.enum(['quarantined', 'ended']).optional().catch(undefined),
  was: z.coerce.number().int().min(0).max(90).optional().catch(undefined),
});

type Named = Pick<TestFlakiness, 'repository' | 'suite' | 'name'>;

/** Returns the address of the page of a test. */
export function testAddress({ repository, suite, name }: Named): string {
  return `${TEST_PATH}${search({ repo: repository, suite: suite ?? '', test: name })}`;
}

/** Registers `/insights/test`, everything that is known of one test. `POST` changes its quarantine. */
export function registerTestPage(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(TEST_PATH, route('read', { querystring: Query }), async (request, reply) => {
    const { repo: repository, suite, test: name, csv, done, was } = request.query;
    const asked = { repository, suite: suite === '' ? null : suite, name };
    const [test, runs] = await Promise.all([
      deps.stores.flakiness.ofTest(asked),
      deps.stores.flakiness.runs(asked),
    ]);
    if (test === null)
      throw new TriageError('not-found', `No test ${name} is known to have failed in ${repository}.`);
    if (csv !== undefined)
      return sendTable(reply, { runs: { head: RUN_HEAD, rows: runs.map(runCells) } }, csv);
    const [reader, causes] = await Promise.all([loadReader(request, deps), findCauses(deps, test)]);
    const acts = mayReview(reader.principal);
    const top = crumbs([
      html`<a href="${TESTS_PATH}">Tests</a>`,
      html`<a href="${TESTS_PATH}${search({ repo: repository })}">${repository}</a>`,
    ]);
    const main = html`<h1 tabindex="-1">${name}</h1>
      <p class="quiet">${suite !== '' && `${suite} · `}${repository}${
        test.file !== null && ` · ${test.file}`
      }</p>
      ${facts(test)}${quarantinePart(test, acts)}${causesPart(causes, test, deps.clock.now())}${breakPart(findLastBreak(runs))}${runsPart(test, runs)}`;
    const page = { title: `${name} · Test`, part: 'tests', top, main } as const;
    const toast =
      done === undefined ? {} : { said: SAID[done], undo: acts ? undoQuarantine(test, was) : undefined };
    return sendPage(request, reply, { ...page, ...toast }, reader);
  });
  app.post(TEST_PATH, route('review', { body: z.looseObject({}) }), async (request, reply) => {
    const asked = readInput('This quarantine', QuarantineRequest, {
      ...request.body,
      suite: request.body.suite === '' ? null : request.body.suite,
    });
    const before = await deps.stores.flakiness.ofTest(asked);
    const test = await quarantineTest(deps, asked, requireReviewer(request));
    const done = asked.days === 0 ? 'ended' : 'quarantined';
    const was = countDaysLeft(before?.quarantine ?? null, deps.clock.now());
    return reply.redirect(`${testAddress(test)}&done=${done}&was=${was}#quarantine`, 303);
  });
}

const SAID = {
  quarantined: 'In quarantine. Nobody is notified of builds in which only such tests fail.',
  ended: 'The quarantine has ended.',
} as const;
const DAY_MS = 86_400_000;

/** Counts the days that are left of a quarantine, the last one whole; 0 if there is none. */
function countDaysLeft(quarantine: TestFlakiness['quarantine'], now: number): number {
  return quarantine === null ? 0 : Math.min(90, Math.ceil((Date.parse(quarantine.until) - now) / DAY_MS));
}

/** Renders the form that gives a test the quarantine that it had before, or none. */
function undoQuarantine({ repository, suite, name, quarantineEvents }: TestFlakiness, was = 0): Html {
  const reason = was === 0 ? undefined : (quarantineEvents.at(-2)?.reason ?? undefined);
  return renderUndo(TEST_PATH, { repository, suite: suite ?? '', name, days: was, reason });
}

function facts(test: TestFlakiness): Html {
  const { share, low, high } = computeProportion(test.flakes, test.runs);
  const failed = computeProportion(test.failed, test.runs);
  return html`<dl class="kv"><dt>Flakes</dt><dd><strong>${formatPercent(share)}</strong>, ${test.flakes}
    of the latest ${test.runs} runs <span class="quiet">(95 % interval ${formatPercent(low)} to
    ${formatPercent(high)})</span></dd>
    <dt>Failures</dt><dd>${formatPercent(failed.share)}, ${test.failed} of ${test.runs}</dd>
    <dt>Passed on rerun</dt><dd>${
      test.rerun === 0
        ? 'never rerun on the same commit'
        : `${test.recovered} of ${formatCount(test.rerun, 'commit')}`
    }</dd>
    <dt>Last failure</dt><dd>${
      test.lastFailedAt === null ? 'none in these runs' : renderTime(test.lastFailedAt)
    }</dd></dl>`;
}

function quarantinePart(test: TestFlakiness, acts: boolean): Html {
  const { repository, suite, name, quarantine, quarantineEvents } = test;
  const fields = { repository, suite: suite ?? '', name };
  const forms = html`<div class="acts">${
    quarantine === null
      ? postForm(TEST_PATH, { ...fields, days: 7 }, html`<button>Quarantine for a week</button>`)
      : postForm(TEST_PATH, { ...fields, days: 0 }, html`<button>End the quarantine</button>`)
  }
    ${postForm(
      TEST_PATH,
      fields,
      html`<label>Quarantine for <input name="days" type="number" min="1" max="90" value="7" required>
        days</label> <label>Reason <input name="reason" maxlength="500"></label> <button>Quarantine</button>`,
    )}</div>`;
  const events = quarantineEvents
    .toReversed()
    .map(
      ({ at, by, until, reason }) =>
        html`<li>${renderTime(at)} ${by}: ${
          until === null ? 'ended the quarantine' : `quarantined until ${until.slice(0, 10)}`
        }${reason !== null && `, ${reason}`}</li>`,
    );
  return html`<h2 id="quarantine">Quarantine</h2>
    <p>${
      quarantine === null
        ? 'Not in quarantine. Nobody is notified of a build in which only quarantined tests fail; the failures stay visible. To silence one cause instead of a whole test, mute the cause on its page.'
        : html`<strong>In quarantine until ${renderTime(quarantine.until)}</strong>
          by ${quarantine.by}${quarantine.reason !== null && `: ${quarantine.reason}`}. Nobody is notified of
          a build in which only quarantined tests fail; the failures stay visible.`
    }</p>
    ${acts && forms}${
      events.length > 0 &&
      html`<details><summary>History (${events.length})</summary><ol class="past">${events}</ol></details>`
    }`;
}

async function findCauses({ stores }: ConsoleDeps, { repository, name }: TestFlakiness): Promise<Cause[]> {
  const rows = await stores.failures.search({ repository, test: name }, { limit: MOST_ROWS, offset: 0 });
  const fingerprints = [...new Set(rows.map(({ failure }) => failure.fingerprint.value))].slice(
    0,
    MOST_CAUSES,
  );
  const known = await Promise.all(
    fingerprints.map((fingerprint) => stores.causes.ofFingerprint(fingerprint)),
  );
  return known.flat().filter((cause) => cause.repository === repository);
}

function causesPart(causes: readonly Cause[], { repository, name }: TestFlakiness, now: number): Html {
  const all = html`<p><a href="/search${search({
    q: `repo:${repository} test:"${name.replaceAll('"', '')}"`,
  })}">All failures of this test</a></p>`;
  if (causes.length === 0) return all;
  const rows = causes.map(
    ({ fingerprint, title, state, owner, assignee, lastAt }) =>
      html`<tr><th scope="row"><a href="${formatCauseAddress(fingerprint)}">${
        title === '' ? fingerprint : title
      }</a></th><td>${state}</td><td>${
        owner === null ? html`<span class="quiet">no known owner</span>` : owner.names.join(', ')
      }</td><td>${assignee ?? html`<span class="quiet">unassigned</span>`}</td>
        <td class="quiet">${formatAge(lastAt, now)}</td></tr>`,
  );
  return html`<h2>Latest causes</h2>${dataTable(
    'Latest causes of its failures',
    ['Cause', 'State', 'Owner', 'Assignee', 'Last seen'],
    rows,
  )}${all}`;
}

function breakPart(found: Break<TestRunFacts> | null): Html {
  if (found === null) return html``;
  const { good, bad, fixed } = found;
  const run = (words: string, { at, buildId, pipeline, number, commit }: TestRunFacts) =>
    html`<li>${renderTime(at)} ${words} <a href="${buildAddress(buildId)}">${pipeline}
      ${number}</a>${commit !== null && html`, commit <code>${shortenCommit(commit)}</code>`}</li>`;
  return html`<h2>Latest break of the default branch</h2>
    <ol class="past">${good !== null && run('last passed in', good)}${run('first failed in', bad)}${
      fixed !== null && run('passed again in', fixed)
    }</ol>
    ${
      good?.commit &&
      bad.commit &&
      html`<p class="quiet">The first bad commit is <code>${shortenCommit(bad.commit)}</code> or one after
        <code>${shortenCommit(good.commit)}</code> that no build ran; <code>faultline bisect</code>
        finds out which.</p>`
    }`;
}

function runsPart(test: TestFlakiness, runs: readonly TestRunFacts[]): Html {
  const oldestFirst = runs.toReversed();
  const { recent } = measureFlakiness(runs, WINDOW);
  const marks = new Map(recent.map(({ buildId, mark }) => [buildId, mark]));
  const durations = createLinesChart({
    id: 'duration',
    name: 'Duration',
    finding: describeDurations(runs),
    steps: oldestFirst.map(({ at }) => at.slice(0, 16).replace('T', ' ')),
    per: 'run',
    series: [{ name: 'duration', look: 'median', values: oldestFirst.map(({ durationMs }) => durationMs) }],
    say: formatDuration,
    csv: `${testAddress(test)}&csv=runs`,
  });
  const failed = runs.filter(({ outcome }) => outcome === 'failed').slice(0, MOST_ROWS);
  const hasMachines = failed.some(({ runner }) => runner !== null);
  const rows = failed.map(
    (run) =>
      html`<tr><td>${renderTime(run.at)}</td><td><a href="${buildAddress(run.buildId)}">${run.pipeline}
        ${run.number}</a></td><td>${marks.get(run.buildId) === 'flake' ? 'flake' : 'failure'}</td>
        <td>${run.branch}</td>${hasMachines && html`<td>${run.runner}</td>`}</tr>`,
  );
  return html`<h2>Latest ${runs.length} runs</h2><p class="scroll">${runStrip(test.name, recent)}</p>
    <ul class="key">${(['passed', 'flake', 'failed'] as const).map(
      (mark) => html`<li><i class="${RUN_MARKS[mark]}"></i>${mark}</li>`,
    )}</ul>${durations.drawing !== null && figure(durations, 'h3')}
    ${comparison('branch', runs, marks, ({ branch }) => branch)}${comparison(
      'pipeline',
      runs,
      marks,
      ({ pipeline }) => pipeline,
    )}${comparison('machine', runs, marks, ({ runner }) => runner)}
    ${
      rows.length > 0 &&
      html`<h3>Latest failures</h3>${dataTable(
        'Latest failed runs',
        ['Time', 'Build', 'Kind', 'Branch', ...(hasMachines ? ['Machine'] : [])],
        rows,
      )}`
    }`;
}

/** Renders how often the test failed in each place, or nothing if there is only one place. */
function comparison(
  what: string,
  runs: readonly TestRunFacts[],
  marks: ReadonlyMap<string, string>,
  of: (run: TestRunFacts) => string | null,
): Html {
  const groups = [...Map.groupBy(runs, of)].flatMap(([name, members]) =>
    name === null ? [] : [{ name, own: members }],
  );
  if (groups.length < 2) return html``;
  const rows = groups
    .toSorted((left, right) => right.own.length - left.own.length)
    .slice(0, MOST_ROWS)
    .map(({ name, own }) => {
      const failures = own.filter(({ outcome }) => outcome === 'failed');
      const flakes = failures.filter(({ buildId }) => marks.get(buildId) === 'flake');
      const { share, low, high } = computeProportion(failures.length, own.length);
      return html`<tr><th scope="row">${name}</th><td>${own.length}</td><td>${failures.length}</td>
        <td>${flakes.length}</td><td>${formatPercent(share)} <span class="quiet">(${formatPercent(low)} to
        ${formatPercent(high)})</span></td></tr>`;
    });
  return html`<h3>By ${what}</h3>${dataTable(
    `Runs by ${what}`,
    [what, 'Runs', 'Failures', 'Flakes', 'Failure rate'],
    rows,
  )}`;
}

function describeDurations(runs: readonly TestRunFacts[]): string {
  const known = runs.flatMap(({ durationMs }) => durationMs ?? []).toSorted((left, right) => left - right);
  const median = known[Math.floor(known.length / 2)];
  return median === undefined
    ? 'No report states how long it ran.'
    : `It runs ${formatDuration(median)} at the median, ${formatDuration(known.at(-1) ?? 0)} at most.`;
}

const RUN_HEAD = [
  'at',
  'outcome',
  'build',
  'pipeline',
  'number',
  'branch',
  'commit',
  'runner',
  'duration_ms',
];

function runCells({
  at,
  outcome,
  buildId,
  pipeline,
  number,
  branch,
  commit,
  runner,
  durationMs,
}: TestRunFacts) {
  return [at, outcome, buildId, pipeline, number, branch, commit, runner, durationMs];
}
