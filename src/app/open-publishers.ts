import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import { type BackgroundWorker, type OutboxDeps, startOutbox } from '../notifications/outbox.ts';
import { slackChannel, slackRule } from '../notifications/slack/slack-channel.ts';
import { syncNotifications } from '../notifications/sync-notifications.ts';
import type { ChatRoom, SlackButtons } from '../ports/chat-room.ts';
import type { Database, Failpoint } from '../ports/database.ts';
import type { NoticeChannel, NoticeRule, Publisher } from '../ports/notices.ts';
import type { Stores } from '../ports/stores.ts';
import { type Logger, silentTracer, type Tracer } from '../ports/telemetry.ts';
import { providersOf } from '../providers/registry.ts';
import { createSlackPresses } from '../stores/access.ts';
import { tracedPublisher } from './watched.ts';

/** A look at what is owed outside; what this process concludes is told at once. */
const LOOK_MS_PUBLISHERS = 5_000;

/** Who is told, and the work of telling. */
export interface Publishing {
  /** What each sure answer is owed to. */
  readonly drivers: readonly string[];
  /** Something is owed now; nothing happens where this process does not tell. */
  readonly wake: () => void;
  start(): void;
  stop(): Promise<void>;
}

type Parts = Omit<OutboxDeps, 'publishers' | 'timeLimitMs' | 'intervalMs'> & {
  readonly clock: Clock;
  readonly tracer?: Tracer;
  readonly stores: Pick<Stores, 'history' | 'notices' | 'triages'>;
};

export async function openPublishing(
  config: Pick<Config, 'publishers' | 'http' | 'providers' | 'slack'>,
  parts: Parts,
): Promise<Publishing> {
  const opened = await openPublishers(config, parts.logger, parts.clock);
  const publishers = opened.map((publisher) => tracedPublisher(publisher, parts.tracer ?? silentTracer, parts.stores.triages));
  const notices = await openNotices(config, parts);
  let worker: BackgroundWorker | undefined;
  return {
    drivers: publishers.map(({ driver }) => driver),
    wake: () => {
      worker?.wake();
      notices.wake();
    },
    start: () => {
      worker ??= startOutbox({ ...parts, publishers, timeLimitMs: config.publishers.timeoutMs, intervalMs: LOOK_MS_PUBLISHERS });
      notices.start();
    },
    stop: async () => void (await Promise.all([worker?.stop(), notices.stop()])),
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
    opened.push((await import('../notifications/publisher/webhook.ts')).createWebhookPublisher({ url, ...webhook, publicUrl, clock }));
  return opened;
}

/** A look for what is due: "looking" is to be read within five seconds of the webhook, whichever process took it in. */
const LOOK_MS_NOTICES = 1_000;

type NoticesConfig = Pick<Config, 'publishers' | 'http' | 'providers' | 'slack'>;

interface NoticesParts {
  readonly stores: Pick<Stores, 'notices' | 'history'>;
  readonly clock: Clock;
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Logger;
  readonly failpoint?: Failpoint;
}

/** The work of keeping texts outside in step. */
interface Notices {
  wake(): void;
  start(): void;
  stop(): Promise<void>;
}

/** Where the configured channels speak: what the stores must know, in every process. */
export function noticeRulesOf(config: Pick<Config, 'providers' | 'slack'>): NoticeRule[] {
  const rules = providersOf(config.providers).flatMap(({ channels }) => channels);
  return [...rules.flatMap(({ rule, open }) => (open === null ? [] : [rule])), ...slackRulesOf(config)];
}

/** Nothing is opened, and nothing ever asked, where no channel is configured. */
export async function openNotices(config: NoticesConfig, parts: NoticesParts): Promise<Notices> {
  const channels = [...(await openProviderChannels(config, parts.logger)), ...(await openSlackChannels(config, parts))];
  let worker: BackgroundWorker | undefined;
  return {
    wake: () => worker?.wake(),
    start: () => {
      if (channels.length === 0) return;
      const { timeoutMs, pauseMs } = config.publishers;
      const timing = { timeLimitMs: timeoutMs, pauseMs, intervalMs: LOOK_MS_NOTICES };
      worker ??= syncNotifications({ ...parts, notices: parts.stores.notices, channels, ...timing });
    },
    stop: async () => await worker?.stop(),
  };
}

async function openProviderChannels({ providers, http }: NoticesConfig, logger: Logger): Promise<NoticeChannel[]> {
  const opened: NoticeChannel[] = [];
  for (const { rule, open, because } of providersOf(providers).flatMap(({ channels }) => channels)) {
    if (open === null) logger.warn({ channel: rule.channel, because }, 'a channel is left out: it cannot be written');
    else opened.push(await open({ logger, publicUrl: http.publicUrl }));
  }
  return opened;
}

type SlackSettings = Pick<Config, 'slack'>;

/** Where Slack is spoken in; none where it is not configured. */
function slackRulesOf({ slack }: SlackSettings): NoticeRule[] {
  return isSpoken(slack) ? [slackRule(channelIn(slack))] : [];
}

/** The channel of notices; none where Slack is not configured. */
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

/** What buttons need; absent where no signing secret is configured. */
export async function openSlackButtons({ slack }: SlackSettings, database: Database): Promise<SlackButtons | undefined> {
  const room = slack.signingSecrets.length === 0 ? null : await openRoom(slack);
  if (room === null) return undefined;
  return { secrets: slack.signingSecrets, reviewers: slack.reviewers, room, presses: createSlackPresses(database) };
}

/** Who we are in Slack, for whoever examines the installation; null where no token is configured. */
export async function askSlack({ slack }: SlackSettings, signal: AbortSignal): Promise<string | null> {
  return (await (await openRoom(slack))?.whoAmI(signal)) ?? null;
}

async function openRoom({ token, baseUrl }: Config['slack']): Promise<ChatRoom | null> {
  return token === null ? null : (await import('../notifications/publisher/slack.ts')).createSlackRoom({ token, baseUrl });
}

function isSpoken({ token, channel, channels }: Config['slack']): boolean {
  return token !== null && (channel !== null || Object.keys(channels).length > 0);
}

function channelIn({ channel, channels }: Config['slack']): (repository: string) => string | null {
  return (repository) => channels[repository] ?? channel;
}
