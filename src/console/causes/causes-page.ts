import { z } from 'zod';
import { type Cause, CauseChange, CauseList } from '../../domain/cause.ts';
import { readInput } from '../../domain/errors.ts';
import type { Principal } from '../../domain/review.ts';
import { counted } from '../../lib/text.ts';
import { changeCause } from '../../service/causes.ts';
import { requireReviewer } from '../../service/review/queue.ts';
import { causeAddress, search } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { formatAge, hiddenFields, pager, tabs } from '../controls.ts';
import { dataTable, type Html, html, linkTarget } from '../html.ts';
import { misreadBanner, Offset, Words } from '../http.ts';
import { type ConsoleApp, listReaderNames, loadReader, route, sendPage } from '../page.ts';
import { categoryTile, renderNoOwner, renderOwner } from '../parts/marks.ts';
import { causeStates, takeForm } from './states.ts';

const PAGE = 50;

const Query = z.object({
  list: CauseList.catch('open').default('open'),
  repo: Words,
  offset: Offset,
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

const name = z.string().min(1).max(300);
const Form = z.looseObject({
  repository: name,
  fingerprint: name,
  version: z.coerce.number().int().min(1).max(2_147_483_647),
  /** The page that the person came from; absent: the page of the cause. */
  back: z.enum(['/', '/causes']).optional(),
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
    const top = html`<h1 tabindex="-1">Causes</h1>${lists(request.query, counts)}`;
    const shown = causes.slice(0, PAGE);
    const main = html`${misreadBanner(request, Query)}<div class="headline" id="finding"
      data-live>${finding(counts)}</div>${filters(request.query, shown)}
      <div id="causes" data-live="cause">${renderTable(shown, request.query, request.principal, deps.clock.now())}</div>${pager(
        { offset, size: PAGE, more: causes.length > PAGE },
        (at) => getListAddress({ ...request.query, offset: at }),
        ['Previous', 'Next'],
      )}`;
    return sendPage(request, reply, { title: 'Causes', part: 'causes', top, live: {}, main }, reader);
  });
  app.post('/causes', route('review', { body: Form }), async (request, reply) => {
    const { repository, fingerprint, version, back, ...fields } = request.body;
    const change = readInput('This change', CauseChange, fields);
    await changeCause(deps, { repository, fingerprint, version, change }, requireReviewer(request));
    if (back !== undefined) return reply.redirect(back, 303);
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

/** Says what is most worth knowing about the open causes. */
function finding({ open, red, unassigned }: Readonly<Record<CauseList, number>>): Html {
  if (open === 0) return html`<h2>No cause is open</h2>`;
  const free = unassigned === 0 ? '' : `, ${unassigned} unassigned`;
  return red === 0
    ? html`<h2>${counted(open, 'open cause')}, none of them red on a default branch${free}</h2>`
    : html`<h2>${red} of ${counted(open, 'open cause')} ${red === 1 ? 'is' : 'are'} red on a default branch${free}</h2>`;
}

function filters({ list, repo }: Query, causes: readonly Cause[]): Html {
  const repositories = [...new Set(causes.map(({ repository }) => repository))];
  return html`<form class="filters" role="search" aria-label="Causes">${hiddenFields({ list })}<label>Repository
    <input name="repo" value="${repo}" list="repositories" placeholder="owner/name"></label><datalist
    id="repositories">${repositories.map((name) => html`<option>${name}</option>`)}</datalist>
    <button>Show</button>${
      repo !== '' &&
      html`<a class="btn" href="${getListAddress({ list, repo: '', offset: 0 })}">All repositories</a>`
    }</form>`;
}

function renderTable(causes: readonly Cause[], query: Query, principal: Principal | null, now: number): Html {
  if (causes.length === 0)
    return html`<p role="note">${
      query.repo === '' ? 'No causes in this list.' : `No causes of ${query.repo} in this list.`
    }</p>`;
  const rows = causes.map((cause) => causeRow(cause, principal, now));
  const ownerless = causes.every(({ owner }) => owner === null);
  return html`${dataTable('Causes, red ones first', ['Cause', 'State', 'Who', 'Owner', 'Last seen'], rows, {
    className: 'fold',
  })}${
    ownerless &&
    html`<p class="meta">Owners come from CODEOWNERS, or from the last change of the file, if Faultline can
      read the code: see <code>docs/how-to/owners.md</code>.</p>`
  }`;
}

function causeRow(cause: Cause, principal: Principal | null, now: number): Html {
  const { fingerprint, repository, title, category, assignee, owner, lastAt } = cause;
  const ticket = linkTarget(cause.ticket);
  const source = owner?.by === 'codeowners' ? 'from CODEOWNERS' : 'last changed by';
  return html`<tr id="${encodeURIComponent(`${fingerprint} ${repository}`)}" data-row><th scope="row"><span
    class="row">${categoryTile(category)}<span class="grow"><a class="whole"
    href="${causeAddress(fingerprint)}">${title === '' ? fingerprint : title}</a><br><span
    class="meta">${repository}</span></span></span></th><td>${causeStates(cause, now)}</td><td><span
    class="above">${assignee === null ? (takeForm(cause, principal, '/causes') ?? renderNoOwner()) : renderOwner(assignee)}${
      ticket !== null && html` <a href="${ticket}" rel="noreferrer">ticket</a>`
    }</span></td><td>${
      owner === null
        ? renderNoOwner('No known owner')
        : html`${owner.names.map(renderOwner)}<br><span class="meta">${source}</span>`
    }</td><td class="num quiet">${formatAge(lastAt, now)} ago</td></tr>`;
}
