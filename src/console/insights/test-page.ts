import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Cause } from '../../domain/cause.ts';
import { TriageError } from '../../domain/errors.ts';
import { type Break, lastBreak, measureFlakiness, type TestFlakiness, type TestRunFacts, WINDOW } from '../../domain/flakiness.ts';
import { proportion } from '../../lib/statistics.ts';
import { counted } from '../../lib/text.ts';
import { QuarantineRequest, quarantineTest } from '../../service/answers/flaky.ts';
import { reviewerOf } from '../../service/review/queue.ts';
import { buildAddress, causeAddress } from '../addresses.ts';
import { figure, percentOf } from '../charts/chart.ts';
import { linesChart, runStrip } from '../charts/counts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { ageOf, postForm, timeOf } from '../controls.ts';
import { dataTable, type Html, html } from '../html.ts';
import { mayReview, readerOf, sendPage } from '../page.ts';
import { search, sendTable } from './insights-frame.ts';

const PATH = '/insights/test';
/** Rows of a comparison, and runs and causes that are listed. */
const MOST_ROWS = 20;
const MOST_CAUSES = 3;

const text = z.string().max(2000);
const Query = z.object({
  repo: z.string().min(1).max(300),
  suite: text.default(''),
  test: text.min(1),
  csv: z.string().max(50).optional(),
});

type Named = Pick<TestFlakiness, 'repository' | 'suite' | 'name'>;

/** Where a test has its page. */
export function testAddress({ repository, suite, name }: Named): string {
  return `${PATH}${search({ repo: repository, suite: suite ?? '', test: name })}`;
}

/** `/insights/test`: all that is known of one test. `POST`: its quarantine. */
export function registerTestPage(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get(PATH, { config: { access: { role: 'read' } }, schema: { querystring: Query } }, async (request, reply) => {
    const { repo: repository, suite, test: name, csv } = request.query;
    const asked = { repository, suite: suite === '' ? null : suite, name };
    const [test, runs] = await Promise.all([deps.stores.flakiness.ofTest(asked), deps.stores.flakiness.runs(asked)]);
    if (test === null) throw new TriageError('not-found', `No test ${name} is known to have failed in ${repository}.`);
    if (csv !== undefined) return sendTable(reply, { runs: { head: RUN_HEAD, rows: runs.map(cells) } }, csv);
    const [reader, causes] = await Promise.all([readerOf(request, deps), causesOf(deps, test)]);
    const acts = reader.principal !== null && mayReview(reader.principal);
    const main = html`<p><a href="/insights/flaky${search({ repo: repository })}">Flaky tests</a></p><h1 tabindex="-1" class="mono">${name}</h1>
<p class="quiet">${suite !== '' && `${suite} · `}${repository}${test.file !== null && ` · ${test.file}`}</p>
${facts(test)}${quarantinePart(test, acts)}${causesPart(causes, test, deps.clock.now())}${breakPart(lastBreak(runs))}${runsPart(test, runs)}`;
    return sendPage(request, reply, { title: `${name} · Test`, place: 'page', part: 'insights', main }, reader);
  });
  typed.post(PATH, { config: { access: { role: 'review' } }, schema: { body: z.looseObject({}) } }, async (request, reply) => {
    const asked = QuarantineRequest.safeParse({ ...request.body, suite: request.body.suite === '' ? null : request.body.suite });
    if (!asked.success) throw new TriageError('invalid-input', `This quarantine is invalid: ${z.prettifyError(asked.error)}`);
    const test = await quarantineTest(deps, asked.data, reviewerOf(request));
    return reply.redirect(`${testAddress(test)}#quarantine`, 303);
  });
}

function facts(test: TestFlakiness): Html {
  const { share, low, high } = proportion(test.flakes, test.runs);
  const failed = proportion(test.failed, test.runs);
  return html`<dl class="facts"><dt>Flakes</dt><dd><strong>${percentOf(share)}</strong>, ${test.flakes} of the latest ${test.runs} runs <span class="quiet">(95 % interval ${percentOf(low)} to ${percentOf(high)})</span></dd>
<dt>Failures</dt><dd>${percentOf(failed.share)}, ${test.failed} of ${test.runs}</dd>
<dt>Passed on rerun</dt><dd>${test.rerun === 0 ? 'never rerun on the same commit' : `${test.recovered} of ${counted(test.rerun, 'commit')}`}</dd>
<dt>Last failure</dt><dd>${test.lastFailedAt === null ? 'none in these runs' : timeOf(test.lastFailedAt)}</dd></dl>`;
}

function quarantinePart(test: TestFlakiness, acts: boolean): Html {
  const { repository, suite, name, quarantine, quarantineEvents } = test;
  const fields = { repository, suite: suite ?? '', name };
  const forms = html`<div class="acts">${quarantine === null ? postForm(PATH, { ...fields, days: 7 }, html`<button>Quarantine for a week</button>`) : postForm(PATH, { ...fields, days: 0 }, html`<button>End the quarantine</button>`)}
${postForm(PATH, fields, html`<label>Quarantine for days <input name="days" type="number" min="1" max="90" required></label> <label>Reason <input name="reason" maxlength="500"></label> <button>Quarantine</button>`)}</div>`;
  const events = quarantineEvents
    .toReversed()
    .map(
      ({ at, by, until, reason }) =>
        html`<li>${timeOf(at)} ${by}: ${until === null ? 'ended the quarantine' : `quarantined until ${until.slice(0, 10)}`}${reason !== null && `, ${reason}`}</li>`,
    );
  return html`<h2 id="quarantine">Quarantine</h2>
<p>${quarantine === null ? 'Not in quarantine. Nobody is notified of a build in which only quarantined tests fail; the failures stay visible.' : html`<strong>In quarantine until ${timeOf(quarantine.until)}</strong> by ${quarantine.by}${quarantine.reason !== null && `: ${quarantine.reason}`}. Nobody is notified of a build in which only quarantined tests fail; the failures stay visible.`}</p>
${acts && forms}${events.length > 0 && html`<details><summary>History (${events.length})</summary><ol class="past">${events}</ol></details>`}`;
}

async function causesOf({ stores }: ConsoleDeps, { repository, name }: TestFlakiness): Promise<Cause[]> {
  const rows = await stores.failures.search({ repository, test: name }, { limit: MOST_ROWS, offset: 0 });
  const fingerprints = [...new Set(rows.map(({ failure }) => failure.fingerprint.value))].slice(0, MOST_CAUSES);
  const known = await Promise.all(fingerprints.map((fingerprint) => stores.causes.ofFingerprint(fingerprint)));
  return known.flat().filter((cause) => cause.repository === repository);
}

function causesPart(causes: readonly Cause[], { repository, name }: TestFlakiness, now: number): Html {
  const all = html`<p><a href="/search${search({ q: `repo:${repository} test:"${name.replaceAll('"', '')}"` })}">All failures of this test</a></p>`;
  if (causes.length === 0) return all;
  const rows = causes.map(
    ({ fingerprint, title, state, owner, assignee, lastAt }) =>
      html`<tr><td><a href="${causeAddress(fingerprint)}">${title === '' ? fingerprint : title}</a></td><td>${state}</td><td>${owner === null ? html`<span class="quiet">unknown</span>` : owner.names.join(', ')}</td><td>${assignee ?? html`<span class="quiet">unassigned</span>`}</td><td class="quiet">${ageOf(lastAt, now)}</td></tr>`,
  );
  return html`<h2>Latest causes</h2>${dataTable('Latest causes of its failures', ['Cause', 'State', 'Owner', 'Assignee', 'Last seen'], rows)}${all}`;
}

function breakPart(found: Break<TestRunFacts> | null): Html {
  if (found === null) return html``;
  const { good, bad, fixed } = found;
  const run = (words: string, one: TestRunFacts) =>
    html`<li>${timeOf(one.at)} ${words} <a href="${buildAddress(one.buildId)}">${one.pipeline} ${one.number}</a>${one.commit !== null && html`, commit <code>${one.commit.slice(0, 12)}</code>`}</li>`;
  return html`<h2>Latest break of the default branch</h2><ol class="past">${good !== null && run('last passed in', good)}${run('first failed in', bad)}${fixed !== null && run('passed again in', fixed)}</ol>
${good?.commit && bad.commit && html`<p class="quiet">The first bad commit is <code>${bad.commit.slice(0, 12)}</code> or one after <code>${good.commit.slice(0, 12)}</code> that no build ran; <code>faultline bisect</code> finds out which.</p>`}`;
}

function runsPart(test: TestFlakiness, runs: readonly TestRunFacts[]): Html {
  const oldestFirst = runs.toReversed();
  const { recent } = measureFlakiness(runs, WINDOW);
  const marks = new Map(recent.map(({ buildId, mark }) => [buildId, mark]));
  const durations = linesChart({
    id: 'duration',
    name: 'Duration',
    finding: durationWords(runs),
    steps: oldestFirst.map(({ at }) => at.slice(0, 16).replace('T', ' ')),
    per: 'run',
    series: [{ name: 'duration', look: 'median', values: oldestFirst.map(({ durationMs }) => durationMs) }],
    say: milliseconds,
    csv: `${testAddress(test)}&csv=runs`,
  });
  const failed = runs.filter(({ outcome }) => outcome === 'failed').slice(0, MOST_ROWS);
  const rows = failed.map(
    (run) =>
      html`<tr><td>${timeOf(run.at)}</td><td><a href="${buildAddress(run.buildId)}">${run.pipeline} ${run.number}</a></td><td>${marks.get(run.buildId) === 'flake' ? 'flake' : 'failure'}</td><td>${run.branch}</td><td>${run.runner}</td></tr>`,
  );
  return html`<h2>Latest ${runs.length} runs</h2><p class="scroll">${runStrip(test.name, recent)}</p>${figure(durations, 'h3')}
${comparison('branch', runs, marks, ({ branch }) => branch)}${comparison('pipeline', runs, marks, ({ pipeline }) => pipeline)}${comparison('machine', runs, marks, ({ runner }) => runner)}
${rows.length > 0 && html`<h3>Latest failures</h3>${dataTable('Latest failed runs', ['Time', 'Build', 'Kind', 'Branch', 'Machine'], rows, { className: 'listed' })}`}`;
}

/** How often it failed in each place; nothing where there is only one. */
function comparison(
  what: string,
  runs: readonly TestRunFacts[],
  marks: ReadonlyMap<string, string>,
  of: (run: TestRunFacts) => string | null,
): Html {
  const groups = [...Map.groupBy(runs, of)].flatMap(([name, own]) => (name === null ? [] : [{ name, own }]));
  if (groups.length < 2) return html``;
  const rows = groups
    .toSorted((one, other) => other.own.length - one.own.length)
    .slice(0, MOST_ROWS)
    .map(({ name, own }) => {
      const failures = own.filter(({ outcome }) => outcome === 'failed');
      const flakes = failures.filter(({ buildId }) => marks.get(buildId) === 'flake');
      const { share, low, high } = proportion(failures.length, own.length);
      return html`<tr><th scope="row">${name}</th><td>${own.length}</td><td>${failures.length}</td><td>${flakes.length}</td><td>${percentOf(share)} <span class="quiet">(${percentOf(low)} to ${percentOf(high)})</span></td></tr>`;
    });
  return html`<h3>By ${what}</h3>${dataTable(`Runs by ${what}`, [what, 'Runs', 'Failures', 'Flakes', 'Failure rate'], rows)}`;
}

function durationWords(runs: readonly TestRunFacts[]): string {
  const known = runs.flatMap(({ durationMs }) => durationMs ?? []).toSorted((one, other) => one - other);
  const median = known[Math.floor(known.length / 2)];
  return median === undefined
    ? 'No report states how long it ran.'
    : `It runs ${milliseconds(median)} at the median, ${milliseconds(known.at(-1) ?? 0)} at most.`;
}

function milliseconds(value: number): string {
  return value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`;
}

const RUN_HEAD = ['at', 'outcome', 'build', 'pipeline', 'number', 'branch', 'commit', 'runner', 'duration_ms'];

function cells({ at, outcome, buildId, pipeline, number, branch, commit, runner, durationMs }: TestRunFacts) {
  return [at, outcome, buildId, pipeline, number, branch, commit, runner, durationMs];
}
