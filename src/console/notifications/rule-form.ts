import { z } from 'zod';
import { RuleInput } from '../../channels/registry.ts';
import { TriageError } from '../../domain/errors.ts';
import type { NotificationRule, NotificationRuleInput } from '../../domain/notification-rule.ts';

const field = (most: number) => z.string().max(most).default('');
const ticked = z.literal('on').optional();
/** A rule as its form sends it. Its problems are shown on the form. */
export const RuleForm = z.object({
  name: field(300),
  query: field(1000),
  channel: field(20),
  destination: field(1000),
  byOwner: ticked,
  mention: ticked,
  when: field(10),
  everyMinutes: field(10),
  quietFrom: field(10),
  quietTo: field(10),
  timeZone: field(100),
  enabled: ticked,
  version: field(12),
  act: z.enum(['preview', 'save', 'test', 'delete']).default('preview'),
});
export type RuleForm = z.infer<typeof RuleForm>;

export const OwnerForm = z.object({
  owner: field(300),
  slack: field(100),
  slackMention: field(100),
  teams: field(300),
  teamsMention: field(300),
  email: field(500),
});

/** Builds the input for a preview, which needs no name and no destination. */
export function toPreviewInput(form: RuleForm): NotificationRuleInput {
  const isPlaced = form.channel !== '' && form.destination.trim() !== '';
  const preview = {
    ...form,
    name: form.name.trim() || 'Preview',
    ...(!isPlaced && { channel: form.channel || 'webhook', destination: '–' }),
  };
  const input = parseInput(RuleInput, toRuleInput(preview));
  return isPlaced ? input : { ...input, destination: '' };
}

export function parseInput<Value>(schema: z.ZodType<Value>, input: object): Value {
  const { data, error } = schema.safeParse(input);
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  const name = String(issue?.path[0] ?? '');
  throw new TriageError('invalid-input', `${LABELS[name] ?? name}: ${issue?.message ?? 'invalid'}.`);
}

const LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  query: 'Failures',
  channel: 'Channel',
  destination: 'Destination',
  everyMinutes: 'Minutes',
  digestHour: 'When',
  quietFrom: 'Quiet hours',
  quietTo: 'Quiet hours',
  timeZone: 'Time zone',
  owner: 'Owner',
  slack: 'Slack channel',
  slackMention: 'Slack ID',
  teams: 'Teams webhook',
  teamsMention: 'Teams user',
  email: 'E-mail',
};

const parseHour = (value: string) => (value === '' ? null : Number(value));

export function toRuleInput({
  when,
  everyMinutes,
  quietFrom,
  quietTo,
  byOwner,
  mention,
  enabled,
  timeZone,
  act,
  version,
  ...rest
}: RuleForm): object {
  return {
    ...rest,
    byOwner: byOwner === 'on',
    mention: mention === 'on',
    enabled: enabled === 'on',
    everyMinutes: Number(everyMinutes),
    digestHour: parseHour(when),
    quietFrom: parseHour(quietFrom),
    quietTo: parseHour(quietTo),
    timeZone: timeZone.trim() || 'UTC',
  };
}

export type Fields = Omit<RuleForm, 'act'>;

const NEW: Fields = {
  name: '',
  query: '',
  channel: '',
  destination: '',
  when: '',
  everyMinutes: '15',
  quietFrom: '',
  quietTo: '',
  timeZone: 'UTC',
  enabled: 'on',
  version: '',
};

export function toFields(rule: NotificationRule | undefined): Fields {
  if (rule === undefined) return NEW;
  const { name, query, channel, destination, everyMinutes, timeZone, version } = rule;
  const box = (on: boolean) => (on ? ('on' as const) : undefined);
  const hour = (value: number | null) => (value === null ? '' : String(value));
  return {
    name,
    query,
    channel,
    destination,
    timeZone,
    everyMinutes: String(everyMinutes),
    version: String(version),
    byOwner: box(rule.byOwner),
    mention: box(rule.mention),
    enabled: box(rule.enabled),
    when: hour(rule.digestHour),
    quietFrom: hour(rule.quietFrom),
    quietTo: hour(rule.quietTo),
  };
}
