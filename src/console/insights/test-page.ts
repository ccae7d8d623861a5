import { z } from 'zod';
import { shortenCommit } from '../../domain/build.ts';
import type { Cause } from '../../domain/cause.ts';
import { readInput, TriageError } from '../../domain/errors.ts';
import {
  type Break,
  findLastBreak,
  measureFlakiness,
  type TestFlakiness,
  type TestRunFacts,
  WINDOW,
} from '../../domain/flakiness.ts';
import { computeProportion } from '../../lib/statistics.ts';
import { formatCount } from '../../lib/text.ts';
import { formatDuration } from '../../notifications/answer-view.ts';
import { QuarantineRequest, quarantineTest } from '../../service/answers/flaky.ts';
import { requireReviewer } from '../../service/review/queue.ts';
import { buildAddress, formatCauseAddress, search } from '../addresses.ts';
import { causeState } from '../causes/states.ts';
import { createLinesChart, figure, formatPercent, RUN_MARKS, runStrip } from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { crumbs, formatAge, postForm, renderTime, renderUndo } from '../controls.ts';
import { dataTable, type Html, html } from '../html.ts';
import { type ConsoleApp, loadReader, mayReview, route, sendPage } from '../page.ts';
import { sendTable, TESTS_PATH } from './insights-frame.ts';

export const TEST_PATH = '/insights/test';
/** The maximum number of rows of a comparison, and of listed runs and causes. */
const MAX_ROWS = 20;
const MAX_CAUSES = 3;

const text = z.string().max(2000);
const Query = z.object({
  repo: z.string().min(1).max(300),
  suite: text.default(''),
  test: text.min(1),
  csv: z.string().max(50).optional(),
  /** The last action, and the number of days of quarantine that were left before it. */
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

/** Returns the number of days until a quarantine ends, rounded up. Returns 0 if there is none. */
function countDaysLeft(quarantine: TestFlakiness['quarantine'], now: number): number {
  return quarantine === null ? 0 : Math.min(90, Math.ceil((Date.parse(quarantine.until) - now) / DAY_MS));
}

/** Renders the form that restores the test's earlier quarantine, or ends it if there was none. */
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
  const form = (words: string) =>
    postForm(
      TEST_PATH,
      fields,
      html`<div class="filters"><label>Days <input name="days" type="number" min="1" max="90" value="7"
        required></label><label>Reason <input name="reason" maxlength="500"></label>
        <button>${words}</button></div>`,
    );
  const forms =
    quarantine === null
      ? form('Quarantine')
      : html`<div class="acts">${postForm(
          TEST_PATH,
          { ...fields, days: 0 },
          html`<button>End the quarantine</button>`,
        )}</div><details class="flow"><summary>Change its end or its reason</summary>${form(
          'Change',
        )}</details>`;
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
  const rows = await stores.failures.search({ repository, test: name }, { limit: MAX_ROWS, offset: 0 });
  const fingerprints = [...new Set(rows.map(({ failure }) => failure.fingerprint.value))].slice(
    0,
    MAX_CAUSES,
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
    ({ fingerprint, title, state, fixedFrom, owner, assignee, lastAt }) =>
      html`<tr><th scope="row"><a href="${formatCauseAddress(fingerprint)}">${
        title === '' ? fingerprint : title
      }</a></th><td>${causeState({ state, fixedFrom })}</td><td>${
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
  const failed = runs.filter(({ outcome }) => outcome === 'failed').slice(0, MAX_ROWS);
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
    ${comparison('Branch', runs, marks, ({ branch }) => branch)}${comparison(
      'Pipeline',
      runs,
      marks,
      ({ pipeline }) => pipeline,
    )}${comparison('Machine', runs, marks, ({ runner }) => runner)}
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
    .slice(0, MAX_ROWS)
    .map(({ name, own }) => {
      const failures = own.filter(({ outcome }) => outcome === 'failed');
      const flakes = failures.filter(({ buildId }) => marks.get(buildId) === 'flake');
      const { share, low, high } = computeProportion(failures.length, own.length);
      return html`<tr><th scope="row">${name}</th><td>${own.length}</td><td>${failures.length}</td>
        <td>${flakes.length}</td><td>${formatPercent(share)} <span class="quiet">(${formatPercent(low)} to
        ${formatPercent(high)})</span></td></tr>`;
    });
  return html`<h3>By ${what.toLowerCase()}</h3>${dataTable(
    `Runs by ${what.toLowerCase()}`,
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
