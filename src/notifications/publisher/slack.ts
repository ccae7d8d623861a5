import { LogLevel, WebClient } from '@slack/web-api';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { ChatMessage, ChatPlace, ChatRoom } from '../../ports/chat-room.ts';
import { slackBlocks } from './slack-blocks.ts';
import { toTriageError } from './slack-errors.ts';
import { boundedFetch } from './slack-fetch.ts';

export interface SlackOptions {
  /** Of a bot, with the right `chat:write`; with `channels:history` a message is not posted twice after a crash. */
  readonly token: string;
  /** Of the Web API. */
  readonly baseUrl: string;
}

/** How far back a message is looked for. */
const LOOKED_AT = 50;
const EVENT = 'faultline_notice';

const Posted = z.object({ channel: z.string(), ts: z.string() });
const Identity = z.object({ team: z.string(), user: z.string() });
const History = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      metadata: z.object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) }).optional(),
    }),
  ),
});

const mute = () => undefined;
const SILENT = { debug: mute, info: mute, warn: mute, error: mute, setLevel: mute, getLevel: () => LogLevel.ERROR, setName: mute };

/**
 * Slack's Web API. Nothing is tried again here: whoever keeps the notice knows when. A message that Slack finds too long for blocks goes
 * out as its first lines.
 */
export function createSlackRoom(options: SlackOptions): ChatRoom {
  const call = async (method: string, body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> => {
    signal.throwIfAborted();
    try {
      return await clientOf(options, signal).apiCall(method, body);
    } catch (error) {
      throw toTriageError(method, error, signal);
    }
  };
  const say = async (method: string, where: object, message: ChatMessage, key: string, signal: AbortSignal): Promise<unknown> => {
    const metadata = { event_type: EVENT, event_payload: { key } };
    const body = { ...where, metadata, text: message.text, unfurl_links: false, unfurl_media: false };
    try {
      return await call(method, { ...body, blocks: slackBlocks(message) }, signal);
    } catch (error) {
      if (!(error instanceof TriageError) || error.code !== 'too-large') throw error;
      return await call(method, { ...body, blocks: slackBlocks({ ...message, blocks: message.blocks.slice(0, 1) }) }, signal);
    }
  };
  return {
    post: async (channel, message, { key, signal }) => placeOf(await say('chat.postMessage', { channel }, message, key, signal)),
    update: async (at, message, { key, signal }) => {
      await say('chat.update', { channel: at.channel, ts: at.message }, message, key, signal);
    },
    reply: async (at, text, signal) => {
      await call(
        'chat.postMessage',
        { channel: at.channel, thread_ts: at.message, text, unfurl_links: false, unfurl_media: false },
        signal,
      );
    },
    find: async (channel, key, signal) => {
      const query = { channel, limit: LOOKED_AT, include_all_metadata: true };
      const history = await call('conversations.history', query, signal).catch(unlessForbidden);
      const messages = History.safeParse(history).data?.messages ?? [];
      const found = messages.find(({ metadata }) => metadata?.event_type === EVENT && metadata.event_payload.key === key);
      return found === undefined ? null : { channel, message: found.ts };
    },
    whisper: async ({ channel, user }, text, signal) => {
      await call('chat.postEphemeral', { channel, user, text }, signal);
    },
    whoAmI: async (signal) => {
      const { user, team } = read(Identity, 'auth.test', await call('auth.test', {}, signal));
      return `${user} in ${team}`;
    },
  };
}

/** One a call: only so can the caller's signal end it. */
function clientOf({ token, baseUrl }: SlackOptions, signal: AbortSignal): WebClient {
  return new WebClient(token, {
    slackApiUrl: baseUrl,
    fetch: boundedFetch(signal),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger: SILENT,
  });
}

function placeOf(reply: unknown): ChatPlace {
  const { channel, ts } = read(Posted, 'chat.postMessage', reply);
  return { channel, message: ts };
}

function read<Value>(schema: z.ZodType<Value>, method: string, reply: unknown): Value {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  throw new TriageError('upstream-failed', `Slack returned an undocumented response for ${method}.`, { cause: parsed.error });
}

/** Without the right to read the channel, nothing is known. */
function unlessForbidden(error: unknown): null {
  if (error instanceof TriageError && error.code === 'upstream-auth') return null;
  throw error;
}
