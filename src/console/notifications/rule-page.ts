import type { Messengers } from '../../channels/channel.ts';
import { MESSAGE_CHANNELS } from '../../channels/registry.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { nameCategory } from '../../domain/category-words.ts';
import type { NotificationRule, RuleEvent, SentMessage } from '../../domain/notification-rule.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { postForm, renderHiddenFields, renderOptions } from '../controls.ts';
import { type Html, html, joinHtml } from '../html.ts';
import { banner } from '../parts/marks.ts';
import { type Fields, NEWS } from './rule-form.ts';
import { pastPart, previewPart, type ShownPreview } from './sent-messages.ts';

export const NEW_RULE = 'New notification rule';
/** The result of a form that is shown again. */
export interface Outcome {
  readonly failure?: string;
  readonly preview?: ShownPreview;
  readonly tested?: true;
}

/** The repositories and owners that the choices of a rule offer. */
interface Offered {
  readonly repositories: readonly string[];
  readonly owners: readonly string[];
}

/** The maximum number of repositories that a rule offers. */
const MOST_OFFERED = 100;

/** Reads the repositories and owners that the choices of a rule offer. */
export async function readOffered({ stores }: ConsoleDeps): Promise<Offered> {
  const [repositories, offers] = await Promise.all([
    stores.builds.repositories({ words: '' }, MOST_OFFERED),
    stores.causes.offers({ list: 'open', assignee: '' }),
  ]);
  const owners = offers.filter(({ field }) => field === 'owner').map(({ value }) => value);
  return { repositories, owners };
}

interface RulePage extends Outcome {
  readonly offered: Offered;
  readonly fields: Fields;
  readonly messengers: Messengers;
  readonly rule?: NotificationRule;
  readonly messages?: readonly SentMessage[];
  readonly events?: readonly RuleEvent[];
}

/** Renders the page of a rule: the rule as a sentence, its preview, and what it sent. */
export function ruleMain({
  offered,
  fields,
  messengers,
  rule,
  failure,
  preview,
  tested,
  messages = [],
  events = [],
}: RulePage): Html {
  const address = rule === undefined ? '/notifications/new' : `/notifications/${rule.id}`;
  return html`<div class="headline"><h1 tabindex="-1">${rule?.name ?? NEW_RULE}</h1></div>
    ${
      Object.keys(messengers).length === 0 &&
      banner(
        html`<strong>No channel is configured.</strong> Set ${joinHtml(
          MESSAGE_CHANNELS.map(({ setting }) => html`<code>${setting}</code>`),
          ' or ',
        )} and restart Faultline; see <code>docs/how-to/notifications.md</code>. A preview works without.`,
        { tone: 'amber' },
      )
    }
    ${
      failure !== undefined &&
      banner(html`<strong>Refused.</strong> ${failure}`, { tone: 'red', id: 'failure' })
    }
    ${tested && banner(html`<strong>The test message was sent.</strong>`, { tone: 'green' })}
    <div class="cols"><form class="stack" method="post" action="${address}"
    data-whole${failure !== undefined && html` aria-describedby="failure"`}>
    ${renderHiddenFields({ version: fields.version })}${formFields(fields, messengers, offered)}
    <p class="acts"><button name="act" value="preview" formnovalidate>Preview</button>
    <button class="main" name="act" value="save">Save</button>
    <button name="act" value="test">Send a test message</button>
    <a class="btn bare" href="/notifications">Cancel</a></p></form>
    ${
      preview !== undefined && html`<aside class="stack" aria-label="Preview">${previewPart(preview)}</aside>`
    }
    </div>
    ${
      rule !== undefined &&
      html`${pastPart(messages, events)}<details>
        <summary>Delete</summary>${postForm(
          address,
          { act: 'delete' },
          html`<p><button>Delete this rule</button></p>`,
        )}</details>`
    }`;
}

/** Renders the rule as one sentence of choices, then what narrows it. */
function formFields(fields: Fields, messengers: Messengers, offered: Offered): Html {
  const hours = Array.from({ length: 24 }, (_, hour) => [String(hour), formatHour(hour)] as const);
  const channels = MESSAGE_CHANNELS.filter(
    ({ name }) => messengers[name] !== undefined || name === fields.channel,
  );
  const names = Object.values(messengers).flatMap(({ destinations }) => destinations ?? []);
  const choice = (name: keyof Fields, label: string, options: Parameters<typeof renderOptions>[0]) =>
    html`<select name="${name}" aria-label="${label}">${renderOptions(options, fields[name])}</select>`;
  const box = (name: 'byOwner' | 'mention' | 'enabled', words: string) =>
    html`<label><input type="checkbox" name="${name}" value="on"${fields[name] === 'on' && html` checked`}>
      ${words}</label>`;
  return html`<div class="panel pad sentence">When ${choice('news', 'What happens', NEWS)} in
    <input name="repository" aria-label="Repository"
    maxlength="300" value="${fields.repository}" list="repositories" placeholder="any repository">, of
    ${choice('category', 'Category', [
      ['', 'any category'],
      ...CATEGORIES.map((category) => [category, nameCategory(category)] as const),
    ])} and <input name="owner" aria-label="Owner"
    maxlength="300" value="${fields.owner}" list="owners-known" placeholder="any owner">, tell ${choice(
      'channel',
      'Channel',
      channels.length === 0 ? [['', 'a channel']] : channels.map(({ name, label }) => [name, label]),
    )} <input name="destination" aria-label="Destination" required maxlength="500"
    value="${fields.destination}" list="destinations"
    placeholder="C0123456789 or an address">
    ${choice('when', 'When', [
      ['', 'at once'],
      ...hours.map(([hour, words]) => [hour, `daily at ${words}`] as const),
    ])}, at most every <input name="everyMinutes" aria-label="Minutes between messages" type="number" min="1"
    max="1440" required value="${fields.everyMinutes}"> minutes, quiet from ${choice(
      'quietFrom',
      'Quiet from',
      [['', '–'], ...hours],
    )} to ${choice('quietTo', 'Quiet until', [['', '–'], ...hours])} in <input name="timeZone"
    aria-label="Time zone" maxlength="100" value="${fields.timeZone}" placeholder="Europe/Berlin">.</div>
    <datalist id="destinations">${names.map((name) => html`<option value="${name}">`)}</datalist>
    <datalist id="repositories">${offered.repositories.map(
      (name) => html`<option value="${name}">`,
    )}</datalist>
    <datalist id="owners-known">${offered.owners.map((name) => html`<option value="${name}">`)}</datalist>
    <details${fields.query !== '' && html` open`}><summary>More conditions</summary><label
    class="field"><span>Search that every failure must fit</span><input name="query" maxlength="500"
    value="${fields.query}" placeholder="branch:main confidence:>0.8" aria-describedby="query-help"></label>
    <p class="meta" id="query-help">The filters are those of the <a href="/search">search</a>.</p></details>
    <label class="field"><span>Name</span><input name="name" required maxlength="100" value="${fields.name}"
    placeholder="Regressions of the shop"></label>
    <p class="choices">${box('byOwner', 'To the owner’s channel, if known')}
    ${box('mention', 'Mention the owner')}${box('enabled', 'On')}</p>`;
}

/** Formats an hour of the day: "07:00". */
export function formatHour(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}
