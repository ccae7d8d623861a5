import type { ChannelParts, Messenger, Messengers, NoticeChannel } from '../channels/channel.ts';
import { createEventHandler } from '../channels/event-handler.ts';
import {
  createAnswerHandler,
  createMessageHandler,
  createNoticeHandler,
  openMessenger,
} from '../channels/handlers.ts';
import { createRuleHandlers } from '../channels/match-rules.ts';
import { createChannels } from '../channels/registry.ts';
import type { Config } from '../config/schema.ts';
import type { EventGroup } from '../domain/published-event.ts';
import type { Clock } from '../lib/time.ts';
import { type Logger, silentTracer, type Tracer } from '../ports/telemetry.ts';
import type { WorkHandler } from '../ports/work.ts';
import { createProviders } from '../providers/registry.ts';
import type { EventSettings } from '../stores/published-events.ts';
import type { Stores } from '../stores/stores.ts';
import { tracePublisher } from './instrumentation.ts';

interface ChannelDeps {
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
    | 'grades'
    | 'publishedEvents'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer;
}

interface OpenChannels {
  readonly messengers: Messengers;
  /** The names of the channels that publish confident answers. */
  readonly publisherNames: readonly string[];
  readonly handlers: readonly WorkHandler[];
}

/** Opens all channels, and creates the handlers that send through them. */
export async function openChannels(
  config: Pick<Config, 'channels' | 'http' | 'providers'>,
  { stores, clock, logger, tracer = silentTracer }: ChannelDeps,
): Promise<OpenChannels> {
  const { publicUrl } = config.http;
  const { timeoutMs: timeLimitMs, pauseMs } = config.channels;
  const parts: ChannelParts = { clock, logger, history: stores.history, publicUrl };
  const deps = { stores, publicUrl, timeLimitMs, pauseMs };
  const messengers: Record<string, Messenger> = {};
  const publisherNames: string[] = [];
  const handlers: WorkHandler[] = createRuleHandlers({ stores, clock, logger });
  for (const { name, answers, events, messages } of createChannels(config.channels)) {
    if (answers !== undefined) {
      publisherNames.push(name);
      const publisher = tracePublisher(name, await answers(parts), tracer, stores.triages);
      handlers.push(createAnswerHandler(name, publisher, deps));
    }
    if (events !== undefined) {
      const publisher = tracePublisher(name, await events.open(parts), tracer, stores.triages);
      handlers.push(createEventHandler(name, publisher, deps));
    }
    if (messages === undefined) continue;
    const messenger = await openMessenger(messages, parts);
    if (messenger !== null) messengers[name] = messenger;
    handlers.push(createMessageHandler(name, messages, messenger, deps));
  }
  for (const { channel, open, because } of listNoticeChannels(config)) {
    if (open !== null)
      handlers.push(createNoticeHandler(channel, await open(parts), { ...stores, timeLimitMs, pauseMs }));
    else logger.warn({ channel, because }, 'a notification channel is off: it is not fully configured');
  }
  return {
    messengers,
    publisherNames,
    handlers,
  };
}

/** Lists the channels that keep a notice up to date, including the providers' channels. */
function listNoticeChannels(config: Pick<Config, 'channels' | 'providers'>): NoticeChannel[] {
  return [
    ...createProviders(config.providers).flatMap(({ channels }) => channels),
    ...createChannels(config.channels).flatMap(({ notices }) => notices ?? []),
  ];
}

/** Lists the notice channels that are fully configured. The stores of every process need their rules. */
export function listConfiguredNoticeChannels(
  config: Pick<Config, 'channels' | 'providers'>,
): NoticeChannel[] {
  return listNoticeChannels(config).filter(({ open }) => open !== null);
}

/** Lists the channels that publish events. The stores of every process need them. */
export function listEventSettings(config: Pick<Config, 'channels' | 'review'>): EventSettings {
  const channels = createChannels(config.channels);
  const listFor = (group: EventGroup) =>
    channels.filter(({ events }) => events?.groups.includes(group)).map(({ name }) => name);
  return { decisions: listFor('decisions'), outcomes: listFor('outcomes'), undoMs: config.review.undoMs };
}
