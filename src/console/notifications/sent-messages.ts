import { labelChannel } from '../../channels/registry.ts';
import type { RuleEvent, SentMessage } from '../../domain/notification-rule.ts';
import { formatCount } from '../../lib/text.ts';
import type { RulePreview } from '../../service/notification-rules.ts';
import { formatAnalysisAddress } from '../addresses.ts';
import { renderTime } from '../controls.ts';
import { dataTable, type Html, html } from '../html.ts';
import { stateMark } from '../parts/marks.ts';

export function previewPart({ days, messages, isPart, list }: RulePreview): Html {
  const renderCause = ({
    title,
    repository,
    state,
    analysisId,
  }: RulePreview['list'][number]['causes'][number]) =>
    html`${state !== null && html`${stateMark(state)} `}<a
      href="${formatAnalysisAddress(analysisId)}">${title}</a> <span class="quiet">${repository}</span><br>`;
  const rows = list.map(
    ({ at, channel, destination, causes, more }) => html`<tr><td>${renderTime(at)}</td>
      <td>${causes.map(renderCause)}${more > 0 && html`<span class="quiet">and ${more} more</span>`}</td>
      <td>${
        destination === ''
          ? html`<span class="quiet">no destination yet</span>`
          : html`${labelChannel(channel)} <span class="quiet">${destination}</span>`
      }</td></tr>`,
  );
  return html`<div class="banner" id="preview">
    <p><strong>This rule would have sent ${messages === 0 ? 'no message' : formatCount(messages, 'message')}
    in the last ${days} days.</strong>${isPart && ' Only the newest failures were looked at.'}</p></div>
    ${
      rows.length > 0 &&
      dataTable('Messages it would have sent, newest first', ['Time (UTC)', 'Causes', 'Goes to'], rows, {
        className: 'wide',
      })
    }${messages > list.length && html`<p class="quiet">The newest ${list.length} are shown.</p>`}`;
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

/** Renders the changes of a rule: the person and the earlier values. */
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
