import { type Cause, type CauseEvent, isMuted } from '../../domain/cause.ts';
import type { Principal } from '../../domain/review.ts';
import { buildAddress } from '../addresses.ts';
import { postForm, renderTime } from '../controls.ts';
import { type Html, html, linkTarget, type Shown } from '../html.ts';
import { type Icon, icon } from '../parts/icons.ts';
import { renderNoOwner, renderOwner } from '../parts/marks.ts';
import { causeStates, takeForm } from './states.ts';

/** Renders who acts on a cause in a repository, what they can do, and what became of it. */
export function actsPart(
  cause: Cause,
  events: readonly CauseEvent[],
  principal: Principal | null,
  { acts, several, now }: { readonly acts: boolean; readonly several: boolean; readonly now: number },
): Html {
  const { assignee, owner } = cause;
  const self = principal?.name ?? '';
  const source =
    owner !== null &&
    html`<span class="meta">${
      owner.by === 'codeowners' ? `from ${owner.at ?? 'CODEOWNERS'}` : `last changed ${owner.path}`
    }</span>`;
  const ticket = linkTarget(cause.ticket);
  return html`<section class="part" aria-label="${cause.repository}">
    <h3>${cause.repository}</h3>${several && html`<p class="line">${causeStates(cause, now)}</p>`}
    <dl class="kv"><dt>Assignee</dt><dd>${assignee === null ? renderNoOwner() : renderOwner(assignee)}</dd>
    <dt>Owner</dt><dd>${
      owner === null ? renderNoOwner('No known owner') : html`${owner.names.map(renderOwner)} ${source}`
    }</dd>${
      ticket !== null && html`<dt>Ticket</dt><dd><a href="${ticket}" rel="noreferrer">ticket</a></dd>`
    }</dl>
    ${acts && html`${undoForm(cause, events, self)}${actsOn(cause, principal, now)}`}
    ${
      events.length > 0 &&
      html`<details${events.length < 6 && html` open`}><summary>History (${events.length})</summary>
        <ol class="story past">${events.map(eventRow)}</ol></details>`
    }</section>`;
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

function actsOn(cause: Cause, principal: Principal | null, now: number): Html {
  const { repository, fingerprint, version, state, assignee, owner } = cause;
  const fields = { repository, fingerprint, version };
  const act = (what: string, words: string) =>
    postForm('/causes', { ...fields, what }, html`<button>${words}</button>`);
  const asked = (what: string, field: Html, words: string) =>
    postForm(
      '/causes',
      { ...fields, what },
      html`<div class="filters">${field}<button>${words}</button></div>`,
    );
  const suggested = assignee === null ? owner?.names[0]?.slice(0, 100) : undefined;
  return html`<div class="acts">${assignee !== principal?.name && takeForm(cause, principal)}${
    assignee !== null && act('unassigned', 'Unassign')
  }${(state === 'new' || state === 'regressed') && act('acknowledged', 'Acknowledge')}${
    state === 'fixed' ? act('reopened', 'Open again') : act('fixed', 'Mark as fixed')
  }${isMuted(cause, now) && act('unmuted', 'Unmute')}</div>
    <details class="flow"><summary>Assign, mute or link</summary>${asked(
      'assigned',
      html`<label>Assign to <input name="assignee" required maxlength="100" value="${suggested}"></label>`,
      'Assign',
    )}${asked(
      'muted',
      html`<label>Mute for days <input name="days" type="number" min="1" max="365" value="7" required></label>
        <label>because <input name="reason" required maxlength="500"></label>`,
      'Mute',
    )}${asked(
      'linked',
      html`<label>Ticket <input name="ticket" type="url" required maxlength="500" value="${cause.ticket}"></label>`,
      'Link',
    )}${cause.ticket !== null && act('unlinked', 'Unlink the ticket')}</details>`;
}

/** The icon of each event in the history. */
const SIGNS: Readonly<Record<string, Icon>> = {
  new: 'dots',
  regressed: 'cross',
  fixed: 'check',
  acknowledged: 'eye',
  assigned: 'me',
  muted: 'mute',
  linked: 'link',
};

function eventRow(event: CauseEvent): Html {
  const { at, by, buildId } = event;
  const proof = buildId !== null && html` <a href="${buildAddress(buildId)}">build</a>`;
  return html`<li>${icon(SIGNS[event.what] ?? 'dots')}${by ?? 'builds'}: ${eventWords(event)}${proof}<p
    class="meta">${renderTime(at)}</p></li>`;
}

function eventWords({ what, detail }: CauseEvent): string {
  const said: Readonly<Record<string, string>> = {
    assigned: `assigned to ${detail}`,
    muted: `muted until ${detail}`,
    linked: `linked to ${detail}`,
  };
  return said[what] ?? what;
}
