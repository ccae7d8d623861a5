import { z } from 'zod';
import type { Analysis } from '../../domain/analysis.ts';
import { nameKind } from '../../domain/category-words.ts';
import type { Cause, CauseEvent } from '../../domain/cause.ts';
import { TriageError } from '../../domain/errors.ts';
import type { TestFlakiness } from '../../domain/flakiness.ts';
import type { CauseBuild, CauseFacts, CausePlace, ComparedBuild } from '../../domain/insights.ts';
import { type Difference, ENOUGH_BUILDS, findDifferences, type Traits } from '../../lib/statistics.ts';
import { formatConfidence, formatCount } from '../../lib/text.ts';
import { buildAddress, formatAnalysisAddress, formatCauseAddress } from '../addresses.ts';
import { writeTexts } from '../answer/texts.ts';
import { formatOneIn, formatPercent, sparkline } from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { crumbs, formatDay, renderTime } from '../controls.ts';
import { createNumberColumns, dataTable, type Html, html, type Shown } from '../html.ts';
import { testAddress } from '../insights/test-page.ts';
import { formatHours } from '../insights/top-causes.ts';
import { type ConsoleApp, loadReader, mayReview, route, sendPage } from '../page.ts';
import { icon } from '../parts/icons.ts';
import { renderCategory } from '../parts/marks.ts';
import { inlineProse } from '../prose.ts';
import { actsPart } from './acts.ts';
import { listPeople } from './causes-page.ts';
import { DoneFields, describeDone, undoForm } from './done.ts';
import { causeStates } from './states.ts';

const MOST_EVENTS = 30;
/** The maximum number of causes that are offered for a merge. */
const MOST_OTHERS = 50;
/** The maximum number of tests of a cause whose flakiness is shown. */
const MOST_TESTS = 5;
const Params = z.object({ fingerprint: z.string().min(1).max(300) });
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const PageQuery = z.object(DoneFields);

/**
 * Registers `/failures/:fingerprint`, the page of a recurring cause: its occurrences, the decisions about it,
 * and common properties of its builds.
 */
export function registerCausePage(app: ConsoleApp, deps: ConsoleDeps): void {
  const { stores, clock } = deps;
  app.get(
    '/failures/:fingerprint',
    route('read', { params: Params, querystring: PageQuery }),
    async (request, reply) => {
      const { fingerprint } = request.params;
      const { query } = request;
      const until = new Date(clock.now()).toISOString();
      const rows = await stores.causes.ofFingerprint(fingerprint);
      const [own] = rows;
      if (own?.mergedInto != null && rows.every(({ mergedInto }) => mergedInto !== null))
        return reply.redirect(formatCauseAddress(own.mergedInto), 303);
      const facts = await stores.insights.cause(fingerprint, until);
      if (facts === null) throw new TriageError('not-found', `There is no cause ${fingerprint}.`);
      const [compared, standing, newest, tests] = await Promise.all([
        stores.insights.compared(fingerprint),
        readStanding(deps, rows),
        findNewest(deps, facts),
        findFlakyTests(deps, fingerprint),
      ]);
      const now = clock.now();
      const reader = await loadReader(request, deps);
      const acts = standing.map(({ cause, events, merged, others, offers }) =>
        actsPart(cause, events, request.principal, {
          acts: mayReview(request.principal),
          several: standing.length > 1,
          now,
          people: listPeople(offers, reader),
          merged,
          others,
        }),
      );
      const repositories = formatCount(facts.cause.repositories, 'repository', 'repositories');
      const top = crumbs([html`<a href="/causes">Causes</a>`, repositories]);
      const main = renderPage({ facts, compared, standing, newest, tests, acts, now });
      const done = describeDone(query);
      const undo = undoForm(query, `${formatCauseAddress(fingerprint)}#standing`);
      const page = { title: facts.cause.title, part: 'causes', top, main } as const;
      return sendPage(request, reply, { ...page, ...(done && { said: done, undo }) }, reader);
    },
  );
}

/**
 * Reads the state of a cause in each repository, with its history, the causes merged into it, possible
 * targets of a merge, and possible assignees.
 */
async function readStanding({ stores: { causes } }: ConsoleDeps, rows: readonly Cause[]) {
  const page = { limit: MOST_OTHERS, offset: 0 };
  const standing = rows.filter(({ mergedInto }) => mergedInto === null);
  return await Promise.all(
    standing.map(async (cause) => {
      const filter = { list: 'open', assignee: '', repository: cause.repository } as const;
      const [events, merged, others, offers] = await Promise.all([
        causes.events(cause, MOST_EVENTS),
        causes.listMerged(cause),
        causes.list(filter, page),
        causes.offers(filter),
      ]);
      const isOther = ({ fingerprint }: Cause) => fingerprint !== cause.fingerprint;
      return { cause, events, merged, others: others.filter(isOther), offers };
    }),
  );
}

/** Finds the newest answer about the cause, which says what to do. */
async function findNewest({ stores }: ConsoleDeps, { builds }: CauseFacts): Promise<Analysis | null> {
  const [first] = builds;
  return first === undefined ? null : await stores.analyses.find(first.analysisId);
}

interface CauseView {
  readonly facts: CauseFacts;
  readonly compared: readonly ComparedBuild[];
  readonly standing: readonly { readonly cause: Cause; readonly events: readonly CauseEvent[] }[];
  readonly newest: Analysis | null;
  readonly tests: readonly TestFlakiness[];
  readonly acts: readonly Html[];
  readonly now: number;
}

function renderPage(view: CauseView): Html {
  const { facts, compared, standing, newest, acts, now, tests } = view;
  const { cause, builds, places, decisions } = facts;
  const states = standing.length === 1 ? standing.map((known) => causeStates(known.cause, now)) : null;
  return html`<div class="headline"><p class="kicker">${renderCategory(cause.category)}${
    newest !== null && html`<span>${nameKind(newest.kind)}</span>`
  }${states}</p><h1 tabindex="-1">${cause.title === '' ? cause.fingerprint : cause.title}</h1></div>
    ${factsRow(view)}
    <div class="cols"><div class="stack">
    <section class="part" aria-labelledby="when"><h2 id="when">${formatCount(cause.builds, 'build')} in
    ${formatCount(cause.repositories, 'repository', 'repositories')},
    ${formatCount(cause.pullRequests, 'pull request')} <span class="meta">${
      cause.untimed === cause.builds ? 'time lost unknown' : `${formatHours(cause)} lost`
    }</span></h2><div class="panel pad">${sparkline('builds', cause.perDay)} <span class="meta">last 30
    days</span></div></section>
    <section class="part" aria-labelledby="diff"><h2
      id="diff">What is different</h2>${differences(compared)}</section>
    <section class="part" aria-labelledby="builds"><h2 id="builds">Builds</h2>${dataTable(
      'Newest builds',
      ['Build', 'When', 'Answer', 'Decision'],
      builds.map(buildRow),
    )}</section>
    <section class="part" aria-labelledby="where"><h2 id="where">Where</h2>${dataTable(
      'Where it was seen',
      ['Repository', 'Pipeline', 'Branch', ...createNumberColumns('Builds'), 'Last'],
      places.map(place),
    )}</section>${
      decisions.length > 0 &&
      html`<section class="part" aria-labelledby="said"><h2 id="said">Decisions</h2>${dataTable(
        'What people said',
        ['When', 'Who', 'Said', 'Faultline said'],
        decisions.map(decisionRow),
      )}</section>`
    }</div>
    <aside class="stack" aria-label="Who and when"><section class="part" aria-labelledby="standing"><h2
    id="standing">Who acts</h2><div class="stack">${acts}</div></section>${flakyPart(
      tests,
      standing.map((known) => known.cause),
    )}<p class="meta">Fingerprint <span class="mono">${cause.fingerprint}</span></p></aside></div>`;
}

/** Renders the three facts that are asked for first: how long, what to do, and how sure that is. */
function factsRow({ facts: { cause }, standing, newest }: CauseView): Html {
  const red = standing.filter((known) => known.cause.redPipelines.length > 0).length;
  const { order, advice } = newest === null ? { order: '', advice: '' } : writeTexts(newest);
  const { decided } = cause;
  return html`<dl class="facts">
    <div class="fact${red > 0 && ' red'}"><dt>${icon('clock')}Still there?</dt><dd><b${
      red > 0 && html` class="is-red"`
    }>${
      red > 0
        ? `Yes, red in ${formatCount(red, 'repository', 'repositories')}`
        : 'Not red on a default branch'
    }</b><p>First seen ${renderTime(cause.firstAt)}, last ${renderTime(cause.lastAt)}.</p></dd></div>
    <div class="fact"><dt>${icon('wrench')}What to do</dt><dd><b><span>${
      order === '' ? 'Look at the newest build' : inlineProse(order)
    }</span></b>${advice !== '' && html`<p>${inlineProse(advice)}</p>`}</dd></div>
    <div class="fact"><dt>${icon('gauge')}How sure?</dt><dd>${
      decided === null
        ? html`<span class="sure">Not decided yet</span><p>No person has said what it is.</p>`
        : html`<span class="sure">${icon('check')}Confirmed by a person</span><p>${decided.reviewer},
            ${formatDay(decided.at)}: ${renderCategory(decided.category)}</p>`
    }</dd></div></dl>`;
}

/** Finds the flaky and quarantined tests among the newest failures of a cause. */
async function findFlakyTests({ stores }: ConsoleDeps, fingerprint: string): Promise<TestFlakiness[]> {
  const rows = await stores.failures.search({ fingerprint }, { limit: MOST_EVENTS, offset: 0 });
  const named = rows.flatMap(({ repository, failure: { test } }) =>
    test === null ? [] : [{ repository, name: test.name, suite: test.suite }],
  );
  const names = [...new Map(named.map((test) => [JSON.stringify(test), test])).values()].slice(0, MOST_TESTS);
  const tests = await Promise.all(names.map(async (name) => await stores.flakiness.ofTest(name)));
  return tests
    .filter((test) => test !== null)
    .filter(({ flakes, quarantine }) => flakes > 0 || quarantine !== null);
}

/**
 * Renders a note on flaky tests. A cause may count as fixed while its test still flakes, so the note appears
 * next to its state, with the possible actions.
 */
function flakyPart(tests: readonly TestFlakiness[], causes: readonly Cause[]): Html {
  const muting = html`<p class="meta">Muting keeps this cause out of the open causes and out of notifications
    until the day you choose.${
      tests.length > 0 && ' To silence a flaky test whatever its cause, quarantine the test on its page.'
    }</p>`;
  if (tests.length === 0) return muting;
  const lines = tests.map(
    (test) =>
      html`<li><a href="${testAddress(test)}#quarantine">${test.name}</a>: flakes in
        ${formatOneIn(test.flakes, test.runs)} (${test.flakes} of ${test.runs});
        ${
          test.quarantine === null
            ? 'not in quarantine'
            : `in quarantine until ${test.quarantine.until.slice(0, 10)}`
        }</li>`,
  );
  const fixed =
    causes.some(({ state }) => state === 'fixed') &&
    ' “Fixed” means that the default branch passed as often as this cause’s rate needs; ' +
      'a flaky test can still fail again.';
  return html`<p role="note">This cause involves flaky tests.${fixed}</p><ul>${lines}</ul>${muting}`;
}

function differences(compared: readonly ComparedBuild[]): Html {
  const [failing, passing] = [true, false].map((which) =>
    compared.filter((build) => build.failing === which).map(toTraits),
  );
  if (
    failing === undefined ||
    passing === undefined ||
    failing.length < ENOUGH_BUILDS ||
    passing.length < ENOUGH_BUILDS
  )
    return html`<p>The comparison needs ${ENOUGH_BUILDS} builds with this cause and ${ENOUGH_BUILDS}
      passed builds; there are ${failing?.length ?? 0} and ${passing?.length ?? 0}.</p>`;
  const found = findDifferences(failing, passing);
  if (found.length === 0) return html`<p>No known difference from passed builds.</p>`;
  return html`<p>Shares among the newest ${failing.length} builds with this cause and the newest
    ${passing.length} passed builds in the same repositories. A difference is a place to look, not a
    cause.</p>
    ${dataTable(
      'What is different',
      ['What', 'With this cause', 'Passed', 'Difference'],
      found.map(difference),
    )}`;
}

function toTraits(build: ComparedBuild): Traits {
  const { pipeline, branch, author, provider, pullRequest, rerun, hour, weekday } = build;
  const yes = (value: boolean) => (value ? 'yes' : 'no');
  return {
    branch,
    pipeline,
    author,
    provider,
    'pull request': yes(pullRequest),
    rerun: yes(rerun),
    'hour (UTC)': String(hour),
    weekday: WEEKDAYS[weekday] ?? null,
  };
}

function difference({ dimension, value, failing, passing, difference }: Difference): Html {
  const points = Math.round(difference * 100);
  return html`<tr><th scope="row">${dimension}: <span class="mono">${value}</span></th>
    <td class="number">${formatPercent(failing)}</td><td class="number">${formatPercent(passing)}</td>
    <td class="number">${points > 0 ? '+' : '−'}${Math.abs(points)} points</td></tr>`;
}

function place({ repository, pipeline, branch, builds, lastAt }: CausePlace): Html {
  return html`<tr><th scope="row">${repository}</th><td>${pipeline}</td><td>${branch}</td>
    <td class="number">${builds}</td><td>${renderTime(lastAt)}</td></tr>`;
}

function decisionRow(build: CauseBuild): Html {
  return html`<tr><td><a href="${formatAnalysisAddress(build.analysisId)}">${
    build.decidedAt !== null && renderTime(build.decidedAt)
  }</a></td><td>${build.reviewer}</td><td>${decisionWords(build)}</td>
    <td>${renderCategory(build.category)}</td></tr>`;
}

function decisionWords({ decision, decidedCategory, category }: CauseBuild): Shown {
  if (decision === null) return html`<span class="quiet">not decided</span>`;
  if (decision === 'reject') return 'rejected the answer';
  return decision === 'accept'
    ? html`accepted ${renderCategory(category)}`
    : html`corrected to ${renderCategory(decidedCategory ?? category)}`;
}

function buildRow(build: CauseBuild): Html {
  return html`<tr><th scope="row"><a href="${buildAddress(build.buildId)}">${build.repository} ·
    ${build.pipeline} #${build.number}</a></th><td>${renderTime(build.at)}</td>
    <td><a href="${formatAnalysisAddress(build.analysisId)}">${
      build.analyst === 'recall' ? 'from the library' : formatConfidence(build.confidence)
    }</a></td><td>${decisionWords(build)}</td></tr>`;
}
