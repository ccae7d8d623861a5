import { z } from 'zod';
import { RuleInput } from '../../channels/registry.ts';
import { Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import type { NotificationRule, NotificationRuleInput } from '../../domain/notification-rule.ts';

const field = (most: number) => z.string().max(most).default('');
const ticked = z.literal('on').optional();
/** The fields of the form for a rule. Problems with them are shown on the form. */
export const RuleForm = z.object({
  name: field(300),
  /**
   * The states of a cause that cause a message, as terms of the search. If empty, every answer causes one.
   */
  news: field(100),
  repository: field(300),
  category: z
    .union([z.literal(''), Category])
    .catch('')
    .default(''),
  owner: field(300),
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

/** The choices for the subject of a rule: terms of the search for states of a cause, with their names. */
export const NEWS: readonly (readonly [value: string, words: string])[] = [
  ['', 'any failure is answered'],
  ['is:new is:regressed', 'a cause is new or back'],
  ['is:new', 'a cause is new'],
  ['is:regressed', 'a cause is back'],
  ['is:fixed', 'a cause is fixed'],
  ['is:acknowledged', 'a cause is acknowledged'],
  ['is:assigned', 'a cause is assigned'],
];
const STATES = new Set(NEWS.flatMap(([value]) => value.split(' ')));

/** The choices of the sentence that narrow a rule, by the names of their filters in a search. */
const CHOICES = { repo: 'repository', category: 'category', owner: 'owner' } as const;
type Chosen = Pick<RuleForm, 'news' | 'repository' | 'category' | 'owner' | 'query'>;

/** Joins the choices of the sentence and the typed search to one search. */
function joinQuery({ news, query, ...chosen }: Chosen): string {
  const filters = Object.entries(CHOICES).flatMap(([filter, field]) => {
    const value = chosen[field].trim();
    return value === '' ? [] : [`${filter}:${value}`];
  });
  return [...filters, query.trim(), news].filter((part) => part !== '').join(' ');
}

/**
 * Takes the choices of the sentence out of a search. What the sentence cannot say stays in the search:
 * several values of a filter, other states, and everything in quotes.
 */
function splitQuery(query: string): Chosen {
  const whole = { news: '', repository: '', category: '', owner: '', query } as const;
  if (query.includes('"')) return whole;
  const words = query.split(/\s+/).filter((word) => word !== '');
  const states = words.filter((word) => STATES.has(word));
  const news = NEWS.find(([value]) => value.split(' ').toSorted().join(' ') === states.toSorted().join(' '));
  const taken: string[] = news === undefined ? [] : [...states];
  const take = (filter: keyof typeof CHOICES): string => {
    const [word, ...others] = words.filter((each) => each.startsWith(`${filter}:`));
    const value = word?.slice(filter.length + 1) ?? '';
    if (word === undefined || others.length > 0 || !/^[^\s:,]+$/.test(value)) return '';
    if (filter === 'category' && !Category.safeParse(value).success) return '';
    taken.push(word);
    return value;
  };
  const [repository, category, owner] = [take('repo'), take('category'), take('owner')];
  return {
    news: news?.[0] ?? '',
    repository,
    owner,
    category: Category.safeParse(category).data ?? '',
    query: words.filter((word) => !taken.includes(word)).join(' '),
  };
}

export const OwnerForm = z.object({
  owner: field(300),
  slack: field(100),
  slackMention: field(100),
  teams: field(300),
  teamsMention: field(300),
  email: field(500),
});

/** Returns the input for a preview, which needs neither a name nor a destination. */
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
  news,
  repository,
  category,
  owner,
  query,
  ...rest
}: RuleForm): object {
  return {
    ...rest,
    query: joinQuery({ news, repository, category, owner, query }),
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
  news: 'is:new is:regressed',
  repository: '',
  category: '',
  owner: '',
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
    ...splitQuery(query),
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
