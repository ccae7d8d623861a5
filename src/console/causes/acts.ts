import { type Cause, type CauseEvent, isMuted } from '../../domain/cause.ts';
import type { Principal } from '../../domain/review.ts';
import { buildAddress, formatCauseAddress } from '../addresses.ts';
import { postForm, renderTime } from '../controls.ts';
import { type Html, html, linkTarget, type Shown } from '../html.ts';
import { type Icon, icon } from '../parts/icons.ts';
import { renderNoOwner, renderOwner } from '../parts/marks.ts';
import { personField } from './bulk.ts';
import { causeStates, takeForm } from './states.ts';

interface ActOptions {
  readonly acts: boolean;
  /** True if the cause occurs in several repositories. */
  readonly several: boolean;
  readonly now: number;
  /** The people and teams to whom it may be assigned. */
  readonly people: readonly string[];
  /** Causes that are merged into it. */
  readonly merged: readonly Cause[];
  /** Causes of the repository into which it may be merged. */
  readonly others: readonly Cause[];
}

/** Renders the assignee of a cause in a repository, the possible actions, and its history. */
export function actsPart(
  cause: Cause,
  events: readonly CauseEvent[],
  principal: Principal | null,
  options: ActOptions,
): Html {
  const { acts, several, now, merged } = options;
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
    ${mergedPart(merged, acts)}${acts && html`${undoLast(cause, events, self)}${actForms(cause, principal, options)}`}
    ${
      events.length > 0 &&
      html`<details${events.length < 6 && html` open`}><summary>History (${events.length})</summary>
        <ol class="story past">${events.map(eventRow)}</ol></details>`
    }</section>`;
}

/** Renders the button that undoes this person's last change, if nothing else has changed the cause since. */
function undoLast({ fingerprint }: Cause, [last]: readonly CauseEvent[], self: string): Shown {
  if (last === undefined || last.by !== self || !last.canUndo) return null;
  return postForm(
    '/causes/undo',
    { at: last.at, back: `${formatCauseAddress(fingerprint)}#standing` },
    html`<button>Undo: ${describeEvent(last)}</button>`,
  );
}

function actForms(cause: Cause, principal: Principal | null, { now, people, others }: ActOptions): Html {
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
    state === 'fixed'
      ? act('reopened', 'Open again')
      : html`${act('fixed', 'Mark as fixed')}${act('fixed-in-next-build', 'Fixed from the next build')}`
  }${isMuted(cause, now) && act('unmuted', 'Unmute')}</div>
    <details class="flow"><summary>Assign, mute, link or merge</summary>${asked(
      'assigned',
      personField(
        [...new Set(suggested === undefined ? people : [suggested, ...people])],
        true,
        suggested ?? '',
      ),
      'Assign',
    )}${asked(
      'muted',
      html`<label>Mute for days <input name="days" type="number" min="1" max="365" placeholder="7"></label>
        <label>or until seen again <input name="occurrences" type="number" min="1" max="10000"> times</label>
        <label>because <input name="reason" required maxlength="500"></label>`,
      'Mute',
    )}<p class="meta">Muting keeps this cause out of the open causes and out of notifications until the day
      you choose.</p>${asked(
        'linked',
        html`<label>Ticket <input name="ticket" type="url" required maxlength="500"
        value="${cause.ticket}"></label>`,
        'Link',
      )}${cause.ticket !== null && act('unlinked', 'Unlink the ticket')}${
        others.length > 0 &&
        asked(
          'merged',
          html`<label>Same as <select name="into" required>${others.map(
            (other) =>
              html`<option value="${other.fingerprint}">${
                other.title === '' ? other.fingerprint : other.title
              }</option>`,
          )}</select></label>`,
          'Merge into it',
        )
      }</details>`;
}

/** Renders the causes that are merged into this one, each with a button that separates it. */
function mergedPart(merged: readonly Cause[], acts: boolean): Shown {
  if (merged.length === 0) return null;
  const rows = merged.map(
    ({ repository, fingerprint, version, title }) =>
      html`<li>${title === '' ? fingerprint : title} ${
        acts &&
        postForm(
          '/causes',
          { repository, fingerprint, version, what: 'unmerged' },
          html`<button class="bare">Unmerge</button>`,
        )
      }</li>`,
  );
  return html`<p class="meta">Merged into it:</p><ul class="flow">${rows}</ul>`;
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
  merged: 'link',
  undone: 'history',
};

function eventRow(event: CauseEvent): Html {
  const { at, by, buildId } = event;
  const proof = buildId !== null && html` <a href="${buildAddress(buildId)}">build</a>`;
  return html`<li>${icon(SIGNS[event.what] ?? 'dots')}${by ?? 'builds'}: ${describeEvent(event)}${proof}<p
    class="meta">${renderTime(at)}</p></li>`;
}

function describeEvent({ what, detail }: CauseEvent): string {
  const sentences: Readonly<Record<string, string>> = {
    assigned: `assigned to ${detail}`,
    muted: `muted until ${detail}`,
    linked: `linked to ${detail}`,
    merged: 'merged into another cause',
    unmerged: 'made a cause of its own again',
    'fixed-in-next-build': 'fixed from the next build',
    undone: `took back: ${detail}`,
  };
  return sentences[what] ?? what;
}
