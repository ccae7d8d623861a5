import { z } from 'zod';
import {
  type Cause,
  CauseChange,
  type CauseEvent,
  CauseList,
  isMuted,
  ownerSentence,
} from '../domain/cause.ts';
import { readInput, TriageError } from '../domain/errors.ts';
import type { TestFlakiness } from '../domain/flakiness.ts';
import type { CauseBuild, CauseFacts, CausePlace, ComparedBuild, TopCause } from '../domain/insights.ts';
import type { Principal } from '../domain/review.ts';
import { type Difference, ENOUGH_BUILDS, type Traits, whatDiffers } from '../lib/statistics.ts';
import { counted, formatConfidence } from '../lib/text.ts';
import { formatNumber } from '../notifications/visible-text.ts';
import { changeCause } from '../service/causes.ts';
import { requireReviewer } from '../service/review/queue.ts';
import { analysisAddress, buildAddress, causeAddress, search } from './addresses.ts';
import { formatPercent, sparkline } from './charts/chart.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { formatAge, hiddenFields, pager, postForm, renderTime, tabs } from './controls.ts';
import { dataTable, type Html, html, linkTarget, type Shown } from './html.ts';
import { misreadBanner, Offset, Words } from './http.ts';
import {
  daysField,
  filterForm,
  type InsightsQuery,
  type InsightsView,
  toPeriod,
} from './insights/insights-frame.ts';
import { testAddress } from './insights/tests.ts';
import {
  answerPage,
  type ConsoleApp,
  listReaderNames,
  loadReader,
  mayReview,
  route,
  sendPage,
} from './page.ts';

const PAGE = 50;
const MOST_EVENTS = 30;
/** The maximum number of tests of a cause whose flakiness is shown. */
const MOST_TESTS = 5;

const Query = z.object({
  list: CauseList.catch('open').default('open'),
  repo: Words,
  offset: Offset,
});
type Query = z.infer<typeof Query>;

const NAMES: Readonly<Record<CauseList, string>> = {
  open: 'Open',
  red: 'On a default branch',
  mine: 'Mine',
  unassigned: 'Unassigned',
  muted: 'Muted',
  fixed: 'Fixed',
};

const name = z.string().min(1).max(300);
const Form = z.looseObject({
  repository: name,
  fingerprint: name,
  version: z.coerce.number().int().min(1).max(2_147_483_647),
});

/**
 * Serves `/causes`, the causes that need action and their owners. `POST /causes` changes the state of one.
 */
export function registerCauses(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/causes', route('read', { querystring: Query }), async (request, reply) => {
    const { list, repo, offset } = request.query;
    const reader = await loadReader(request, deps);
    const filter = {
      assignee: request.principal?.name ?? '',
      owners: listReaderNames(reader),
      ...(repo !== '' && { repository: repo }),
    };
    const [causes, counts] = await Promise.all([
      deps.stores.causes.list({ ...filter, list }, { limit: PAGE + 1, offset }),
      deps.stores.causes.counts(filter),
    ]);
    const main = html`<h1 tabindex="-1">Causes</h1>${misreadBanner(request, Query)}${lists(request.query, counts)}
      <form class="filters" role="search" aria-label="Causes">${hiddenFields({ list })}<label>Repository
      <input name="repo" value="${repo}"></label><button>Show</button></form>
      <div id="causes" data-live="cause">${renderTable(causes.slice(0, PAGE), deps.clock.now())}</div>${pager(
        { offset, size: PAGE, more: causes.length > PAGE },
        (at) => getListAddress({ ...request.query, offset: at }),
        ['Previous', 'Next'],
      )}`;
    return sendPage(request, reply, { title: 'Causes', part: 'causes', live: {}, main }, reader);
  });
  app.post('/causes', route('review', { body: Form }), async (request, reply) => {
    const { repository, fingerprint, version, ...fields } = request.body;
    const change = readInput('This change', CauseChange, fields);
    await changeCause(deps, { repository, fingerprint, version, change }, requireReviewer(request));
    return reply.redirect(`${causeAddress(fingerprint)}${search({ done: change.what })}#standing`, 303);
  });
}

function getListAddress({ list, repo, offset }: Query): string {
  return `/causes${search({ list: list === 'open' ? undefined : list, repo, offset: offset || undefined })}`;
}

function lists(query: Query, counts: Readonly<Record<CauseList, number>>): Html {
  const links = CauseList.options.map((list) => {
    const words = html`${NAMES[list]} <span class="count">${counts[list]}</span>`;
    return { address: getListAddress({ ...query, list, offset: 0 }), words, isHere: list === query.list };
  });
  return tabs('Causes', links, html` id="lists" data-live`);
}

function renderTable(causes: readonly Cause[], now: number): Html {
  if (causes.length === 0) return html`<p role="note">No causes in this list.</p>`;
  const rows = causes.map(
    (cause) => html`<tr id="${encodeURIComponent(`${cause.fingerprint} ${cause.repository}`)}" data-row>
      <td>${stateWord(cause, now)}</td>
      <td><a href="${causeAddress(cause.fingerprint)}#standing">${
        cause.title === '' ? cause.fingerprint : cause.title
      }</a><br><span class="quiet">${cause.repository}
      <span class="category">${cause.category}</span></span></td>
      <td data-label="Assignee">${
        cause.assignee ?? html`<span class="quiet">unassigned</span>`
      }${ticketLink(cause)}</td>
      <td data-label="Owner">${
        cause.owner === null
          ? html`<span class="quiet">no known owner</span>`
          : html`${cause.owner.names.join(', ')}<br><span class="quiet">${
              cause.owner.by === 'codeowners' ? 'from CODEOWNERS' : 'last changed by'
            }</span>`
      }</td>
      <td class="quiet" data-label="Last seen">${formatAge(cause.lastAt, now)} ago</td></tr>`,
  );
  const ownerless = causes.every(({ owner }) => owner === null);
  return html`${dataTable(
    'Causes, red ones first',
    ['State', 'Cause', 'Assignee', 'Owner', 'Last seen'],
    rows,
    { className: 'listed' },
  )}
    ${
      ownerless &&
      html`<p class="quiet">Owners come from CODEOWNERS, or from the last change of the file, if Faultline can
        read the code: see <code>docs/how-to/owners.md</code>.</p>`
    }`;
}

function stateWord(cause: Cause, now: number): Html {
  const red =
    cause.redPipelines.length > 0 &&
    html`<br><span class="wrong">red: ${cause.redPipelines.join(', ')}</span>`;
  if (isMuted(cause, now) && cause.mutedUntil !== null)
    return html`<span class="status">muted</span> <span class="quiet">until
      ${cause.mutedUntil.slice(0, 10)}</span>${red}`;
  return html`<span class="status${cause.state === 'fixed' ? ' good' : cause.state === 'regressed' ? ' wrong' : ''}">${cause.state}</span>${red}`;
}

function ticketLink({ ticket }: Cause): Shown {
  const target = linkTarget(ticket);
  return target !== null && html`<br><a href="${target}" rel="noreferrer">ticket</a>`;
}

/**
 * Renders the state of a cause in each repository, the actions on it, and its history, for the page of the
 * cause.
 */
async function standingPart(
  deps: ConsoleDeps,
  fingerprint: string,
  principal: Principal | null,
): Promise<Html> {
  const causes = await deps.stores.causes.ofFingerprint(fingerprint);
  const acts = mayReview(principal);
  const parts = await Promise.all(
    causes.map(async (cause) => {
      const events = await deps.stores.causes.events(cause, MOST_EVENTS);
      return html`<section class="card" aria-label="${cause.repository}"><h3>${cause.repository}</h3>
        <p>${stateWord(cause, deps.clock.now())} ·
        ${cause.assignee === null ? 'unassigned' : html`assigned to <strong>${cause.assignee}</strong>`} ·
        ${
          cause.owner === null ? 'no known owner' : html`owner: ${ownerSentence(cause.owner)}`
        }${ticketLink(cause)}</p>
        ${
          acts &&
          html`${undoForm(cause, events, principal?.name ?? '')}${actsOn(
            cause,
            principal?.name ?? '',
            deps.clock.now(),
          )}`
        }${
          events.length > 0 &&
          html`<details><summary>History (${events.length})</summary>
            <ol class="past">${events.map(eventRow)}</ol></details>`
        }</section>`;
    }),
  );
  return html`<h2 id="standing">State and assignee</h2>${parts}${flakyPart(
    await flakyTests(deps, fingerprint),
    causes,
  )}`;
}

/** Finds the flaky and quarantined tests among the newest failures of a cause. */
async function flakyTests({ stores }: ConsoleDeps, fingerprint: string): Promise<TestFlakiness[]> {
  const rows = await stores.failures.search({ fingerprint }, { limit: MOST_EVENTS, offset: 0 });
  const named = rows.flatMap(({ repository, failure: { test } }) =>
    test === null ? [] : [{ repository, name: test.name, suite: test.suite }],
  );
  const names = [...new Map(named.map((one) => [JSON.stringify(one), one])).values()].slice(0, MOST_TESTS);
  const tests = await Promise.all(names.map(async (one) => await stores.flakiness.ofTest(one)));
  return tests
    .filter((test) => test !== null)
    .filter(({ flakes, quarantine }) => flakes > 0 || quarantine !== null);
}

/**
 * Renders a note on flaky tests. A cause may count as fixed while its test still flakes, so the note appears
 * next to its state, with what can be done.
 */
function flakyPart(tests: readonly TestFlakiness[], causes: readonly Cause[]): Html {
  const muting = html`<p class="quiet">Muting keeps this cause out of the open causes and out of notifications
    until the day you choose.${
      tests.length > 0 && ' To silence a flaky test whatever its cause, quarantine the test on its page.'
    }</p>`;
  if (tests.length === 0) return muting;
  const lines = tests.map(
    (test) =>
      html`<li><a href="${testAddress(test)}#quarantine">${test.name}</a>: flakes in
        ${formatPercent(test.flakes / Math.max(1, test.runs))} of its runs (${test.flakes} of ${test.runs});
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

/** Takes back what this person did last, where that was muting or linking. */
function undoForm(
  { repository, fingerprint, version }: Cause,
  events: readonly CauseEvent[],
  self: string,
): Shown {
  const [last, ...older] = events;
  if (last === undefined || last.by !== self) return null;
  const undo = (what: string, fields: Readonly<Record<string, string>> = {}) =>
    postForm(
      '/causes',
      { repository, fingerprint, version, what, ...fields },
      html`<button>Undo: ${eventWords(last)}</button>`,
    );
  if (last.what === 'muted') return undo('unmuted');
  if (last.what !== 'linked') return null;
  const before = older.find(({ what }) => what === 'linked' || what === 'unlinked');
  return before?.what === 'linked' && before.detail !== null
    ? undo('linked', { ticket: before.detail })
    : undo('unlinked');
}

function actsOn(cause: Cause, self: string, now: number): Html {
  const { repository, fingerprint, version, state, assignee, owner } = cause;
  const act = (what: string, words: string, fields: Readonly<Record<string, string>> = {}) =>
    postForm(
      '/causes',
      { repository, fingerprint, version, what, ...fields },
      html`<button>${words}</button>`,
    );
  const asked = (what: string, field: Html, words: string) =>
    postForm(
      '/causes',
      { repository, fingerprint, version, what },
      html`<label>${field}</label> <button>${words}</button>`,
    );
  return html`<div class="acts">${
    (state === 'new' || state === 'regressed') && act('acknowledged', 'Acknowledge')
  }
    ${assignee !== self && act('assigned', 'Assign to me', { assignee: self })}${
      assignee !== null && act('unassigned', 'Unassign')
    }
    ${state === 'fixed' ? act('reopened', 'Open again') : act('fixed', 'Mark as fixed')}${
      isMuted(cause, now) && act('unmuted', 'Unmute')
    }</div>
    <div class="acts">${asked(
      'assigned',
      html`Assign to <input name="assignee" required maxlength="100"
        value="${assignee === null ? owner?.names[0]?.slice(0, 100) : null}">`,
      'Assign',
    )}${asked(
      'muted',
      html`Mute for <input name="days" type="number" min="1" max="365" value="7" required> days</label>
        <label>because <input name="reason" required maxlength="500">`,
      'Mute',
    )}
    ${asked(
      'linked',
      html`Ticket <input name="ticket" type="url" required maxlength="500" value="${cause.ticket}">`,
      'Link',
    )}${cause.ticket !== null && act('unlinked', 'Unlink the ticket')}</div>`;
}

function eventRow(event: CauseEvent): Html {
  const { at, by, buildId } = event;
  const proof = buildId !== null && html` <a href="${buildAddress(buildId)}">build</a>`;
  return html`<li>${renderTime(at)} ${by ?? 'builds'}: ${eventWords(event)}${proof}</li>`;
}

function eventWords({ what, detail }: CauseEvent): string {
  const said: Readonly<Record<string, string>> = {
    assigned: `assigned to ${detail}`,
    muted: `muted until ${detail}`,
    linked: `linked to ${detail}`,
  };
  return said[what] ?? what;
}

const PATH = '/insights/causes';
const SHOWN = 50;
const CHOICES = [7, 30, 90];
const HEAD = [
  'cause',
  'category',
  'builds',
  'pull requests',
  'hours',
  'first',
  'last',
  'decided by',
  'fingerprint',
];

/** Serves `/insights/causes`, the causes with the highest cost, by the hours that their builds ran. */
export async function causesView(
  query: InsightsQuery,
  { stores, clock }: ConsoleDeps,
): Promise<InsightsView> {
  const days = query.days ?? 30;
  const period = toPeriod(query, days, clock.now());
  const [causes, count] = await Promise.all([
    stores.insights.topCauses(period, SHOWN, query.offset),
    stores.insights.countCauses(period),
  ]);
  const when =
    query.day === undefined
      ? `in the last ${days} days`
      : days === 1
        ? `on ${query.day}`
        : `in ${days} days from ${query.day}`;
  const more = html`${daysField(
    days,
    [...new Set([days, ...CHOICES])].toSorted((one, other) => one - other),
  )}${
    query.day !== undefined && html`<label>from <input type="date" name="day" value="${query.day}"></label>`
  }`;
  const main = html`<h1 tabindex="-1">${headline(causes, count, query.offset, when)}</h1>
    <p>Hours are the run time of the failed builds. A build with several causes counts evenly toward each.</p>
    ${filterForm(query, more)}${
      causes.length === 0
        ? html`<p>${query.offset > 0 ? 'No more causes' : 'No cause was found'} ${when}.</p>`
        : html`${causesTable(causes)}${pagesOfTop(query, days, count)}<p><a
          href="${PATH}${search({ repo: query.repo, days, day: query.day, offset: query.offset || undefined, csv: 'causes' })}">Download CSV</a></p>`
    }`;
  return { title: 'Top causes', main, tables: { causes: { head: HEAD, rows: causes.map(cells) } } };
}

function headline(causes: readonly TopCause[], count: number, offset: number, when: string): string {
  const [worst] = causes;
  if (count === 0) return `No causes ${when}`;
  if (worst === undefined || worst.hours === 0 || offset > 0)
    return `${formatNumber(count)} ${count === 1 ? 'cause' : 'causes'} ${when}`;
  return `${worst.title} cost the most ${when}: ${formatHours(worst)}`;
}

/** Renders which causes of how many are shown, and links to the others. */
function pagesOfTop({ repo, day, offset }: InsightsQuery, days: number, count: number): Html {
  if (count <= SHOWN && offset === 0) return html`<p>${counted(count, 'cause')}.</p>`;
  const to = (from: number) => `${PATH}${search({ repo, days, day, offset: from || undefined })}`;
  return html`<p class="pages"><span>${formatNumber(offset + 1)}–${formatNumber(Math.min(offset + SHOWN, count))} of ${formatNumber(count)} causes</span>${offset > 0 && html` <a href="${to(Math.max(0, offset - SHOWN))}">Previous</a>`}${offset + SHOWN < count && html` <a href="${to(offset + SHOWN)}">Next</a>`}</p>`;
}

/** Causes with what they cost, each a link to its own page. */
export function causesTable(causes: readonly TopCause[]): Html {
  const head = [
    'Cause',
    'Builds',
    'Pull requests',
    'Hours lost',
    'First',
    'Last',
    'Last 30 days',
    'Decided by',
  ];
  return dataTable('Causes, most hours first', head, causes.map(row));
}

function row(cause: TopCause): Html {
  return html`<tr><th scope="row"><a href="${causeAddress(cause.fingerprint)}">${
    cause.title === '' ? cause.fingerprint : cause.title
  }</a><br><span class="category">${cause.category}</span></th>
    <td class="number">${cause.builds}</td><td class="number">${cause.pullRequests}</td>
    <td class="number">${formatHours(cause)}</td>
    <td>${renderTime(cause.firstAt)}</td><td>${renderTime(cause.lastAt)}</td>
    <td>${sparkline('builds', cause.perDay)}</td>
    <td>${
      cause.decided === null
        ? html`<span class="quiet">nobody</span>`
        : html`${cause.decided.reviewer}<br>${renderTime(cause.decided.at)}`
    }</td></tr>`;
}

/** Formats hours as in "3.5 h", followed by the number of builds whose length is unknown. */
function formatHours({ hours, builds, untimed }: Pick<TopCause, 'hours' | 'builds' | 'untimed'>): string {
  if (untimed === builds) return 'unknown';
  return `${hours.toFixed(1)} h${untimed === 0 ? '' : ` (without ${untimed} ${untimed === 1 ? 'build' : 'builds'} of unknown length)`}`;
}

function cells(cause: TopCause) {
  const counts = [cause.builds, cause.pullRequests, Number(cause.hours.toFixed(3))];
  return [
    cause.title,
    cause.category,
    ...counts,
    cause.firstAt,
    cause.lastAt,
    cause.decided?.reviewer ?? null,
    cause.fingerprint,
  ];
}

const Params = z.object({ fingerprint: z.string().min(1).max(300) });
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** The sentence of a page after each change. */
const SAID: Readonly<Record<CauseChange['what'], string>> = {
  acknowledged: 'Acknowledged.',
  assigned: 'Assigned.',
  unassigned: 'Unassigned.',
  fixed: 'Marked as fixed.',
  reopened: 'Opened again.',
  muted: 'Muted. Undo it below.',
  unmuted: 'Unmuted.',
  linked: 'Ticket linked. Undo it below.',
  unlinked: 'Ticket unlinked.',
};
const PageQuery = z.object({
  done: z
    .string()
    .transform((what) => Object.entries(SAID).find(([name]) => name === what)?.[1])
    .optional(),
});

/**
 * Serves `/failures/:fingerprint`, the page of a recurring cause: how often and where it occurred, what
 * people decided about it, and what its builds have in common.
 */
export function registerCausePage(app: ConsoleApp, deps: ConsoleDeps): void {
  const { stores, clock } = deps;
  app.get(
    '/failures/:fingerprint',
    route('read', { params: Params, querystring: PageQuery }),
    async (request, reply) => {
      const { fingerprint } = request.params;
      const { done } = request.query;
      const until = new Date(clock.now()).toISOString();
      const facts = await stores.insights.cause(fingerprint, until);
      if (facts === null) throw new TriageError('not-found', `There is no cause ${fingerprint}.`);
      const compared = await stores.insights.compared(fingerprint);
      const main = renderPage(facts, compared, await standingPart(deps, fingerprint, request.principal));
      return answerPage(request, reply, deps, {
        title: facts.cause.title,
        part: 'causes',
        main,
        ...(done && { said: done }),
      });
    },
  );
}

function renderPage(
  { cause, builds, decisions, places }: CauseFacts,
  compared: readonly ComparedBuild[],
  standing: Html,
): Html {
  const { decided } = cause;
  return html`<h1 tabindex="-1">${cause.title === '' ? cause.fingerprint : cause.title}</h1>
    <p><span class="category">${cause.category}</span> · ${counted(cause.builds, 'build')} in
    ${counted(cause.repositories, 'repository', 'repositories')},
    ${counted(cause.pullRequests, 'pull request')} ·
    ${cause.untimed === cause.builds ? 'time lost unknown' : `${formatHours(cause)} lost`} · first
    ${renderTime(cause.firstAt)}, last ${renderTime(cause.lastAt)}</p>
    <p>${sparkline('builds', cause.perDay)} <span class="quiet">last 30 days</span></p>
    <p>${
      decided === null
        ? 'Not decided yet.'
        : html`${decided.reviewer} decided on ${renderTime(decided.at)} that it is
          <span class="category">${decided.category}</span>.`
    } <span class="quiet mono">${cause.fingerprint}</span></p>
    ${standing}
    <h2>What is different</h2>${differences(compared)}
    <h2>Where</h2>${dataTable(
      'Where it was seen',
      ['Repository', 'Pipeline', 'Branch', 'Builds', 'Last'],
      places.map(place),
    )}
    <h2>Decisions</h2>${
      decisions.length === 0
        ? html`<p>Nothing yet.</p>`
        : dataTable('Decisions', ['When', 'Who', 'Said', 'Faultline said'], decisions.map(said))
    }
    <h2>Builds</h2>${dataTable(
      'Newest builds',
      ['Build', 'When', 'Answer', 'Decision'],
      builds.map(buildRow),
    )}`;
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
  const found = whatDiffers(failing, passing);
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
  const yes = (one: boolean) => (one ? 'yes' : 'no');
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

function said(build: CauseBuild): Html {
  return html`<tr><td><a href="${analysisAddress(build.analysisId)}">${
    build.decidedAt !== null && renderTime(build.decidedAt)
  }</a></td><td>${build.reviewer}</td><td>${decisionWords(build)}</td>
    <td class="category">${build.category}</td></tr>`;
}

function decisionWords({ decision, decidedCategory, category }: CauseBuild): Shown {
  if (decision === null) return html`<span class="quiet">not decided</span>`;
  if (decision === 'reject') return 'rejected the answer';
  return decision === 'accept'
    ? html`accepted <span class="category">${category}</span>`
    : html`corrected to <span class="category">${decidedCategory ?? category}</span>`;
}

function buildRow(build: CauseBuild): Html {
  return html`<tr><th scope="row"><a href="${buildAddress(build.buildId)}">${build.repository} ·
    ${build.pipeline} #${build.number}</a></th><td>${renderTime(build.at)}</td>
    <td><a href="${analysisAddress(build.analysisId)}">${
      build.analyst === 'recall' ? 'from the library' : formatConfidence(build.confidence)
    }</a></td><td>${decisionWords(build)}</td></tr>`;
}
