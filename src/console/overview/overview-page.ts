import { z } from 'zod';
import { type Cause, isMuted } from '../../domain/cause.ts';
import type { TestFlakiness } from '../../domain/flakiness.ts';
import type { Principal } from '../../domain/review.ts';
import type { CheckedAnswer } from '../../domain/trust.ts';
import { formatCount } from '../../lib/text.ts';
import { openQuestions } from '../../service/review/queue.ts';
import { formatAnalysisAddress, formatCauseAddress, formatReviewAddress } from '../addresses.ts';
import { DoneFields, describeDone, undoForm } from '../causes/done.ts';
import { causeState, takeForm } from '../causes/states.ts';
import { formatOneIn, runStrip } from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { formatAge, formatSpan, renderTime } from '../controls.ts';
import { type Html, html, type Shown } from '../html.ts';
import { testAddress } from '../insights/test-page.ts';
import {
  type ConsoleApp,
  listReaderNames,
  loadReader,
  mayReview,
  type Reader,
  route,
  sendPage,
} from '../page.ts';
import { icon } from '../parts/icons.ts';
import { liveLine } from '../parts/live-line.ts';
import { categoryTile, iconTile, renderNoOwner, renderOwner, stateMark } from '../parts/marks.ts';
import { type ScopeChoice, scopeMenu } from '../parts/scope-menu.ts';
import { formatScopedAddress, ScopeFields } from '../scope.ts';
import { firstStart } from './first-start.ts';
import { laneHours, laneList } from './lanes.ts';
import { groupByReason, type Reason } from './reasons.ts';

const DAY_MS = 86_400_000;
/** The maximum numbers of drawn default branches, of causes that are read, and of rows of each list. */
const MAX_LANES = 40;
const MAX_CAUSES = 200;
const ROWS = 5;
const MAX_CHOICES = 20;
const LATEST = 40;
const LATEST_DAYS = 90;

type Overview = Awaited<ReturnType<typeof readOverview>>;

/** Registers `/`: the red branches, the reasons, the assignees, and the items that wait for the reader. */
export function registerOverview(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/', route('read', { querystring: Query }), async (request, reply) => {
    const { query } = request;
    const reader = await loadReader(request, deps);
    const view = await readOverview(deps, reader, query);
    const content =
      view.newest !== undefined ? renderOverview(view) : firstStart(deps.providers, reader.principal);
    const top = html`<h1 tabindex="-1">Overview</h1>${
      view.newest !== undefined &&
      html`${scopeMenu('/', query, listChoices(view))}<div class="acts">${liveLine(
        view.newest.receivedAt,
        view.now,
      )}</div>`
    }`;
    const main = html`<div class="flow" id="overview" data-live
      data-say="The overview changed.">${content}</div>`;
    const page = { title: 'Overview', part: 'overview', top, live: {}, main, scope: query } as const;
    const done = describeDone(query);
    const undo = undoForm(query, formatScopedAddress('/', query));
    return sendPage(request, reply, { ...page, ...(done && { said: done, undo }) }, reader);
  });
}

const Query = z.object({
  ...ScopeFields,
  ...DoneFields,
  /** Present to show only causes that are assigned to the reader or owned by them. */
  mine: z.literal('1').optional().catch(undefined),
});

/** Lists the repositories with builds, those with red branches first. */
function listChoices({ lanes, repositories }: Overview): ScopeChoice[] {
  const red = lanes.filter(({ isRed }) => isRed);
  const count = (name: string) => red.filter(({ repository }) => repository === name).length;
  const names = [...new Set([...red.map(({ repository }) => repository), ...repositories])];
  return names.map((repository) => ({
    repository,
    words: count(repository) === 0 ? '' : `${count(repository)} red`,
  }));
}

async function readOverview(
  deps: ConsoleDeps,
  reader: Reader,
  { repo, mine: onlyMine }: z.infer<typeof Query>,
) {
  const { stores, clock } = deps;
  const now = clock.now();
  const principal = reader.principal;
  const since = new Date(now - DAY_MS).toISOString();
  const within = repo === '' ? {} : { repository: repo };
  const filter = { ...within, assignee: principal?.name ?? '', owners: listReaderNames(reader) };
  const page = { limit: MAX_CAUSES, offset: 0 };
  const period = { ...within, until: new Date(now + 60_000).toISOString(), days: LATEST_DAYS };
  const [lanes, red, open, fixed, mine, flaky, checked, builds, repositories, waiting] = await Promise.all([
    stores.health.lanes({ ...within, since }, MAX_LANES),
    stores.causes.list({ ...filter, list: 'red' }, page),
    stores.causes.list({ ...filter, list: 'open' }, page),
    stores.causes.list({ ...filter, list: 'fixed' }, { limit: ROWS, offset: 0 }),
    stores.causes.list({ ...filter, list: 'mine' }, { limit: ROWS, offset: 0 }),
    stores.flakiness.list(within, { limit: 3 * MAX_FLAKY, offset: 0 }),
    stores.trust.answers(period, { from: 0, right: null }, { limit: LATEST, offset: 0 }),
    stores.builds.list({}, { limit: 1, offset: 0 }),
    stores.builds.repositories({ words: '' }, MAX_CHOICES),
    mayReview(principal) ? readWaiting(deps, within) : null,
  ]);
  const names = new Set(filter.owners);
  const isOwn = ({ assignee, owner }: Cause) =>
    assignee === null ? owner?.names.some((name) => names.has(name)) === true : names.has(assignee);
  const keepOwn = (causes: readonly Cause[]) => (onlyMine === undefined ? causes : causes.filter(isOwn));
  const reasons = groupByReason(
    lanes.filter(({ isRed }) => isRed),
    red,
    now,
  );
  return {
    now,
    principal,
    lanes,
    isMine: onlyMine !== undefined,
    reasons: onlyMine === undefined ? reasons : reasons.filter(({ cause }) => cause !== null && isOwn(cause)),
    changed: listChanged(keepOwn(open), keepOwn(fixed), since),
    mine: mine.filter((cause) => !isMuted(cause, now)),
    flaky,
    checked,
    newest: builds[0],
    repositories,
    waiting,
  };
}

/** Reads the first items that wait for a reviewer, and the open questions. */
async function readWaiting({ stores }: ConsoleDeps, within: { readonly repository?: string }) {
  const [groups, questions] = await Promise.all([
    stores.reviews.listGroups(within, { limit: ROWS, offset: 0 }, 'risk'),
    openQuestions({ stores }, within),
  ]);
  const rows = groups.map(({ review }) => review);
  return { rows, questions: questions.slice(0, 2) };
}

type Change = 'new' | 'back' | 'fixed';

/** Lists the causes that appeared, reappeared or were fixed since a time, newest first. */
function listChanged(open: readonly Cause[], fixed: readonly Cause[], since: string) {
  const known = open.flatMap((cause) => {
    if (cause.firstAt >= since) return [{ cause, what: 'new' as Change, at: cause.firstAt }];
    return cause.state === 'regressed' && cause.lastAt >= since
      ? [{ cause, what: 'back' as Change, at: cause.lastAt }]
      : [];
  });
  const gone = fixed
    .filter(({ lastAt }) => lastAt >= since)
    .map((cause) => ({ cause, what: 'fixed' as Change, at: cause.lastAt }));
  return [...known, ...gone].toSorted((left, right) => right.at.localeCompare(left.at));
}

function renderOverview(view: Overview): Html {
  return html`${headline(view)}<div class="cols"><div class="stack">${redPart(view)}${changedPart(view)}</div>
    <aside class="stack" aria-label="For you">${waitingPart(view)}${flakyPart(view.flaky)}${trustPart(
      view.checked,
    )}</aside></div>`;
}

function headline({ lanes, reasons, now, isMine }: Overview): Html {
  const of = lanes[0]?.of ?? 0;
  const red = reasons.reduce((sum, reason) => sum + reason.lanes.length, 0);
  if (isMine)
    return html`<div class="headline"><h2>${
      red === 0
        ? 'Nothing of yours is red'
        : `${formatCount(reasons.length, 'reason')} of yours, on ${nameBranches(red)}`
    }</h2>${red > 0 && headlineLead(reasons, now)}</div>`;
  if (of === 0) return html`<div class="headline"><h2>No default branch was built this week</h2></div>`;
  if (red === 0)
    return html`<div class="headline"><h2>${
      of === 1 ? 'The default branch is green' : `All ${of} default branches are green`
    }</h2></div>`;
  const known = reasons.filter(({ cause }) => cause !== null).length;
  const why = known === 0 ? '' : `, for ${formatCount(known, 'reason')}`;
  return html`<div class="headline"><h2>${red} of ${of} default ${of === 1 ? 'branch is' : 'branches'}
    ${of === 1 ? '' : red === 1 ? 'is' : 'are'} red${why}</h2>${headlineLead(reasons, now)}</div>`;
}

const nameBranches = (count: number) => formatCount(count, 'default branch', 'default branches');

/**
 * Renders the most important facts: the cause that affects the most branches, and the branch without an
 * assignee that has been red for the longest time.
 */
function headlineLead(reasons: readonly Reason[], now: number): Shown {
  const [widest] = reasons;
  const orphan = reasons
    .filter(({ cause }) => cause !== null && cause.assignee === null)
    .flatMap(({ lanes }) => lanes)
    .toSorted((left, right) => (left.redSince ?? '').localeCompare(right.redSince ?? ''))[0];
  const spread =
    widest?.cause != null && widest.lanes.length > 1 && `One reason stops ${widest.lanes.length} of them. `;
  return html`<p class="quiet">${spread}${
    orphan?.redSince != null &&
    html`The branch that has been red longest has no assignee: ${orphan.repository},
      ${formatSpan(now - Date.parse(orphan.redSince))}.`
  }</p>`;
}

function redPart({ lanes, reasons, principal, now, isMine }: Overview): Html {
  const of = lanes[0]?.of ?? 0;
  const red = reasons.reduce((sum, reason) => sum + reason.lanes.length, 0);
  const rest = isMine ? 0 : of - red;
  const green =
    rest > 0 &&
    html`<p class="pad meta">${icon('check', 'is-green')} ${
      red === 0
        ? 'Nothing is red'
        : `${rest === 1 ? 'One other default branch is' : `The other ${rest} default branches are`} green`
    }. <a href="/insights/health">${rest === 1 ? 'Show it' : 'Show them'}</a></p>`;
  return html`<section class="panel" aria-labelledby="red"><header><h2 id="red">Red now</h2><span
    class="meta">last 24 hours, one cut per build</span></header>${red > 0 && laneHours(now)}${foldRest(
      reasons.map((reason) => reasonPart(reason, principal, now)),
    )}${green}</section>`;
}

/** The number of reasons that a phone shows before it folds the rest. */
const SHOWN_ON_PHONE = 4;

/** Renders the reasons. The last ones are folded on a phone, and always open on a wide page. */
function foldRest(reasons: readonly Html[]): Html {
  const rest = reasons.slice(SHOWN_ON_PHONE);
  return html`${reasons.slice(0, SHOWN_ON_PHONE)}${
    rest.length > 0 &&
    html`<details class="rest"><summary class="pad">${formatCount(
      rest.length,
      'more reason',
    )}</summary>${rest}</details>`
  }`;
}

function reasonPart({ cause, lanes }: Reason, principal: Principal | null, now: number): Html {
  if (cause === null)
    return html`<section class="reason"><div class="what">${iconTile('unsure', 'Not analyzed')}<div
      class="grow"><h3>No reason is known yet</h3></div></div>${laneList(lanes, now)}</section>`;
  const { fingerprint, title, category, assignee } = cause;
  return html`<section class="reason"><div class="what">${categoryTile(category)}<div class="grow"><h3><a
    class="whole" href="${formatCauseAddress(fingerprint)}">${title === '' ? fingerprint : title}</a></h3>
    <p class="line meta">${causeState(cause)}${
      cause.owner !== null && html`<span>owned by ${cause.owner.names.join(', ')}</span>`
    }</p></div><div class="above">${
      assignee === null ? (takeForm(cause, principal, '/') ?? renderNoOwner()) : renderOwner(assignee)
    }</div></div>${laneList(lanes, now)}</section>`;
}

const CHANGES = { new: ['New', null], back: ['Back', 'amber'], fixed: ['Fixed', 'green'] } as const;

function changedPart({ changed }: Overview): Html {
  const count = (what: Change) => changed.filter((cause) => cause.what === what).length;
  const rows = changed.slice(0, ROWS).map(({ cause, what, at }) => {
    const [words, tone] = CHANGES[what];
    return html`<li>${categoryTile(cause.category)}<div class="grow"><a class="whole"
      href="${formatCauseAddress(cause.fingerprint)}">${cause.title}</a><p
        class="meta">${cause.repository}</p></div><div
      class="end">${stateMark(words, tone)}<p class="meta num">${renderTime(at)}</p></div></li>`;
  });
  return html`<section class="part" aria-labelledby="new"><h2 id="new">Since yesterday <span
    class="meta">${count('new')} new, ${count('back')} back, ${count('fixed')} fixed</span><a
    href="/causes">All causes</a></h2>${
      rows.length === 0
        ? html`<p class="meta">No cause came, came back or was fixed.</p>`
        : html`<div class="panel"><ul class="rows">${rows}</ul></div>`
    }</section>`;
}

function waitingPart({ waiting, mine, now }: Overview): Html {
  const reviews = waiting?.rows ?? [];
  const rows = [
    ...reviews.map((review) =>
      waitingRow(
        categoryTile(review.category),
        formatReviewAddress(review.id),
        review.title,
        review.pullRequest === null ? review.repository : 'Blocks a pull request',
        review.openedAt,
        now,
      ),
    ),
    ...(waiting?.questions ?? []).map(({ id, question, openedAt }) =>
      waitingRow(
        iconTile('question', 'Question'),
        formatReviewAddress(id),
        `“${question}”`,
        'An analysis waits for this',
        openedAt,
        now,
      ),
    ),
    ...mine.map((cause) =>
      waitingRow(
        categoryTile(cause.category),
        formatCauseAddress(cause.fingerprint),
        cause.title,
        cause.assignee === null ? 'You own the file' : 'Assigned to you',
        cause.lastAt,
        now,
      ),
    ),
  ].slice(0, ROWS + 1);
  return html`<section class="part" aria-labelledby="wait"><h2 id="wait">Waits for you ${
    waiting !== null && html`<a href="/review">Review</a>`
  }</h2>${
    rows.length === 0
      ? html`<p class="meta">Nothing waits for you.</p>`
      : html`<ul class="rows flush">${rows}</ul>`
  }</section>`;
}

function waitingRow(tile: Html, address: string, title: string, why: string, at: string, now: number): Html {
  return html`<li>${tile}<div class="grow"><a class="whole" href="${address}">${title}</a><p
    class="line meta"><span>${why}</span><span>${formatAge(at, now)}</span></p></div></li>`;
}

/** The maximum number of flaky tests that the overview names. */
const MAX_FLAKY = 3;

/** Renders the flakiest tests. Tests in quarantine need no attention, so they are omitted. */
function flakyPart(flaky: readonly TestFlakiness[]): Shown {
  const tests = flaky.filter(({ quarantine }) => quarantine === null).slice(0, MAX_FLAKY);
  if (tests.length === 0) return null;
  const rows = tests.map(
    (test) => html`<li><div class="grow"><a class="whole" href="${testAddress(test)}">${test.name}</a><p
      class="meta">${test.repository}, flakes ${formatOneIn(test.flakes, test.runs)}</p><p>${runStrip(
        test.name,
        test.recent.slice(-30),
      )}</p></div></li>`,
  );
  return html`<section class="part" aria-labelledby="flaky"><h2 id="flaky">Flaky, worth a look <a
    href="/tests">All</a></h2><ul class="rows flush">${rows}</ul></section>`;
}

function trustPart(checked: readonly CheckedAnswer[]): Html {
  const right = checked.filter((answer) => answer.right).length;
  const verb = right === 1 ? 'was' : 'were';
  const squares = checked.toReversed().map(
    (
      answer,
    ) => html`<a${!answer.right && html` class="wrong"`} href="${formatAnalysisAddress(answer.analysisId)}"
        title="${answer.right ? 'Right' : 'Wrong'}: ${answer.title}"><span class="seen-not">${
          answer.right ? 'Right' : 'Wrong'
        }</span></a>`,
  );
  const words =
    checked.length === 0
      ? html`<p class="meta">No answer was checked by a person in ${LATEST_DAYS} days.</p>`
      : html`<p>${
          checked.length === 1
            ? html`The one checked answer was <b>${right === 1 ? 'right' : 'wrong'}</b>.`
            : html`<b>${right} of the last ${checked.length}</b> checked answers ${verb} right.`
        }</p><p class="tally">${squares}</p>`;
  return html`<section class="part" aria-labelledby="trust"><h2 id="trust">Can you trust it? <a
    href="/insights/trust">Details</a></h2>${words}</section>`;
}
