import { labelChannel } from '../../channels/registry.ts';
import { listDays } from '../../domain/insights.ts';
import type { RuleEvent, SentMessage } from '../../domain/notification-rule.ts';
import { formatCount } from '../../lib/text.ts';
import type { RulePreview } from '../../service/notification-rules.ts';
import { formatAnalysisAddress } from '../addresses.ts';
import { dayBars } from '../charts/day-bars.ts';
import { renderTime } from '../controls.ts';
import { dataTable, type Html, html } from '../html.ts';
import { stateMark } from '../parts/marks.ts';

/** A preview, and the time when it was created, in milliseconds since 1970. */
export interface ShownPreview extends RulePreview {
  readonly now: number;
}

/** Renders the messages that a rule would have sent: their number, their days, and the newest ones. */
export function previewPart({ days, messages, isPart, list, now }: ShownPreview): Html {
  const dates = listDays({ until: new Date(now).toISOString(), days });
  const counts = dates.map((day) => list.filter(({ at }) => at.startsWith(day)).length);
  const isWhole = messages === list.length && messages > 0;
  return html`<section class="part" aria-labelledby="preview"><h2 id="preview">It would have sent ${
    messages === 0 ? 'no message' : formatCount(messages, 'message')
  } in the last ${days} days</h2>${isWhole && dayBars('Messages', dates, counts, false)}${
    isPart && html`<p class="meta">Only the newest failures were looked at.</p>`
  }</section>${
    list.length > 0 &&
    html`<section class="part" aria-labelledby="newest"><h2 id="newest">${
      list.length === 1 ? 'The message' : `The newest ${list.length}`
    }</h2><ul class="rows flush">${list.map(messageRow)}</ul></section>`
  }`;
}

function messageRow({ at, channel, destination, causes, more }: RulePreview['list'][number]): Html {
  const lines = causes.map(
    ({ title, repository, state, analysisId }) =>
      html`<p><a href="${formatAnalysisAddress(analysisId)}">${title}</a><br><span
        class="meta">${repository}</span>${state !== null && html` ${stateMark(state)}`}</p>`,
  );
  const target = destination === '' ? 'no destination yet' : `${labelChannel(channel)} ${destination}`;
  return html`<li><div class="grow">${lines}${more > 0 && html`<p class="meta">and ${more} more</p>`}<p
    class="meta">${renderTime(at)}, ${target}</p></div></li>`;
}

export function pastPart(messages: readonly SentMessage[], events: readonly RuleEvent[]): Html {
  const outcomes = {
    done: 'sent',
    skipped: 'nothing to say',
    superseded: 'superseded',
    failed: 'failed',
  } as const;
  const rows = messages.map(
    ({ at, target, outcome, error, answers }) =>
      html`<tr><td>${renderTime(at)}</td><td>${target}</td><td>${formatCount(answers, 'answer')}</td>
        <td>${outcome === null ? 'pending' : outcomes[outcome]}${
          error !== null &&
          html`<br><span class="${outcome === 'failed' ? 'is-red' : 'quiet'}">${error}</span>`
        }</td></tr>`,
  );
  return html`<h2>Messages</h2>${
    rows.length === 0
      ? html`<p class="quiet">None yet.</p>`
      : dataTable('Latest messages', ['Time (UTC)', 'Goes to', 'Answers', 'State'], rows, {
          className: 'wide',
        })
  }${historyPart(events)}`;
}

/** Renders the history of a rule: who changed it, and the earlier values. */
export function historyPart(events: readonly RuleEvent[]): Html {
  const isPrintable = (value: unknown) => value !== null && value !== '' && typeof value !== 'object';
  const formatDetail = (detail: RuleEvent['detail']) =>
    SHOWN_FIELDS.flatMap((name) => (isPrintable(detail[name]) ? [String(detail[name])] : [])).join(' · ');
  const items = events.map(
    ({ at, by, what, detail }) =>
      html`<li>${renderTime(at)} ${by}: ${what} <span class="quiet">${formatDetail(detail)}</span></li>`,
  );
  return html`<details><summary>History (${events.length})</summary><ol class="past">${items}</ol></details>`;
}

const SHOWN_FIELDS = [
  'query',
  'channel',
  'destination',
  'owner',
  'slack',
  'slackMention',
  'teams',
  'teamsMention',
  'email',
] as const;
