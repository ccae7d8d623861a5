import type { Config } from '../config/schema.ts';
import { extractDomain } from '../domain/notification-rule.ts';
import type { Clock } from '../lib/time.ts';
import { noticeHandler } from '../notifications/notices.ts';
import { publicationHandler } from '../notifications/publications.ts';
import type { EmailOptions } from '../notifications/rules/email.ts';
import { ruleHandlers } from '../notifications/rules/handlers.ts';
import type { Messenger, Messengers } from '../notifications/rules/news.ts';
import { slackChannel, slackRule } from '../notifications/slack/slack-channel.ts';
import type { ChatRoom, SlackButtons } from '../ports/chat-room.ts';
import type { Database } from '../ports/database.ts';
import type { NoticeChannel, NoticeRule, Publisher } from '../ports/notices.ts';
import { type Logger, silentTracer, type Tracer } from '../ports/telemetry.ts';
import { createProviders } from '../providers/registry.ts';
import { createSlackPresses } from '../stores/access.ts';
import type { Stores } from '../stores/stores.ts';
import { tracedPublisher } from './watched.ts';

interface Parts {
  readonly stores: Pick<
    Stores,
    | 'work'
    | 'publications'
    | 'builds'
    | 'analyses'
    | 'history'
    | 'notices'
    | 'triages'
    | 'notificationRules'
    | 'failures'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer;
}

/** Opens the publishers and channels that announce answers. */
export async function openPublishing(config: NoticesConfig, { stores, clock, logger, tracer }: Parts) {
  const opened = await openPublishers(config, logger, clock);
  const publishers = opened.map((publisher) =>
    tracedPublisher(publisher, tracer ?? silentTracer, stores.triages),
  );
  const { timeoutMs: timeLimitMs, pauseMs } = config.publishers;
  const channels = [
    ...(await openProviderChannels(config, logger)),
    ...(await openSlackChannels(config, { stores, clock })),
  ];
  const messengers = await openMessengers(config, clock);
  const { publicUrl } = config.http;
  return {
    messengers,
    /** The publishers of each sure answer. */
    drivers: publishers.map(({ driver }) => driver),
    handlers: [
      ...publishers.map((publisher) => publicationHandler(publisher, { stores, timeLimitMs })),
      ...channels.map((channel) => noticeHandler(channel, { ...stores, timeLimitMs, pauseMs })),
      ...ruleHandlers({ stores, messengers, publicUrl, timeLimitMs, clock, logger }),
    ],
  };
}

async function openPublishers(
  { publishers, http }: Pick<Config, 'publishers' | 'http'>,
  logger: Logger,
  clock: Clock,
): Promise<Publisher[]> {
  const opened = [(await import('../notifications/publisher/log.ts')).createLogPublisher(logger)];
  const { url, ...webhook } = publishers.webhook;
  const { publicUrl } = http;
  if (url !== null)
    opened.push(
      (await import('../notifications/publisher/webhook.ts')).createWebhookPublisher({
        url,
        ...webhook,
        publicUrl,
        clock,
      }),
    );
  return opened;
}

type NoticesConfig = Pick<Config, 'publishers' | 'http' | 'providers' | 'slack' | 'messages'>;

async function openMessengers(
  { slack, messages, publishers }: NoticesConfig,
  clock: Clock,
): Promise<Messengers> {
  const { teams, webhooks, webhookSecrets: secrets } = messages;
  const opened: Messenger[] = [];
  const room = await openRoom(slack);
  if (room !== null)
    opened.push((await import('../notifications/rules/slack.ts')).createSlackMessenger(room));
  if (Object.keys(teams).length > 0)
    opened.push(
      (await import('../notifications/rules/teams.ts')).createTeamsMessenger({ webhooks: teams, clock }),
    );
  const smtp = readSmtpOptions({ messages, publishers });
  if (smtp !== null)
    opened.push((await import('../notifications/rules/email.ts')).createEmailMessenger(smtp));
  if (Object.keys(webhooks).length > 0)
    opened.push(
      (await import('../notifications/rules/webhook.ts')).createWebhookMessenger({
        webhooks,
        secrets,
        clock,
      }),
    );
  return Object.fromEntries(opened.map((one) => [one.channel, one]));
}

function readSmtpOptions({
  messages,
  publishers,
}: Pick<Config, 'messages' | 'publishers'>): EmailOptions | null {
  const { smtpUrl: url, smtpFrom: from, emailDomains } = messages;
  if (url === null || from === null) return null;
  return {
    url,
    from,
    domains: emailDomains.length > 0 ? emailDomains : [extractDomain(from)],
    timeLimitMs: publishers.timeoutMs,
  };
}

/** Checks whether the SMTP server accepts our login, for diagnostics. Returns null if none is configured. */
export async function askSmtp(
  config: Pick<Config, 'messages' | 'publishers'>,
  signal: AbortSignal,
): Promise<string | null> {
  const smtp = readSmtpOptions(config);
  return smtp === null
    ? null
    : await (await import('../notifications/rules/email.ts')).checkSmtp(smtp, signal);
}

/** Returns the rules of the configured channels, which the stores of every process must know. */
export function listNoticeRules(config: Pick<Config, 'providers' | 'slack'>): NoticeRule[] {
  const rules = createProviders(config.providers).flatMap(({ channels }) => channels);
  return [
    ...rules.flatMap(({ rule, open }) => (open === null ? [] : [rule])),
    ...(isSpoken(config.slack) ? [slackRule(channelIn(config.slack))] : []),
  ];
}

async function openProviderChannels(
  { providers, http }: NoticesConfig,
  logger: Logger,
): Promise<NoticeChannel[]> {
  const opened: NoticeChannel[] = [];
  for (const { rule, open, because } of createProviders(providers).flatMap(({ channels }) => channels)) {
    if (open === null)
      logger.warn(
        { channel: rule.channel, because },
        'a notification channel is off: it is not fully configured',
      );
    else opened.push(await open({ logger, publicUrl: http.publicUrl }));
  }
  return opened;
}

type SlackSettings = Pick<Config, 'slack'>;

/** Opens the channel for notices in Slack. Returns none if Slack is not configured. */
async function openSlackChannels(
  config: Pick<Config, 'slack' | 'http'>,
  { stores, clock }: { readonly stores: Pick<Stores, 'history'>; readonly clock: Clock },
): Promise<NoticeChannel[]> {
  const { slack, http } = config;
  const room = await openRoom(slack);
  if (room === null || !isSpoken(slack)) return [];
  const { history } = stores;
  return [
    slackChannel({
      room,
      history,
      clock,
      channelOf: channelIn(slack),
      publicUrl: http.publicUrl,
      decides: slack.signingSecrets.length > 0,
    }),
  ];
}

/** Opens what buttons need. Returns undefined if no signing secret is configured. */
export async function openSlackButtons(
  { slack }: SlackSettings,
  database: Database,
): Promise<SlackButtons | undefined> {
  const room = slack.signingSecrets.length === 0 ? null : await openRoom(slack);
  if (room === null) return undefined;
  return {
    secrets: slack.signingSecrets,
    reviewers: slack.reviewers,
    room,
    presses: createSlackPresses(database),
  };
}

/** Returns our identity in Slack, for diagnostics. Returns null if no token is configured. */
export async function askSlack({ slack }: SlackSettings, signal: AbortSignal): Promise<string | null> {
  return (await (await openRoom(slack))?.whoAmI(signal)) ?? null;
}

async function openRoom({ token, baseUrl }: Config['slack']): Promise<ChatRoom | null> {
  return token === null
    ? null
    : (await import('../notifications/publisher/slack.ts')).createSlackRoom({ token, baseUrl });
}

function isSpoken({ token, channel, channels }: Config['slack']): boolean {
  return token !== null && (channel !== null || Object.keys(channels).length > 0);
}

function channelIn({ channel, channels }: Config['slack']): (repository: string) => string | null {
  return (repository) => channels[repository] ?? channel;
}
