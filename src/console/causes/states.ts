import { type Cause, isMuted } from '../../domain/cause.ts';
import { holds, type Principal } from '../../domain/review.ts';
import { formatDay, postForm } from '../controls.ts';
import { type Html, html, type Shown } from '../html.ts';
import { stateMark } from '../parts/marks.ts';

/** Renders the state of a cause as a label. */
export function causeState({ state, fixedFrom }: Pick<Cause, 'state' | 'fixedFrom'>): Html {
  if (state === 'regressed') return stateMark('Back', 'amber');
  if (state === 'fixed')
    return stateMark(fixedFrom === null ? 'Fixed' : 'Fixed from the next build', 'green', 'check');
  const words = { new: 'New', acknowledged: 'Acknowledged', assigned: 'Assigned' };
  return stateMark(words[state]);
}

/** Renders the current states of a cause: its state, whether it is red, and whether it is muted. */
export function causeStates(cause: Cause, now: number): Html {
  const red = cause.redPipelines.length;
  const mark = red > 0 && stateMark(red === 1 ? 'Red now' : `Red in ${red} pipelines`, 'red', 'cross');
  const state = isMuted(cause, now) ? stateMark(describeMute(cause), null, 'mute') : causeState(cause);
  return html`${mark} ${state}`;
}

function describeMute({ mutedUntil, mutedLeft }: Cause): string {
  if (mutedLeft !== null)
    return `Muted until seen ${mutedLeft === 1 ? 'once more' : `${mutedLeft} times more`}`;
  return mutedUntil === null ? 'Muted' : `Muted until ${formatDay(mutedUntil)}`;
}

/**
 * Renders the button with which a reviewer takes a cause. `back` is the current page, unless it is the
 * cause's own page.
 */
export function takeForm(
  { repository, fingerprint, version }: Cause,
  principal: Principal | null,
  back?: string,
): Shown {
  if (principal === null || !holds(principal, 'review')) return null;
  const fields = { repository, fingerprint, version, what: 'assigned', assignee: principal.name, back };
  return postForm('/causes', fields, html`<button data-action="take">Take it</button>`);
}
