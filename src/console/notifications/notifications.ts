import { z } from 'zod';
import type { Messengers } from '../../channels/channel.ts';
import { labelChannel, MESSAGE_CHANNELS, RuleInput } from '../../channels/registry.ts';
import { TriageError } from '../../domain/errors.ts';
import {
  type NotificationRule,
  type OwnerChannels,
  OwnerChannelsInput,
} from '../../domain/notification-rule.ts';
import { deleteRule, previewRule, saveOwner, saveRule, sendTest } from '../../service/notification-rules.ts';
import { requireReviewer } from '../../service/review/queue.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { crumbs, postForm } from '../controls.ts';
import { dataTable, type Html, html } from '../html.ts';
import { type CsvColumns, renderCsvLink, sendCsv, toCsvTable } from '../lists-as-csv.ts';
import { answerPage, type ConsoleApp, route } from '../page.ts';
import { banner, stateMark } from '../parts/marks.ts';
import { OwnerForm, parseInput, RuleForm, toFields, toPreviewInput, toRuleInput } from './rule-form.ts';
import { formatHour, NEW_RULE, type Outcome, readOffered, ruleMain } from './rule-page.ts';
import { historyPart, type ShownPreview } from './sent-messages.ts';

const ListQuery = z.object({
  done: z.enum(['saved', 'deleted', 'owner']).optional().catch(undefined),
  csv: z.literal('1').optional().catch(undefined),
});
const SAID = { saved: 'Saved.', deleted: 'Deleted.', owner: 'Saved.' } as const;
const Params = z.object({ id: z.string().min(1).max(100) });
const LISTED = 20;
const LIST_TOP = html`<h1 tabindex="-1">Notifications</h1><div class="acts"><a class="btn main"
  href="/notifications/new">New rule</a></div>`;
const LIST_PAGE = { part: 'notifications', title: 'Notifications', top: LIST_TOP } as const;
const RULE_TOP = crumbs([html`<a href="/notifications">Notifications</a>`, 'Rule']);

/**
 * Registers `/notifications`: the rules about who is notified of which failures, each with a preview of the
 * past week, and the channels for the failures of each owner.
 */
export function registerNotifications(app: ConsoleApp, deps: ConsoleDeps): void {
  const { notificationRules: rules } = deps.stores;
  app.get('/notifications', route('review', { querystring: ListQuery }), async (request, reply) => {
    const { done, csv } = request.query;
    if (csv !== undefined)
      return sendCsv(reply, 'notification-rules', toCsvTable(CSV_COLUMNS, await rules.list()));
    const mayMap = (request.principal?.repositories ?? null) === null;
    const [list, owners, events] = await Promise.all([
      rules.list(),
      rules.owners(),
      rules.events(null, LISTED),
    ]);
    const main = listMain(
      list,
      mayMap ? html`${ownersPart(owners, { owner: '' }, null)}${historyPart(events)}` : null,
      deps.messengers,
    );
    return answerPage(request, reply, deps, {
      ...LIST_PAGE,
      main,
      ...(done && { said: SAID[done] }),
    });
  });
  app.post('/notifications/owners', route('review', { body: OwnerForm }), async (request, reply) => {
    const failure = await findRefusal(async () => {
      const given = Object.entries(request.body).map(([name, value]) => [
        name,
        name === 'owner' ? value : value.trim() || null,
      ]);
      await saveOwner(
        deps,
        parseInput(OwnerChannelsInput, Object.fromEntries(given)),
        requireReviewer(request),
      );
    });
    if (failure === null) return reply.redirect('/notifications?done=owner#owners', 303);
    const main = listMain(
      await rules.list(),
      ownersPart(await rules.owners(), request.body, failure),
      deps.messengers,
    );
    return answerPage(request, reply, deps, { ...LIST_PAGE, main, said: 'Not saved.' }, 400);
  });
  app.get('/notifications/:id', route('review', { params: Params }), async (request, reply) => {
    const rule = await findRule(request.params.id);
    const main = ruleMain({
      offered: await readOffered(deps),
      fields: toFields(rule),
      messengers: deps.messengers,
      ...(await readHistory(deps, rule)),
    });
    return answerPage(request, reply, deps, {
      ...createRulePage(rule),
      main,
    });
  });
  app.post(
    '/notifications/:id',
    route('review', { params: Params, body: RuleForm }),
    async (request, reply) => {
      const rule = await findRule(request.params.id);
      const outcome = await actOn(deps, request.body, requireReviewer(request), rule);
      if (outcome === 'saved' || outcome === 'deleted')
        return reply.redirect(`/notifications?done=${outcome}`, 303);
      const main = ruleMain({
        offered: await readOffered(deps),
        fields: request.body,
        messengers: deps.messengers,
        ...(await readHistory(deps, rule)),
        ...outcome,
      });
      const page = {
        ...createRulePage(rule),
        main,
        ...(outcome.failure !== undefined && { said: 'Refused.' }),
      };
      return answerPage(request, reply, deps, page, outcome.failure === undefined ? 200 : 400);
    },
  );
  /** Finds a rule. Returns undefined for a new one. */
  const findRule = async (id: string): Promise<NotificationRule | undefined> => {
    if (id === 'new') return undefined;
    const rule = await rules.find(id);
    if (rule === null) throw new TriageError('not-found', `There is no notification rule ${id}.`);
    return rule;
  };
}

async function readHistory({ stores }: ConsoleDeps, rule: NotificationRule | undefined) {
  const { notificationRules: rules } = stores;
  return (
    rule && {
      rule,
      messages: await rules.messages(rule.id, LISTED),
      events: await rules.events(rule.id, LISTED),
    }
  );
}

function createRulePage(rule: NotificationRule | undefined) {
  return { part: 'notifications', title: rule?.name ?? NEW_RULE, top: RULE_TOP } as const;
}

async function actOn(
  deps: ConsoleDeps,
  form: RuleForm,
  by: string,
  rule?: NotificationRule,
): Promise<Outcome | 'saved' | 'deleted'> {
  const { act, version } = form;
  let preview: ShownPreview | undefined;
  const failure = await findRefusal(async () => {
    if (act === 'delete') return rule === undefined ? undefined : await deleteRule(deps, rule.id, by);
    if (act === 'preview') {
      preview = { ...(await previewRule(deps, toPreviewInput(form))), now: deps.clock.now() };
      return;
    }
    const input = parseInput(RuleInput, toRuleInput(form));
    if (act === 'test') await sendTest(deps, input, by, rule?.id);
    else
      await saveRule(
        deps,
        input,
        by,
        rule === undefined ? undefined : { id: rule.id, version: Number(version) },
      );
  });
  if (failure !== null) return { failure };
  if (act === 'delete') return 'deleted';
  if (act === 'save') return 'saved';
  return act === 'test' ? { tested: true } : { ...(preview && { preview }) };
}

/**
 * Runs the work. If the request is invalid, returns the reason as a sentence, and null otherwise. Throws all
 * other errors.
 */
async function findRefusal(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof TriageError) || error.code === 'not-found' || error.code === 'storage-failed')
      throw error;
    return error.message;
  }
}

const CSV_COLUMNS: CsvColumns<NotificationRule> = {
  name: (rule) => rule.name,
  query: (rule) => rule.query,
  channel: (rule) => rule.channel,
  destination: (rule) => rule.destination,
  to_owner: (rule) => (rule.byOwner ? 'yes' : 'no'),
  digest_hour: (rule) => rule.digestHour,
  every_minutes: (rule) => rule.everyMinutes,
  quiet_from: (rule) => rule.quietFrom,
  quiet_to: (rule) => rule.quietTo,
  time_zone: (rule) => rule.timeZone,
  enabled: (rule) => (rule.enabled ? 'yes' : 'no'),
  id: (rule) => rule.id,
};

function listMain(rules: readonly NotificationRule[], owners: Html | null, messengers: Messengers): Html {
  const rows = rules.map(
    (rule) => html`<tr><td><a href="/notifications/${rule.id}">${rule.name}</a><br><code class="quiet">${
      rule.query === '' ? 'all failures' : rule.query
    }</code></td>
      <td>${labelChannel(rule.channel)}<br><span class="quiet">${rule.destination}${
        rule.byOwner && ', or the owner’s'
      }</span></td>
      <td>${renderSchedule(rule)}</td>
      <td>${rule.enabled ? stateMark('on', 'green') : stateMark('off')}</td></tr>`,
  );
  const missing = MESSAGE_CHANNELS.filter(({ name }) => messengers[name] === undefined);
  return html`<p class="quiet">Each rule tells a channel or a person about failures. Muted causes and tests in
    quarantine are left out.</p>
    ${
      rules.length === 0
        ? html`<div class="empty"><p>No rule yet, so nobody is told.</p><p><a class="btn"
            href="/notifications/new">Tell a channel of new causes</a></p></div>`
        : html`${dataTable('Rules', ['Rule', 'Goes to', 'When', 'State'], rows, {
            className: 'wide',
          })}${renderCsvLink('/notifications?csv=1')}`
    }
    ${
      missing.length > 0 &&
      html`<p class="quiet">Not configured: ${missing.map(({ label }) => label).join(', ')}. See
        <code>docs/how-to/notifications.md</code>.</p>`
    }
    ${owners}`;
}

function renderSchedule({ digestHour, everyMinutes, quietFrom, quietTo, timeZone }: NotificationRule): Html {
  const quiet =
    quietFrom === null || quietTo === null
      ? ''
      : `, not from ${formatHour(quietFrom)} to ${formatHour(quietTo)}`;
  const when =
    digestHour === null
      ? `at once, at most one message in ${everyMinutes} min`
      : `daily at ${formatHour(digestHour)}`;
  const zone = digestHour === null && quiet === '' ? '' : ` ${timeZone}`;
  return html`${when}${quiet}<span class="quiet">${zone}</span>`;
}

type OwnerFields = Partial<Record<Exclude<keyof OwnerChannels, 'owner'>, string | null>> & {
  readonly owner: string;
};

function ownersPart(owners: readonly OwnerChannels[], fields: OwnerFields, failure: string | null): Html {
  const definition = (parts: readonly (readonly [name: string, value: string | null])[]) => {
    const given = parts.flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
    return html`<td>${given.length === 0 ? html`<span class="quiet">–</span>` : given.join(', ')}</td>`;
  };
  const rows = owners.map(
    ({ owner, slack, teams, email, slackMention, teamsMention }) => html`<tr><td>${owner}</td>${definition([
      ['Slack', slack],
      ['Teams', teams],
      ['e-mail', email],
    ])}${definition([
      ['Slack', slackMention],
      ['Teams', teamsMention],
    ])}
      <td>${postForm(
        '/notifications/owners',
        { owner },
        html`<button aria-label="Remove ${owner}">Remove</button>`,
      )}</td></tr>`,
  );
  const input = (name: keyof OwnerFields, label: string, placeholder: string) =>
    html`<label>${label}<br><input name="${name}" value="${fields[name]}" maxlength="300"
      placeholder="${placeholder}"></label>`;
  return html`<h2 id="owners">Owners</h2>
    <p class="quiet">Where messages about an owner’s failures go, and how the owner is mentioned there.
    Nobody else is ever mentioned.</p>
    ${
      rows.length > 0 &&
      dataTable('Owners', ['Owner', 'Goes to', 'Mentioned as', 'Change'], rows, { className: 'wide' })
    }
    <h3>Add or replace an owner</h3>
    ${
      failure !== null && banner(html`<strong>Not saved.</strong> ${failure}`, { tone: 'red', id: 'failure' })
    }
    <form method="post" action="/notifications/owners" data-whole class="stack tight">
    <p class="choices">${input('owner', 'Owner', '@shop/payments')}
    ${input('slack', 'Slack channel', 'C0123456789')}
    ${input('slackMention', 'Slack ID to mention', 'S0123456789')}
    ${input('teams', 'Teams webhook', 'payments')}
    ${input('teamsMention', 'Teams user to mention', 'ada@example.com')}
    ${input('email', 'E-mail', 'payments@example.com')}</p><p
    class="acts"><button>Save owner</button></p></form>`;
}
