import { z } from 'zod';
import type { Messengers } from '../channels/channel.ts';
import { matchesOccasion } from '../channels/match-rules.ts';
import { readNews } from '../channels/news.ts';
import { labelChannel, MESSAGE_CHANNELS, Rule } from '../channels/registry.ts';
import { TriageError } from '../domain/errors.ts';
import {
  findAddress,
  GATHER_MS,
  listPlannedMessages,
  MAX_RULES,
  type NotificationRule,
  type NotificationRuleInput,
  type Occasion,
  type OwnerChannels,
  parseCondition,
} from '../domain/notification-rule.ts';
import { limitTime } from '../lib/resilience.ts';
import type { Clock } from '../lib/time.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { ShownStores } from '../stores/stores.ts';

export interface RuleDeps {
  readonly stores: Pick<ShownStores, 'notificationRules' | 'failures' | 'analyses' | 'notices'>;
  readonly messengers: Messengers;
  readonly publicUrl: string | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Stores a new rule, or, with `known`, a change of that version. Throws `invalid-input`, `not-found`,
 * `conflict` and `forbidden`.
 */
export async function saveRule(
  { stores: { notificationRules }, messengers, logger }: RuleDeps,
  input: NotificationRuleInput,
  by: string,
  known?: { readonly id: string; readonly version: number },
): Promise<NotificationRule> {
  const current = known === undefined ? null : await notificationRules.find(known.id);
  if (known !== undefined && current === null)
    throw new TriageError('not-found', `There is no notification rule ${known.id}.`);
  const repository = checkRule(input, messengers);
  const saved =
    known === undefined
      ? await notificationRules.add(input, repository, by)
      : await notificationRules.change(known.id, known.version, input, repository, by);
  if (saved === null) {
    const changed =
      `${current?.changedBy} changed this rule since you opened it. ` +
      'Open it again, then repeat your change.';
    const message =
      current === null ? `There are ${MAX_RULES} notification rules already. Delete one first.` : changed;
    throw new TriageError('conflict', message);
  }
  logger.info({ ruleId: saved.id, by }, 'notification rule saved');
  return saved;
}

/** Deletes a rule. Throws `not-found`. */
export async function deleteRule(
  { stores, logger }: Pick<RuleDeps, 'stores' | 'logger'>,
  id: string,
  by: string,
): Promise<void> {
  if (!(await stores.notificationRules.remove(id, by)))
    throw new TriageError('not-found', `There is no notification rule ${id}.`);
  logger.info({ ruleId: id, by }, 'notification rule deleted');
}

/**
 * Stores the addresses for messages about an owner's failures, or deletes the owner if there is no address.
 * Throws `invalid-input` and `forbidden`.
 */
export async function saveOwner(
  { stores, messengers, logger }: RuleDeps,
  channels: OwnerChannels,
  by: string,
): Promise<void> {
  for (const { name } of MESSAGE_CHANNELS) {
    const destination = findAddress(channels, name);
    if (destination !== null) checkDestination(name, destination, messengers);
  }
  await stores.notificationRules.setOwner(channels, by);
  logger.info({ owner: channels.owner, by }, 'channels of an owner changed');
}

/** Checks a rule. Returns the repository that its query names. */
function checkRule(
  { query, channel, destination, quietFrom, quietTo }: NotificationRuleInput,
  messengers: Messengers,
): string | null {
  const { filter } = parseCondition(query);
  // Only a preview has no destination.
  if (destination !== '') checkDestination(channel, destination, messengers);
  if ((quietFrom === null) !== (quietTo === null))
    throw new TriageError('invalid-input', 'Quiet hours need both a start and an end.');
  return filter.repository ?? null;
}

function checkDestination(name: string, destination: string, messengers: Messengers): void {
  const setting = MESSAGE_CHANNELS.find((channel) => channel.name === name)?.setting;
  const messenger = messengers[name];
  const wrong =
    messenger === undefined
      ? `${labelChannel(name)} is not configured. Set ${setting}.`
      : messenger.refusal(destination);
  if (wrong !== null) throw new TriageError('invalid-input', wrong);
}

const PREVIEW_DAYS = 7;
const PAGE = 200;
/** The maximum number of failures that a preview reads. */
const MAX_FAILURES = 1_000;
const MAX_CHANGES = 200;
const MAX_MESSAGES = 50;
const MAX_CAUSES = 10;

/** The messages that a rule would have sent. */
export const RulePreview = z.object({
  days: z.int(),
  messages: z.int().describe('How many messages it would have sent'),
  answers: z.int(),
  isPart: z.boolean().describe('Only the newest failures were looked at'),
  list: z.array(
    z.object({
      at: z.iso.datetime(),
      channel: Rule.shape.channel,
      destination: z.string(),
      causes: z.array(
        z.object({
          title: z.string(),
          repository: z.string(),
          state: z.string().nullable(),
          analysisId: z.string(),
        }),
      ),
      more: z.int(),
    }),
  ),
});
export type RulePreview = z.infer<typeof RulePreview>;

/**
 * Lists the messages that the rule would have sent in the past week, for the failures that the caller may
 * see. The destination may be empty. Throws `invalid-input` and `timeout`.
 */
export async function previewRule(
  { stores, messengers, clock }: RuleDeps,
  rule: NotificationRuleInput,
): Promise<RulePreview> {
  checkRule(rule, messengers);
  const { occasions, isPart } = await listPastOccasions(rule, stores, clock.now());
  const planned = listPlannedMessages(rule, occasions, await stores.notificationRules.owners()).filter(
    ({ at }) => at <= clock.now() + GATHER_MS,
  );
  const listed = planned.slice(0, MAX_MESSAGES);
  const heads = await stores.analyses.heads([
    ...new Set(listed.flatMap((message) => message.occasions.map(({ buildId }) => buildId))),
  ]);
  const titles = new Map(heads.map(({ id, title }) => [id, title]));
  const list = listed.map(({ at, target, occasions: messageOccasions }) => {
    const causes = [
      ...new Map(
        messageOccasions.map((occasion) => [`${occasion.repository} ${occasion.fingerprint}`, occasion]),
      ).values(),
    ];
    const named = causes.slice(0, MAX_CAUSES).map(({ analysisId, repository, state }) => ({
      title: titles.get(analysisId) ?? 'No title',
      repository,
      analysisId,
      state: parseCondition(rule.query).states.length === 0 ? null : state,
    }));
    const [channel, destination] = [rule.channel, target.slice(rule.channel.length + 1)];
    return {
      at: new Date(at).toISOString(),
      channel,
      destination,
      causes: named,
      more: causes.length - named.length,
    };
  });
  return { days: PREVIEW_DAYS, messages: planned.length, answers: occasions.length, isPart, list };
}

async function listPastOccasions(
  rule: NotificationRuleInput,
  { failures, notificationRules }: RuleDeps['stores'],
  now: number,
) {
  const since = new Date(now - PREVIEW_DAYS * 86_400_000).toISOString();
  const { filter, states } = parseCondition(rule.query);
  if (states.length > 0) {
    const changes = await notificationRules.changes(states, since, MAX_CHANGES);
    const occasions: Occasion[] = [];
    // A cause that got its status by its first answer is found as that answer.
    for (const change of changes) if (await matchesOccasion(rule, change, failures)) occasions.push(change);
    return { occasions, isPart: changes.length === MAX_CHANGES };
  }
  const ids = new Set<string>();
  let count = PAGE;
  for (let offset = 0; offset < MAX_FAILURES && count === PAGE; offset += PAGE) {
    const rows = await failures.search({ ...filter, alerting: true, since }, { limit: PAGE, offset });
    for (const { analysisId } of rows) if (analysisId !== null) ids.add(analysisId);
    count = rows.length;
  }
  return { occasions: await notificationRules.answers([...ids]), isPart: count === PAGE };
}

const TEST_MS = 15_000;

/**
 * Sends the newest failure that matches the rule to the rule's destination, marked as a test and without
 * mentions. Throws the errors of the channel.
 */
export async function sendTest(
  deps: RuleDeps,
  rule: NotificationRuleInput,
  by: string,
  id = 'new',
): Promise<void> {
  const { stores, messengers, publicUrl, clock, logger } = deps;
  checkRule(rule, messengers);
  const { occasions } = await listPastOccasions(rule, stores, clock.now());
  const newest = occasions.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, 1);
  const about = { rule: { id, name: rule.name, mention: false }, matches: newest, owners: [], isTest: true };
  const news = await readNews(about, { notices: stores.notices, publicUrl });
  logger.info({ ruleId: id, channel: rule.channel, by }, 'test message of a notification rule');
  if (news === null) return;
  const message = `${labelChannel(rule.channel)} did not answer within ${TEST_MS / 1000} s.`;
  const late = (cause: unknown) => new TriageError('timeout', message, { cause });
  await limitTime({ limitMs: TEST_MS, late }, async (signal) => {
    const messenger = messengers[rule.channel];
    const content = messenger?.render(news) ?? null;
    if (content === null) return;
    const call = {
      to: rule.destination,
      key: `test-${clock.now()}`,
      reference: null,
      isRetry: false,
      signal,
    };
    await messenger?.send(content, call);
  });
}
