import { z } from 'zod';
import { Category } from '../../domain/category.ts';
import { type Cause, CauseList, MAX_COUNTED_FIXED } from '../../domain/cause.ts';
import type { Offer } from '../../domain/offers.ts';
import type { Principal } from '../../domain/review.ts';
import { sumNumbers } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import type { CauseFilter } from '../../stores/causes.ts';
import { formatCauseAddress, search } from '../addresses.ts';
import { sparkline } from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { formatAge, pager, tabs } from '../controls.ts';
import {
  applyTypedFilter,
  BRANCH_ELSEWHERE,
  CATEGORY_FIELD,
  DAYS_FIELD,
  type FilterField,
  type Filtering,
  filterBar,
  REPOSITORY_FIELD,
  unknownFilter,
} from '../filters.ts';
import { createNumberColumns, dataTable, type Html, html, linkTarget, type Shown } from '../html.ts';
import { misreadBanner, Offset, Words } from '../http.ts';
import { type CsvColumns, readWhole, renderCsvLink, sendCsv, toCsvTable } from '../lists-as-csv.ts';
import {
  type ConsoleApp,
  listReaderNames,
  loadReader,
  mayReview,
  type Reader,
  route,
  sendPage,
} from '../page.ts';
import { categoryTile, renderNoOwner, renderOwner } from '../parts/marks.ts';
import { computeScopeStart, ScopeFields } from '../scope.ts';
import { bulkForm, pickBox } from './bulk.ts';
import { registerCauseChanges } from './change-routes.ts';
import { DoneFields, describeDone, undoForm } from './done.ts';
import { causeStates, takeForm } from './states.ts';

const PAGE = 50;
/** The number of days in the charts of failed builds. */
const DAYS = 30;

const Query = z.object({
  list: CauseList.catch('open').default('open'),
  ...ScopeFields,
  category: Category.optional().catch(undefined),
  owner: Words,
  assignee: Words,
  words: Words,
  /** The text that was typed into the field of filters. */
  filter: Words,
  offset: Offset,
  csv: z.literal('1').optional().catch(undefined),
  ...DoneFields,
});
type Query = z.infer<typeof Query>;

const NAMES: Readonly<Record<CauseList, string>> = {
  open: 'Open',
  red: 'Red',
  mine: 'Mine',
  unassigned: 'Unassigned',
  muted: 'Muted',
  fixed: 'Fixed',
};

const FIELDS: readonly FilterField[] = [
  REPOSITORY_FIELD,
  CATEGORY_FIELD,
  { name: 'owner', label: 'Owner', offered: 'owner' },
  { name: 'assignee', label: 'Assignee', offered: 'assignee' },
  DAYS_FIELD,
  { name: 'words', label: 'Words', takes: /\S/ },
  BRANCH_ELSEWHERE,
];

/**
 * Registers `/causes`, the causes that need action, with their owners. `POST /causes` changes the state of
 * one cause, `POST /causes/bulk` of several.
 */
export function registerCauses(app: ConsoleApp, deps: ConsoleDeps): void {
  const { causes } = deps.stores;
  app.get('/causes', route('read', { querystring: Query }), async (request, reply) => {
    const { query } = request;
    const reader = await loadReader(request, deps);
    const filter = toFilter(query, reader, deps.clock.now());
    if (query.csv !== undefined)
      return sendCsv(
        reply,
        'causes',
        toCsvTable(CSV_COLUMNS, await readWhole((page) => causes.list(filter, page))),
      );
    const [found, counts, offers] = await Promise.all([
      causes.list(filter, { limit: PAGE + 1, offset: query.offset }),
      causes.counts(filter),
      causes.offers(filter),
    ]);
    const filtering = { path: '/causes', query: toAddress(query), fields: FIELDS, offers };
    const filtered = applyTypedFilter(reply, query.filter, filtering);
    if (filtered !== undefined) return filtered;
    const pageCauses = found.slice(0, PAGE);
    const until = new Date(deps.clock.now()).toISOString();
    const perDay = await causes.countPerDay({ causes: pageCauses, until, days: DAYS });
    const view = { query, filtering, shown: pageCauses, perDay, more: found.length > PAGE, counts };
    const main = html`${misreadBanner(request, Query)}${renderMain(view, reader, deps.clock.now())}`;
    const top = html`<h1 tabindex="-1">Causes</h1>${lists(query, counts)}`;
    const page = { title: 'Causes', part: 'causes', place: 'queue', top, live: {}, main } as const;
    const done = describeDone(query);
    const undo = undoForm(query, listAddress({ ...query, at: undefined }));
    return sendPage(request, reply, { ...page, scope: query, ...(done && { said: done, undo }) }, reader);
  });
  registerCauseChanges(app, deps);
}

function toFilter(query: Query, reader: Reader, now: number): CauseFilter {
  const { list, repo, category, owner, assignee, days, words } = query;
  return {
    list,
    assignee: reader.principal?.name ?? '',
    owners: listReaderNames(reader),
    ...(repo !== '' && { repository: repo }),
    ...(category !== undefined && { category }),
    ...(owner !== '' && { owner }),
    ...(assignee !== '' && { assignedTo: assignee }),
    ...(words !== '' && { words }),
    ...(days !== undefined && { since: computeScopeStart(days, now) ?? '' }),
  };
}

function toAddress({ list, repo, branch, days, category, owner, assignee, words }: Query) {
  const state = list === 'open' ? undefined : list;
  return { list: state, repo, branch, days, category, owner, assignee, words };
}

function listAddress(query: Query, more: Readonly<Record<string, string | number | undefined>> = {}): string {
  return `/causes${search({ ...toAddress(query), offset: query.offset || undefined, ...more })}`;
}

interface View {
  readonly query: Query;
  readonly filtering: Filtering;
  readonly shown: readonly Cause[];
  /** The number of failed builds per day for each shown cause, oldest first. */
  readonly perDay: readonly (readonly number[])[];
  readonly more: boolean;
  readonly counts: Readonly<Record<CauseList, number>>;
}

function renderMain(view: View, reader: Reader, now: number): Html {
  const { query, filtering, shown, more, counts } = view;
  const { principal } = reader;
  const acts = mayReview(principal);
  return html`<div class="headline" id="finding" data-live>${finding(
    query.list,
    counts,
  )}</div>${unknownFilter(query.filter)}${filterBar('Causes', filtering)}${
    acts && shown.length > 0 && bulkForm(listAddress(query), shown, listPeople(filtering.offers, reader))
  }<div id="causes" data-live="cause">${renderTable(view, principal, now)}</div>${pager(
    { offset: query.offset, size: PAGE, more },
    (at) => listAddress({ ...query, offset: at }),
    ['Previous', 'Next'],
  )}${shown.length > 0 && renderCsvLink(listAddress({ ...query, offset: 0 }, { csv: '1' }))}`;
}

/** Lists the people and teams to whom a cause may be assigned: the reader, owners, and current assignees. */
export function listPeople(offers: readonly Offer[], { principal }: Reader): string[] {
  const known = offers.filter(({ field }) => field === 'owner' || field === 'assignee');
  return [...new Set([...(principal === null ? [] : [principal.name]), ...known.map(({ value }) => value)])];
}

const CSV_COLUMNS: CsvColumns<Cause> = {
  title: (cause) => cause.title,
  repository: (cause) => cause.repository,
  category: (cause) => cause.category,
  state: (cause) => cause.state,
  red_pipelines: (cause) => cause.redPipelines.join(' '),
  assignee: (cause) => cause.assignee,
  owner: (cause) => cause.owner?.names.join(' ') ?? null,
  muted_until: (cause) => cause.mutedUntil,
  ticket: (cause) => cause.ticket,
  first_seen: (cause) => cause.firstAt,
  last_seen: (cause) => cause.lastAt,
  fingerprint: (cause) => cause.fingerprint,
};

function lists(query: Query, counts: Readonly<Record<CauseList, number>>): Html {
  const links = CauseList.options.map((list) => {
    const words = html`${NAMES[list]} <span class="count">${formatCounted(list, counts)}</span>`;
    return { address: listAddress({ ...query, list, offset: 0 }), words, isHere: list === query.list };
  });
  return tabs('Causes', links, html` id="lists" data-live`);
}

/** Formats the number of causes of a list: "12", or "1,000+" if more fixed ones are not counted. */
function formatCounted(list: CauseList, counts: Readonly<Record<CauseList, number>>): string {
  const more = list === 'fixed' && counts.fixed >= MAX_COUNTED_FIXED ? '+' : '';
  return `${formatNumber(counts[list])}${more}`;
}

/** Renders the most important fact about the causes of a list. */
function finding(list: CauseList, counts: Readonly<Record<CauseList, number>>): Html {
  if (list === 'open') return openFinding(counts);
  const count = counts[list];
  const [one, several] = FINDINGS[list];
  return html`<h2>${
    count === 0
      ? `No cause ${one}`
      : count === 1
        ? `1 cause ${one}`
        : `${formatCounted(list, counts)} causes ${several}`
  }</h2>`;
}

const FINDINGS: Readonly<Record<Exclude<CauseList, 'open'>, readonly [one: string, several: string]>> = {
  mine: ['is yours', 'are yours'],
  unassigned: ['has no assignee', 'have no assignee'],
  red: ['is red on a default branch', 'are red on a default branch'],
  muted: ['is muted', 'are muted'],
  fixed: ['is fixed', 'are fixed'],
};

function openFinding({ open, red, unassigned }: Readonly<Record<CauseList, number>>): Html {
  if (open === 0) return html`<h2>No cause is open</h2>`;
  const free = unassigned === 0 ? '' : `, ${unassigned} unassigned`;
  return red === 0
    ? html`<h2>${formatCount(open, 'open cause')}, none of them red on a default branch${free}</h2>`
    : html`<h2>${red} of ${formatCount(open, 'open cause')} ${red === 1 ? 'is' : 'are'} red on a default branch${free}</h2>`;
}

function renderTable({ shown, perDay, query }: View, principal: Principal | null, now: number): Html {
  if (shown.length === 0) return html`<div class="empty">${emptyCauses(query)}</div>`;
  const rows = groupRows(shown, perDay).map((row) => causeRow(row, query, principal, now));
  const ownerless = shown.every(({ owner }) => owner === null);
  const head = ['Cause', 'State', `${DAYS} days`, ...createNumberColumns('Builds'), 'Who', 'Last'];
  return html`${dataTable('Causes, red ones first', head, rows, { className: 'fold' })}${
    ownerless &&
    html`<p class="meta">Owners come from CODEOWNERS, or from the last change of the file, if Faultline can
      read the code: see <code>docs/how-to/owners.md</code>.</p>`
  }`;
}

/** Explains why the list is empty, and links to other lists. */
function emptyCauses(query: Query): Shown {
  const { list, words } = query;
  const filters = FIELDS.filter(({ name, isElsewhere }) => !isElsewhere && query[name as keyof Query]);
  if (filters.length > 0)
    return html`<p>No cause in this list fits ${words === '' ? 'these filters' : `“${words}”`}.</p><p><a
      class="btn"
      href="/causes${search({ list: list === 'open' ? undefined : list })}">Remove the filters</a></p>`;
  if (list === 'open')
    return html`<p>Every known cause is fixed or muted.</p><p><a class="btn"
      href="/causes?list=fixed">What was
      fixed</a> <a class="btn" href="/builds">Recent builds</a></p>`;
  return html`<p>No cause is in this list.</p><p><a class="btn" href="/causes">Open causes</a></p>`;
}

/** A row of the list: one cause, in each repository of the page in which it occurs. */
interface CauseRow {
  readonly causes: readonly [Cause, ...Cause[]];
  /** The failed builds of each day in all of these repositories. */
  readonly perDay: readonly number[];
}

/** Groups the causes of a page by their fingerprint, so that one cause is one row. */
function groupRows(causes: readonly Cause[], perDay: View['perDay']): CauseRow[] {
  const rows = new Map<string, CauseRow>();
  for (const [at, cause] of causes.entries()) {
    const [row, days] = [rows.get(cause.fingerprint), perDay[at] ?? []];
    const sums = row?.perDay.map((count, day) => count + (days[day] ?? 0)) ?? days;
    rows.set(cause.fingerprint, {
      causes: row === undefined ? [cause] : [...row.causes, cause],
      perDay: sums,
    });
  }
  return [...rows.values()];
}

/** The repositories that a row names; the rest is counted. */
const NAMED = 3;

function nameRepositories(causes: readonly Cause[]): string {
  const names = causes.slice(0, NAMED).map(({ repository }) => repository);
  const more = causes.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function causeRow(
  { causes, perDay }: CauseRow,
  query: Query,
  principal: Principal | null,
  now: number,
): Html {
  const [cause] = causes;
  const { fingerprint, repository, category } = cause;
  const title = cause.title === '' ? fingerprint : cause.title;
  const lastAt =
    causes
      .map((each) => each.lastAt)
      .toSorted()
      .at(-1) ?? cause.lastAt;
  const isOneOpen = causes.length === 1 && cause.state !== 'fixed';
  const take = isOneOpen ? takeForm(cause, principal, listAddress(query)) : null;
  const ticket = linkTarget(cause.ticket);
  return html`<tr id="${encodeURIComponent(`${fingerprint} ${repository}`)}" data-row><th scope="row"><span
    class="row">${mayReview(principal) && pickBox(causes, title)}${categoryTile(category)}<span
    class="grow"><a
      class="whole"
    href="${formatCauseAddress(fingerprint)}" data-row-link>${title}</a><br><span
    class="meta">${nameRepositories(causes)}</span></span></span></th><td>${causeStates(cause, now)}</td>
    <td>${sparkline('failed builds', perDay)}</td><td class="number">${sumNumbers(perDay)}</td><td><span
    class="row above">${whoActs(cause, take)}${
      ticket !== null && html` <a href="${ticket}" rel="noreferrer">ticket</a>`
    }</span></td><td class="num quiet">${formatAge(lastAt, now)}<span class="word"> ago</span></td></tr>`;
}

/** Renders the assignee of a cause. Without one, renders its owner and the button to take the cause. */
function whoActs({ assignee, owner }: Cause, take: Shown): Html {
  if (assignee !== null) return renderOwner(assignee);
  if (owner === null) return html`${take ?? renderNoOwner('Nobody')}`;
  const source = owner.by === 'codeowners' ? `owner by ${owner.at ?? 'CODEOWNERS'}` : 'last changed it';
  return html`<span title="${source}">${owner.names.map(renderOwner)}</span>${take}`;
}
