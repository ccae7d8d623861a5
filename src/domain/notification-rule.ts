import { z } from 'zod';
import { CauseState, Owner, toOwnerKey } from './cause.ts';
import { TriageError } from './errors.ts';
import { type FailureFilter, MAX_SEARCH, parseSearch } from './search.ts';

const Hour = z.int().min(0).max(23);

/** A notification rule as people enter it: the failures, the destination, and the schedule. */
export const NotificationRuleInput = z.strictObject({
  name: z.string().trim().min(1, 'needs a name').max(100),
  query: z
    .string()
    .trim()
    .max(MAX_SEARCH)
    .default('')
    .describe(
      'The failures, as a search such as `repo:shop/api category:INFRA_ERROR is:regressed`. All if empty',
    ),
  /** The name of a channel. `src/channels/registry.ts` lists the channels. */
  channel: z.string(),
  destination: z
    .string()
    .trim()
    .min(1, 'is not set')
    .max(500)
    .describe(
      'The destination within the channel, such as the ID of a Slack channel, e-mail addresses separated ' +
        'by commas, or the name of a configured webhook.',
    ),
  byOwner: z
    .boolean()
    .default(false)
    .describe(
      "If true, messages go to the channel of the cause's owner, or to `destination` if it is not known",
    ),
  mention: z.boolean().default(false).describe('Mention the owner, if its ID in the channel is known'),
  everyMinutes: z
    .int()
    .min(1)
    .max(1440)
    .default(15)
    .describe('The minimum number of minutes between two messages to a destination. Later news waits'),
  digestHour: Hour.nullable()
    .default(null)
    .describe('The hour at which all news of a day is sent. If null, news is sent at once'),
  quietFrom: Hour.nullable()
    .default(null)
    .describe('The hour from which messages wait until `quietTo`. If null, messages never wait'),
  quietTo: Hour.nullable().default(null),
  timeZone: z
    .string()
    .max(100)
    .refine(isTimeZone, 'must be a time zone, such as Europe/Berlin or UTC')
    .default('UTC'),
  enabled: z.boolean().default(true),
});
export type NotificationRuleInput = z.infer<typeof NotificationRuleInput>;

/**
 * A stored rule. It is read unchanged, even if it could no longer be saved, for example because its time zone
 * no longer exists.
 */
export const NotificationRule = z.object({
  id: z.string(),
  name: z.string(),
  query: z.string(),
  channel: z.string(),
  destination: z.string(),
  byOwner: z.boolean(),
  mention: z.boolean(),
  everyMinutes: z.int(),
  timeZone: z.string(),
  enabled: z.boolean(),
  digestHour: z.int().nullable(),
  quietFrom: z.int().nullable(),
  quietTo: z.int().nullable(),
  /** The repositories that the query names, as `owner/name` or `owner/*`. Null for all repositories. */
  repository: z.string().nullable(),
  version: z.int(),
  changedBy: z.string(),
  changedAt: z.iso.datetime(),
});
export type NotificationRule = z.infer<typeof NotificationRule>;

const SlackChannel = z.string().regex(/^[CGD][A-Z0-9]{2,30}$/, 'must be a channel ID, such as C0123456789');
const SlackMention = z
  .string()
  .regex(/^[UWS][A-Z0-9]{2,30}$/, 'must be the ID of a member (U…) or of a user group (S…)');
const text = z.string().trim().min(1).max(300);

/**
 * The channels for messages about an owner's failures, and the mention of the owner in each, as people enter
 * them.
 */
export const OwnerChannelsInput = z.strictObject({
  owner: text.max(200).describe('As CODEOWNERS writes it, such as @shop/payments'),
  slack: SlackChannel.nullable().default(null),
  slackMention: SlackMention.nullable().default(null).describe('ID of a member (U…) or of a user group (S…)'),
  teams: text.nullable().default(null).describe('Name of a configured webhook of Microsoft Teams'),
  teamsMention: z
    .string()
    .regex(/^[^\s@]{1,100}@[^\s@]{1,99}$/, 'must be a user principal name, such as ada@example.com')
    .nullable()
    .default(null)
    .describe('User principal name in Microsoft Teams'),
  email: text.nullable().default(null),
});
const stored = z.string().nullable();
/** The same in stored form, which is read unchanged. */
export const OwnerChannels = z.object({
  owner: z.string(),
  slack: stored,
  slackMention: stored,
  teams: stored,
  teamsMention: stored,
  email: stored,
});
export type OwnerChannels = z.infer<typeof OwnerChannels>;

/** An event of a cause, with which rules are matched. */
export const Occasion = z.object({
  key: z.string(),
  /** True if the cause was answered for a build. Otherwise a person or a build changed its state. */
  isAnswer: z.boolean(),
  /** The new state of the cause. Null if the state did not change. */
  state: CauseState.nullable(),
  /** The answer, or the newest one about this cause. */
  analysisId: z.string(),
  buildId: z.string(),
  repository: z.string(),
  fingerprint: z.string(),
  owner: Owner.nullable(),
  at: z.iso.datetime(),
});
export type Occasion = z.infer<typeof Occasion>;

interface Condition {
  /** The filter of the query without the states. */
  readonly filter: FailureFilter;
  /**
   * The states to which the rule applies. A rule with states concerns causes that change to one of them. A
   * rule without states concerns answers.
   */
  readonly states: readonly CauseState[];
}

/** Parses the query of a rule. Throws `invalid-input` with a sentence that names the error. */
export function parseCondition(query: string): Condition {
  const { filter, terms } = parseSearch(query, 0);
  const { states = [], ...rest } = filter;
  const unfit = terms.find(({ name }) => name === 'since' || name === 'until' || name === 'build');
  if (unfit !== undefined)
    throw new TriageError(
      'invalid-input',
      `${unfit.typed} does not fit a rule: it is about failures to come. Remove it.`,
    );
  if (rest.flags?.includes('unanswered'))
    throw new TriageError(
      'invalid-input',
      'is:unanswered does not fit a rule: it is asked when there is an answer. Remove it.',
    );
  return { filter: rest, states };
}

/**
 * Returns the targets of messages about a cause: its owners who have an address in the rule's channel,
 * otherwise the rule's own destination.
 */
export function resolveTargets(
  { channel, destination, byOwner }: NotificationRuleInput,
  owner: Owner | null,
  owners: readonly OwnerChannels[],
): string[] {
  const ownChannels = byOwner
    ? findOwnerChannels(owner, owners).flatMap((ownerChannel) => findAddress(ownerChannel, channel) ?? [])
    : [];
  return [...new Set(ownChannels.length === 0 ? [destination] : ownChannels)].map(
    (target) => `${channel}:${target}`,
  );
}

/** Returns the address of an owner in a channel. Returns null if there is none. */
export function findAddress({ owner, ...addresses }: OwnerChannels, channel: string): string | null {
  return new Map(Object.entries(addresses)).get(channel) ?? null;
}

/** Returns the configured channels of the owner's names. */
export function findOwnerChannels(owner: Owner | null, owners: readonly OwnerChannels[]): OwnerChannels[] {
  const keys = new Set(owner?.names.map(toOwnerKey));
  return owners.filter((other) => keys.has(toOwnerKey(other.owner)));
}

/** An event of a rule or, if it belongs to none, of the channels of an owner, with the state at that time. */
export const RuleEvent = z.object({
  at: z.iso.datetime(),
  by: z.string(),
  what: z.string(),
  detail: z.record(z.string(), z.unknown()),
});
export type RuleEvent = z.infer<typeof RuleEvent>;

/** A message of a rule. */
export const SentMessage = z.object({
  key: z.string(),
  /** The target, such as `slack:C0123456789`. */
  target: z.string(),
  /** The result. Null if the message is still to be sent. */
  outcome: z.enum(['done', 'skipped', 'superseded', 'failed']).nullable(),
  error: z.string().nullable(),
  answers: z.int(),
  at: z.iso.datetime(),
});
export type SentMessage = z.infer<typeof SentMessage>;

/**
 * The maximum number of notification rules. Each is matched against every answer, and more would be hard to
 * oversee.
 */
export const MAX_RULES = 200;
/**
 * The topics of work: matching an event with the rules (the triggers of migration 0057 request it), and
 * collecting the matches of a rule for one target.
 */
export const MATCH_RULES = 'match-rules';
export const GATHER = 'gather-matches';

type Schedule = Pick<
  NotificationRuleInput,
  'digestHour' | 'quietFrom' | 'quietTo' | 'timeZone' | 'everyMinutes'
>;

/**
 * The time that the first of several matches waits, in milliseconds, so that matches that arrive together are
 * sent in one message.
 */
export const GATHER_MS = 10_000;
const MINUTE = 60_000;
/** The step of the search, in milliseconds. Time zones differ by quarters of an hour. */
const STEP_MS = 15 * MINUTE;
/** The maximum number of steps. The next digest is never further away, including quiet hours. */
const MAX_STEPS = 3 * 96;

/**
 * Returns the first time from `now` on at which matches that have waited since `oldest` may be sent. All
 * times are in milliseconds since 1970.
 */
export function computeSendingTime(schedule: Schedule, oldest: number, now: number): number {
  const gathered = Math.max(now, Math.min(oldest, now) + GATHER_MS);
  if (maySend(schedule, oldest, gathered)) return gathered;
  const first = (Math.floor(gathered / STEP_MS) + 1) * STEP_MS;
  for (let step = 0; step < MAX_STEPS; step++)
    if (maySend(schedule, oldest, first + step * STEP_MS)) return first + step * STEP_MS;
  return gathered;
}

function maySend(
  { digestHour, quietFrom, quietTo, timeZone }: Schedule,
  oldest: number,
  at: number,
): boolean {
  const minutes = computeLocalMinutes(at, timeZone);
  if (isQuiet(quietFrom, quietTo, Math.floor(minutes / 60) % 24)) return false;
  if (digestHour === null) return true;
  const toDigestDay = (local: number) => Math.floor((local - digestHour * 60) / 1440);
  return toDigestDay(minutes) > toDigestDay(computeLocalMinutes(oldest, timeZone));
}

function isQuiet(from: number | null, to: number | null, hour: number): boolean {
  if (from === null || to === null || from === to) return false;
  return from < to ? hour >= from && hour < to : hour >= from || hour < to;
}

/** Returns the local time in the time zone, as minutes since 1970. */
function computeLocalMinutes(at: number, timeZone: string): number {
  const part = createDateFormat(timeZone).formatToParts(at);
  const [year = 0, month = 1, day, hour, minute] = (['year', 'month', 'day', 'hour', 'minute'] as const).map(
    (type) => Number(part.find((other) => other.type === type)?.value),
  );
  return Date.UTC(year, month - 1, day, hour, minute) / MINUTE;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function createDateFormat(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const numeric = {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  } as const;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: isTimeZone(timeZone) ? timeZone : 'UTC',
    hourCycle: 'h23',
    ...numeric,
  });
  formats.set(timeZone, made);
  return made;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

/** A message that a rule would have sent. */
export interface PlannedMessage {
  /** The time of the message, in milliseconds since 1970. */
  readonly at: number;
  /** The target, such as `slack:C0123456789`. */
  readonly target: string;
  readonly occasions: readonly Occasion[];
}

/** Returns the messages that a rule would have sent for these events, newest first. */
export function listPlannedMessages(
  rule: NotificationRuleInput,
  occasions: readonly Occasion[],
  owners: readonly OwnerChannels[],
): PlannedMessage[] {
  const byTarget = new Map<string, Occasion[]>();
  for (const occasion of occasions.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)))
    for (const target of resolveTargets(rule, occasion.owner, owners))
      byTarget.set(target, [...(byTarget.get(target) ?? []), occasion]);
  const planned = [...byTarget].flatMap(([target, found]) => planMessages(rule, target, found));
  return planned.toSorted((a, b) => b.at - a.at);
}

function planMessages(
  rule: NotificationRuleInput,
  target: string,
  found: readonly Occasion[],
): PlannedMessage[] {
  const messages: PlannedMessage[] = [];
  for (let from = 0; from < found.length; ) {
    const oldest = Date.parse(found[from]?.at ?? '');
    const last = messages.at(-1);
    const free = last === undefined ? oldest : last.at + computePauseAfter(rule);
    const at = computeSendingTime(rule, oldest, Math.max(oldest, free));
    const rest = found.slice(from);
    const count = rest.filter((message) => Date.parse(message.at) <= at).length;
    messages.push({ at, target, occasions: rest.slice(0, count) });
    from += count;
  }
  return messages;
}

/** Returns the minimum time between two messages to the same target, in milliseconds. */
export function computePauseAfter({ digestHour, everyMinutes }: Schedule): number {
  return digestHour === null ? everyMinutes * MINUTE : 0;
}
