import { z } from 'zod';
import type { Analysis } from '../../domain/analysis.ts';
import { nameKind } from '../../domain/category-words.ts';
import type { Cause, CauseEvent } from '../../domain/cause.ts';
import { TriageError } from '../../domain/errors.ts';
import type { TestFlakiness } from '../../domain/flakiness.ts';
import {
  type CauseBuild,
  type CauseFacts,
  type CausePlace,
  type ComparedBuild,
  listDays,
} from '../../domain/insights.ts';
import { sumNumbers } from '../../lib/collections.ts';
import { type Difference, ENOUGH_BUILDS, findDifferences, type Traits } from '../../lib/statistics.ts';
import { formatCount } from '../../lib/text.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import {
  buildAddress,
  formatAnalysisAddress,
  formatCauseAddress,
  formatLogAddress,
  search,
} from '../addresses.ts';
import { getPublishLimit } from '../answer/facts.ts';
import { nameSureness, readJudged } from '../answer/sure.ts';
import { writeTexts } from '../answer/texts.ts';
import { formatOneIn, formatPercent } from '../charts/chart.ts';
import { dayBars } from '../charts/day-bars.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { crumbs, formatAge, formatDay, renderTime } from '../controls.ts';
import { createNumberColumns, dataTable, type Html, html, joinHtml, type Shown } from '../html.ts';
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

const MAX_EVENTS = 30;
/** The maximum number of causes that are offered for a merge. */
const MAX_OTHERS = 50;
/** The maximum number of tests of a cause whose flakiness is shown. */
const MAX_TESTS = 5;
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
      const limit = getPublishLimit(deps.config);
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
      const main = renderPage({ facts, compared, standing, newest, tests, acts, now, limit });
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
  const page = { limit: MAX_OTHERS, offset: 0 };
  const standing = rows.filter(({ mergedInto }) => mergedInto === null);
  return await Promise.all(
    standing.map(async (cause) => {
      const filter = { list: 'open', assignee: '', repository: cause.repository } as const;
      const [events, merged, others, offers] = await Promise.all([
        causes.events(cause, MAX_EVENTS),
        causes.listMerged(cause),
        causes.list(filter, page),
        causes.offers(filter),
      ]);
      const isOther = ({ fingerprint }: Cause) => fingerprint !== cause.fingerprint;
      return { cause, events, merged, others: others.filter(isOther), offers };
    }),
  );
}

/** Finds the newest answer about the cause, which contains the advice. */
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
  /** The confidence from which answers are published. */
  readonly limit: number;
}

function renderPage(view: CauseView): Html {
  const { facts, compared, standing, newest, acts, now, tests, limit } = view;
  const { cause, builds, places, decisions } = facts;
  const allFailures = `/search${search({ q: cause.fingerprint })}`;
  const states = standing.length === 1 ? standing.map((known) => causeStates(known.cause, now)) : null;
  return html`<div class="headline"><p class="kicker">${renderCategory(cause.category)}${
    newest !== null && html`<span>${nameKind(newest.kind)}</span>`
  }${states}</p><h1 tabindex="-1">${cause.title === '' ? cause.fingerprint : cause.title}</h1></div>
    ${factsRow(view)}
    <div class="cols"><div class="stack">${whenPart(view)}${differences(compared)}
    <section class="part" aria-labelledby="builds"><h2 id="builds">Builds ${
      cause.builds > builds.length && html`<a href="${allFailures}">All ${formatNumber(cause.builds)}</a>`
    }</h2>${dataTable(
      'Newest builds',
      ['Build', 'Where', 'Answer', 'When'],
      builds.map((build) => buildRow(build, limit)),
    )}</section>${
      places.length > 1 &&
      html`<section class="part" aria-labelledby="where"><h2 id="where">Where</h2>${dataTable(
        'Where it was seen',
        ['Repository', 'Pipeline', 'Branch', ...createNumberColumns('Builds'), 'Last'],
        places.map(place),
      )}</section>`
    }${
      decisions.length > 0 &&
      html`<section class="part" aria-labelledby="said"><h2 id="said">Decisions</h2>${dataTable(
        'What people said',
        ['When', 'Who', 'Said', 'Faultline said'],
        decisions.map(decisionRow),
      )}</section>`
    }</div>
    <aside class="stack" aria-label="Who and when"><section class="part" aria-labelledby="standing"><h2
    id="standing">Who acts</h2><div class="stack">${acts}</div></section>${linePart(newest)}${flakyPart(
      tests,
      standing.map((known) => known.cause),
    )}</aside></div>`;
}

/** Renders a chart of the failed builds of 30 days, with its result as the heading. */
function whenPart({ facts: { cause }, standing, now }: CauseView): Html {
  const days = listDays({ until: new Date(now).toISOString(), days: cause.perDay.length });
  const [sum, today] = [sumNumbers(cause.perDay), cause.perDay.at(-1) ?? 0];
  const isRed = standing.some((known) => known.cause.redPipelines.length > 0);
  const lost = cause.hours > 0 && html`<span class="meta">${formatHours(cause)} of builds lost</span>`;
  return html`<section class="part" aria-labelledby="when"><h2 id="when">${
    sum === 0
      ? `No failed build in ${days.length} days, ${cause.builds} before`
      : `${formatCount(sum, 'failed build')} in ${days.length} days${sayToday(today, sum)}`
  }${lost}</h2>${
    sum > 0 && html`<div class="panel pad">${dayBars('Failed builds', days, cause.perDay, isRed)}</div>`
  }</section>`;
}

function sayToday(today: number, sum: number): string {
  if (today === 0) return ', none today';
  if (sum === 1) return ', today';
  return today === sum ? ', all of them today' : `, ${today} of them today`;
}

/** The maximum number of proving lines that are shown, and their maximum distance from the first one. */
const PROVING = { lines: 4, apart: 12 };

/** Renders the lines that prove the newest answer, with a link into its log. */
function linePart(newest: Analysis | null): Shown {
  const quotes = newest?.answer.claims.flatMap((claim) => claim.quotes) ?? [];
  const [first] = quotes;
  if (newest === null || first === undefined) return null;
  const near = quotes.filter(
    ({ source, line }) => source === first.source && Math.abs(line - first.line) <= PROVING.apart,
  );
  const byLine = new Map(near.map((quote) => [quote.line, quote.text.trim()]));
  const lines = [...byLine].toSorted(([left], [right]) => left - right).slice(0, PROVING.lines);
  const at = lines[0]?.[0] ?? first.line;
  const address = `${formatLogAddress(newest.buildId, first.source)}&L=${at}#L${at}`;
  const heading = lines.length === 1 ? 'The line' : 'The lines';
  return html`<section class="part" aria-labelledby="line"><h2 id="line">${heading} <a
    href="${address}">In the log</a></h2><p class="quote">${joinHtml(
      lines.map(([, text]) => html`${text}`),
      html`<br>`,
    )}</p></section>`;
}

/** Renders the three facts that are asked for first: how long, what to do, and how sure that is. */
function factsRow({ facts: { cause }, standing, newest, now, limit }: CauseView): Html {
  const red = standing.filter((known) => known.cause.redPipelines.length > 0);
  const { order, advice } = newest === null ? { order: '', advice: '' } : writeTexts(newest);
  return html`<dl class="facts">
    <div class="fact${red.length > 0 && ' red'}"><dt>${icon('clock')}Still there?</dt><dd><b${
      red.length > 0 && html` class="is-red"`
    }>${red.length === 0 ? 'No, it is not red anywhere' : `Yes, in ${nameRepositories(red)}`}</b>
    <p>Last seen ${formatAge(cause.lastAt, now)} ago, first ${renderTime(cause.firstAt)}.</p></dd></div>
    <div class="fact"><dt>${icon('wrench')}What to do</dt><dd><b><span>${
      order === '' ? 'Look at the newest build' : inlineProse(order)
    }</span></b>${advice !== '' && html`<p>${inlineProse(advice)}</p>`}</dd></div>
    <div class="fact"><dt>${icon('gauge')}How sure?</dt><dd>${howSure(cause, newest, limit)}</dd></div></dl>`;
}

function nameRepositories(red: CauseView['standing']): string {
  const [first] = red;
  return red.length === 1 && first !== undefined
    ? first.cause.repository
    : formatCount(red.length, 'repository', 'repositories');
}

/** Renders who decided on the cause, or how sure the newest answer is. */
function howSure({ decided }: CauseFacts['cause'], newest: Analysis | null, limit: number): Html {
  if (decided !== null)
    return html`<span class="sure">${icon('check')}Confirmed by a person</span><p>${decided.reviewer},
      ${formatDay(decided.at)}: ${renderCategory(decided.category)}</p>`;
  const words = newest === null ? 'Not sure' : nameSureness(readJudged(newest), limit);
  return html`<span class="sure">${words}</span><p>No person has decided yet.</p>`;
}

/** Finds the flaky and quarantined tests among the newest failures of a cause. */
async function findFlakyTests({ stores }: ConsoleDeps, fingerprint: string): Promise<TestFlakiness[]> {
  const rows = await stores.failures.search({ fingerprint }, { limit: MAX_EVENTS, offset: 0 });
  const named = rows.flatMap(({ repository, failure: { test } }) =>
    test === null ? [] : [{ repository, name: test.name, suite: test.suite }],
  );
  const names = [...new Map(named.map((test) => [JSON.stringify(test), test])).values()].slice(0, MAX_TESTS);
  const tests = await Promise.all(names.map(async (name) => await stores.flakiness.ofTest(name)));
  return tests
    .filter((test) => test !== null)
    .filter(({ flakes, quarantine }) => flakes > 0 || quarantine !== null);
}

/**
 * Renders a note on flaky tests with the possible actions. It stands next to the state of the cause, because
 * the cause may count as fixed while its test is still flaky.
 */
function flakyPart(tests: readonly TestFlakiness[], causes: readonly Cause[]): Shown {
  if (tests.length === 0) return null;
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
    html`<p class="meta">“Fixed” means that the default branch passed as often as this cause’s rate needs;
      a flaky test can still fail again.</p>`;
  return html`<section class="part" aria-labelledby="flaky"><h2 id="flaky">This cause involves flaky
    tests</h2><ul>${lines}</ul><p class="meta">To silence a flaky test whatever its cause, quarantine the
    test on its page.</p>${fixed}</section>`;
}

/**
 * Renders properties that the failed builds share and the passed builds lack. Renders nothing if too little
 * is known.
 */
function differences(compared: readonly ComparedBuild[]): Shown {
  const failing = compared.filter((build) => build.failing).map(toTraits);
  const passing = compared.filter((build) => !build.failing).map(toTraits);
  if (failing.length < ENOUGH_BUILDS || passing.length < ENOUGH_BUILDS) return null;
  const found = findDifferences(failing, passing);
  if (found.length === 0) return null;
  return html`<section class="part" aria-labelledby="diff"><h2 id="diff">What is different about these builds
    <span class="meta">${failing.length} failed, ${passing.length} passed</span></h2>${dataTable(
      'What is different',
      ['Builds with', ...createNumberColumns('of the failed', 'of the passed'), 'Share'],
      found.map(difference),
    )}<p class="meta">It says where to look, not what the cause is.</p></section>`;
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

function difference({ dimension, value, failing, passing }: Difference): Html {
  return html`<tr><th scope="row">${dimension} <span class="mono">${value}</span></th>
    <td class="number"><b>${formatPercent(failing)}</b></td>
    <td class="number quiet">${formatPercent(passing)}</td>
    <td>${shareBar('said', failing)}${shareBar('doubt', passing)}</td></tr>`;
}

function shareBar(look: 'said' | 'doubt', share: number): Html {
  return html`<svg class="gauge" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect
    class="track" width="100" height="8"/><rect class="${look}" width="${Math.round(share * 100)}"
    height="8"/></svg>`;
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

function buildRow(build: CauseBuild, limit: number): Html {
  const judged = nameSureness({ confidence: build.confidence, open: false }, limit);
  const sure = build.analyst === 'recall' ? 'from the library' : judged.toLowerCase();
  return html`<tr><th scope="row"><a href="${buildAddress(build.buildId)}">${build.repository}
    ${build.pipeline} #${build.number}</a></th><td>${build.branch}</td>
    <td><a href="${formatAnalysisAddress(build.analysisId)}">${sure}</a>${
      build.decision !== null && html`, ${decisionWords(build)}`
    }</td><td class="num quiet">${renderTime(build.at)}</td></tr>`;
}
