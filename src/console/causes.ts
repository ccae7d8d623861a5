import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Cause, CauseChange, type CauseEvent, CauseList, isMuted, ownerSentence } from '../domain/cause.ts';
import { TriageError } from '../domain/errors.ts';
import { changeCause } from '../service/causes.ts';
import { reviewerOf } from '../service/review/queue.ts';
import { buildAddress, causeAddress } from './addresses.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ageOf, postForm, timeOf } from './controls.ts';
import { dataTable, type Html, html, linkTarget, type Shown } from './html.ts';
import { misreadBanner } from './http.ts';
import { mayReview, namesOf, readerOf, sendPage } from './page.ts';

const PAGE = 50;
const MOST_EVENTS = 30;

const Query = z.object({
  list: CauseList.catch('open').default('open'),
  repo: z.string().trim().max(300).catch('').default(''),
  offset: z.coerce.number().int().min(0).max(100_000).catch(0).default(0),
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
const Form = z.looseObject({ repository: name, fingerprint: name, version: z.coerce.number().int().min(1).max(2_147_483_647) });

/** `/causes`: what somebody must act on, and whose it is. `POST /causes`: what a person makes of one. */
export function registerCauses(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: { role: 'read' } } as const;
  typed.get('/causes', { config, schema: { querystring: Query } }, async (request, reply) => {
    const { list, repo, offset } = request.query;
    const reader = await readerOf(request, deps);
    const filter = { assignee: request.principal?.name ?? '', owners: namesOf(reader), ...(repo !== '' && { repository: repo }) };
    const [causes, counts] = await Promise.all([
      deps.stores.causes.list({ ...filter, list }, { limit: PAGE + 1, offset }),
      deps.stores.causes.counts(filter),
    ]);
    const main = html`<h1 tabindex="-1">Causes</h1>${misreadBanner(request, Query)}${tabs(request.query, counts)}
<form class="filters" role="search" aria-label="Causes"><input type="hidden" name="list" value="${list}"><label>Repository <input name="repo" value="${repo}"></label><button>Show</button></form>
${tableOf(causes.slice(0, PAGE), deps.clock.now())}${pages(request.query, causes.length > PAGE)}`;
    return sendPage(request, reply, { title: 'Causes', place: 'page', part: 'causes', main }, reader);
  });
  typed.post('/causes', { config: { access: { role: 'review' } }, schema: { body: Form } }, async (request, reply) => {
    const { repository, fingerprint, version, ...fields } = request.body;
    const change = CauseChange.safeParse(fields);
    if (!change.success) throw new TriageError('invalid-input', `This change is invalid: ${z.prettifyError(change.error)}`);
    await changeCause(deps, { repository, fingerprint, version, change: change.data }, reviewerOf(request));
    return reply.redirect(`${causeAddress(fingerprint)}#standing`, 303);
  });
}

function addressOf({ list, repo, offset }: Query): string {
  const search = new URLSearchParams({
    ...(list !== 'open' && { list }),
    ...(repo !== '' && { repo }),
    ...(offset > 0 && { offset: String(offset) }),
  });
  return search.size === 0 ? '/causes' : `/causes?${search}`;
}

function tabs(query: Query, counts: Readonly<Record<CauseList, number>>): Html {
  const links = CauseList.options.map(
    (list) =>
      html`<li><a href="${addressOf({ ...query, list, offset: 0 })}"${list === query.list && html` aria-current="page"`}>${NAMES[list]} <span class="count">${counts[list]}</span></a></li>`,
  );
  return html`<nav class="tabs" aria-label="Causes"><ul class="legend">${links}</ul></nav>`;
}

function pages(query: Query, more: boolean): Html {
  const { offset } = query;
  return html`<nav class="pages" aria-label="Pages">${offset > 0 && html`<a rel="prev" href="${addressOf({ ...query, offset: Math.max(0, offset - PAGE) })}">Previous</a>`}${more && html`<a rel="next" href="${addressOf({ ...query, offset: offset + PAGE })}">Next</a>`}</nav>`;
}

function tableOf(causes: readonly Cause[], now: number): Html {
  if (causes.length === 0) return html`<p role="note">No causes in this list.</p>`;
  const rows = causes.map(
    (cause) => html`<tr><td>${stateWord(cause, now)}</td>
<td><a href="${causeAddress(cause.fingerprint)}#standing">${cause.title === '' ? cause.fingerprint : cause.title}</a><br><span class="quiet">${cause.repository} <span class="category">${cause.category}</span></span></td>
<td>${cause.assignee ?? html`<span class="quiet">unassigned</span>`}${ticketLink(cause)}</td>
<td>${cause.owner === null ? html`<span class="quiet">unknown</span>` : html`${cause.owner.names.join(', ')}<br><span class="quiet">${cause.owner.by === 'codeowners' ? 'from CODEOWNERS' : 'last changed by'}</span>`}</td>
<td class="quiet">${ageOf(cause.lastAt, now)}</td></tr>`,
  );
  return dataTable('Causes, red ones first', ['State', 'Cause', 'Assignee', 'Owner', 'Last seen'], rows, { className: 'listed' });
}

function stateWord(cause: Cause, now: number): Html {
  const red = cause.redPipelines.length > 0 && html`<br><span class="wrong">red: ${cause.redPipelines.join(', ')}</span>`;
  if (isMuted(cause, now) && cause.mutedUntil !== null)
    return html`<span class="status">muted</span> <span class="quiet">until ${cause.mutedUntil.slice(0, 10)}</span>${red}`;
  return html`<span class="status${cause.state === 'fixed' ? ' good' : cause.state === 'regressed' ? ' wrong' : ''}">${cause.state}</span>${red}`;
}

function ticketLink({ ticket }: Cause): Shown {
  const target = linkTarget(ticket);
  return target !== null && html`<br><a href="${target}" rel="noreferrer">ticket</a>`;
}

/** How a cause is in each repository, what can be made of it, and what became of it; for the cause's own page. */
export async function standingPart(
  deps: ConsoleDeps,
  fingerprint: string,
  principal: Parameters<typeof mayReview>[0] | null,
): Promise<Html> {
  const causes = await deps.stores.causes.ofFingerprint(fingerprint);
  const acts = principal !== null && mayReview(principal);
  const parts = await Promise.all(
    causes.map(async (cause) => {
      const events = await deps.stores.causes.events(cause, MOST_EVENTS);
      return html`<section class="card" aria-label="${cause.repository}"><h3>${cause.repository}</h3><p>${stateWord(cause, deps.clock.now())} · ${cause.assignee === null ? 'unassigned' : html`assigned to <strong>${cause.assignee}</strong>`}${cause.owner !== null && html` · owner: ${ownerSentence(cause.owner)}`}${ticketLink(cause)}</p>
${acts && actsOn(cause, principal.name, deps.clock.now())}${events.length > 0 && html`<details><summary>History (${events.length})</summary><ol class="past">${events.map(eventRow)}</ol></details>`}</section>`;
    }),
  );
  return html`<h2 id="standing">State and assignee</h2>${parts}`;
}

function actsOn(cause: Cause, self: string, now: number): Html {
  const { repository, fingerprint, version, state, assignee, owner } = cause;
  const act = (what: string, words: string, fields: Readonly<Record<string, string>> = {}) =>
    postForm('/causes', { repository, fingerprint, version, what, ...fields }, html`<button>${words}</button>`);
  const asked = (what: string, field: Html, words: string) =>
    postForm('/causes', { repository, fingerprint, version, what }, html`<label>${field}</label> <button>${words}</button>`);
  return html`<div class="acts">${(state === 'new' || state === 'regressed') && act('acknowledged', 'Acknowledge')}
${assignee !== self && act('assigned', 'Assign to me', { assignee: self })}${assignee !== null && act('unassigned', 'Unassign')}
${state === 'fixed' ? act('reopened', 'Open again') : act('fixed', 'Mark as fixed')}${isMuted(cause, now) ? act('unmuted', 'Unmute') : act('muted', 'Mute for a week', { days: '7' })}</div>
<div class="acts">${asked('assigned', html`Assign to <input name="assignee" required maxlength="100" value="${assignee === null ? owner?.names[0]?.slice(0, 100) : null}">`, 'Assign')}${asked('muted', html`Mute for days <input name="days" type="number" min="1" max="365" required>`, 'Mute')}
${asked('linked', html`Ticket <input name="ticket" type="url" required maxlength="500" value="${cause.ticket}">`, 'Link')}</div>`;
}

function eventRow({ at, by, what, detail, buildId }: CauseEvent): Html {
  const said: Readonly<Record<string, string>> = {
    assigned: `assigned to ${detail}`,
    muted: `muted until ${detail}`,
    linked: `linked to ${detail}`,
  };
  const proof = buildId !== null && html` <a href="${buildAddress(buildId)}">build</a>`;
  return html`<li>${timeOf(at)} ${by ?? 'builds'}: ${said[what] ?? what}${proof}</li>`;
}
