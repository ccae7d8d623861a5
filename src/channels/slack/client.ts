import { type FetchFunction, LogLevel, WebClient } from '@slack/web-api';
import { z } from 'zod';
import { TriageError, type TriageErrorCode } from '../../domain/errors.ts';
import { readBytes } from '../../lib/http-body.ts';
import { type SlackMessage, toSlackBlocks } from './message.ts';

export interface SlackOptions {
  /**
   * The token of a bot with the scope `chat:write`. With `channels:history`, a message is not posted twice
   * after a crash.
   */
  readonly token: string;
  /** The base URL of the Web API. */
  readonly baseUrl: string;
}

/** The client of Slack's API. Every call throws TriageError, `retryable` if it may be repeated. */
export type SlackClient = ReturnType<typeof createSlackClient>;

export interface SlackPlace {
  readonly channel: string;
  /** Slack's own name of the message. */
  readonly message: string;
}

interface WriteOptions {
  /** The permanent key of the message. */
  readonly key: string;
  readonly signal: AbortSignal;
}

/** The number of recent messages among which an earlier message is searched for. */
const LOOKED_AT = 50;
const EVENT = 'faultline_notice';
const NO_PREVIEWS = { unfurl_links: false, unfurl_media: false };

const Posted = z.object({ channel: z.string(), ts: z.string() });
const Identity = z.object({ team: z.string(), user: z.string() });
const History = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      metadata: z
        .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) })
        .optional(),
    }),
  ),
});

const mute = () => undefined;
const SILENT = {
  debug: mute,
  info: mute,
  warn: mute,
  error: mute,
  setLevel: mute,
  getLevel: () => LogLevel.ERROR,
  setName: mute,
};

/**
 * Creates a client of Slack's Web API. It does not retry: the caller that owns the notice decides when to try
 * again. A message with blocks that are too long for Slack is sent with its first block only.
 */
export function createSlackClient(options: SlackOptions) {
  const call = async (
    method: string,
    body: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<unknown> => {
    signal.throwIfAborted();
    try {
      return await createClient(options, signal).apiCall(method, body);
    } catch (error) {
      throw toTriageError(method, error, signal);
    }
  };
  const write = async (
    method: string,
    where: object,
    message: SlackMessage,
    { key, signal }: WriteOptions,
  ): Promise<unknown> => {
    const metadata = { event_type: EVENT, event_payload: { key } };
    const body = { ...where, metadata, text: message.text, ...NO_PREVIEWS };
    try {
      return await call(method, { ...body, blocks: toSlackBlocks(message) }, signal);
    } catch (error) {
      if (!(error instanceof TriageError) || error.code !== 'too-large') throw error;
      const first = { ...message, blocks: message.blocks.slice(0, 1) };
      return await call(method, { ...body, blocks: toSlackBlocks(first) }, signal);
    }
  };
  return {
    /** Posts a message. `key` is stored with the message, so that `find` can find it. */
    post: async (channel: string, message: SlackMessage, options: WriteOptions) =>
      toPlace(await write('chat.postMessage', { channel }, message, options)),
    /** Changes a message. Throws `not-found` if the message is gone. */
    update: async (at: SlackPlace, message: SlackMessage, options: WriteOptions) => {
      await write('chat.update', { channel: at.channel, ts: at.message }, message, options);
    },
    /** Posts a reply below a message. `text` is already escaped. */
    reply: async (at: SlackPlace, text: string, signal: AbortSignal) => {
      const body = { channel: at.channel, thread_ts: at.message, text, ...NO_PREVIEWS };
      await call('chat.postMessage', body, signal);
    },
    /**
     * Finds a recent message by its key. Returns null if there is none, or if Slack does not permit the
     * lookup.
     */
    find: async (channel: string, key: string, signal: AbortSignal): Promise<SlackPlace | null> => {
      const query = { channel, limit: LOOKED_AT, include_all_metadata: true };
      const history = await call('conversations.history', query, signal).catch(ignoreForbidden);
      const messages = History.safeParse(history).data?.messages ?? [];
      const found = messages.find(
        ({ metadata }) => metadata?.event_type === EVENT && metadata.event_payload.key === key,
      );
      return found === undefined ? null : { channel, message: found.ts };
    },
    /** Posts a message that only one person in a channel sees. `text` is already escaped. */
    postEphemeral: async (
      { channel, user }: { readonly channel: string; readonly user: string },
      text: string,
      signal: AbortSignal,
    ) => {
      await call('chat.postEphemeral', { channel, user, text }, signal);
    },
    /** Returns the identity of the bot in Slack. */
    whoAmI: async (signal: AbortSignal) => {
      const { user, team } = read(Identity, 'auth.test', await call('auth.test', {}, signal));
      return `${user} in ${team}`;
    },
  };
}

/** Creates one client per call, because only then can the caller's signal end the call. */
function createClient({ token, baseUrl }: SlackOptions, signal: AbortSignal): WebClient {
  return new WebClient(token, {
    slackApiUrl: baseUrl,
    fetch: createBoundedFetch(signal),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger: SILENT,
  });
}

function toPlace(reply: unknown): SlackPlace {
  const { channel, ts } = read(Posted, 'chat.postMessage', reply);
  return { channel, message: ts };
}

function read<Value>(schema: z.ZodType<Value>, method: string, reply: unknown): Value {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  throw new TriageError('upstream-failed', `Slack returned an undocumented response for ${method}.`, {
    cause: parsed.error,
  });
}

/**
 * Returns null if the bot may not read the channel, because nothing is known then. Throws any other error.
 */
function ignoreForbidden(error: unknown): null {
  if (error instanceof TriageError && error.code === 'upstream-auth') return null;
  throw error;
}

/** The fields of an error of Slack's client that identify its kind. */
const Thrown = z.object({
  code: z.string(),
  data: z.object({ error: z.string() }).optional(),
  statusCode: z.number().optional(),
  retryAfter: z.number().optional(),
});

interface Kind {
  readonly code: TriageErrorCode;
  readonly retryable?: boolean;
  readonly advice?: string;
}

const BAD_TOKEN: Kind = {
  code: 'upstream-auth',
  advice: 'Slack does not accept FAULTLINE_SLACK_TOKEN (any longer).',
};
const NO_ROOM: Kind = {
  code: 'upstream-failed',
  advice: 'Does FAULTLINE_SLACK_CHANNELS name channel IDs, and was the app invited to the channel?',
};
const GONE: Kind = { code: 'not-found' };
const TOO_LONG: Kind = { code: 'too-large' };
const PASSING: Kind = { code: 'upstream-failed', retryable: true };

/** The error codes of Slack. All others are final. */
const KINDS: Readonly<Record<string, Kind>> = {
  not_authed: BAD_TOKEN,
  invalid_auth: BAD_TOKEN,
  account_inactive: BAD_TOKEN,
  token_revoked: BAD_TOKEN,
  token_expired: BAD_TOKEN,
  missing_scope: { code: 'upstream-auth', advice: 'The app lacks a scope for this call.' },
  no_permission: { code: 'upstream-auth', advice: 'The app lacks a scope for this call.' },
  channel_not_found: NO_ROOM,
  not_in_channel: NO_ROOM,
  is_archived: { code: 'upstream-failed', advice: 'The channel is archived.' },
  message_not_found: GONE,
  msg_too_long: TOO_LONG,
  msg_blocks_too_long: TOO_LONG,
  invalid_blocks: TOO_LONG,
  ratelimited: { code: 'rate-limited', retryable: true },
  rate_limited: { code: 'rate-limited', retryable: true },
  internal_error: PASSING,
  fatal_error: PASSING,
  service_unavailable: PASSING,
  request_timeout: PASSING,
  team_added_to_org: PASSING,
};

/**
 * Converts an error of Slack's client to a TriageError. Its own message may contain the address or the body,
 * so only Slack's code is repeated.
 */
export function toTriageError(method: string, error: unknown, signal: AbortSignal): TriageError {
  if (signal.aborted)
    return new TriageError('cancelled', `The Slack call ${method} was stopped.`, {
      retryable: true,
      cause: error,
    });
  const { data: thrown } = Thrown.safeParse(error);
  if (thrown?.retryAfter !== undefined) {
    const retryAfterMs = thrown.retryAfter * 1000;
    return new TriageError('rate-limited', `Slack is rate limiting ${method}.`, {
      retryable: true,
      retryAfterMs,
      cause: error,
    });
  }
  if (thrown?.data !== undefined) return createRefusal(method, thrown.data.error, error);
  if (thrown?.statusCode !== undefined) {
    const retryable = thrown.statusCode >= 500 || thrown.statusCode === 408 || thrown.statusCode === 429;
    return new TriageError('upstream-failed', `Slack returned ${thrown.statusCode} for ${method}.`, {
      retryable,
      cause: error,
    });
  }
  return new TriageError('upstream-failed', `Slack could not be reached for ${method}.`, {
    retryable: true,
    cause: error,
  });
}

function createRefusal(method: string, errorCode: string, cause: unknown): TriageError {
  const { code, retryable = false, advice = '' }: Kind = KINDS[errorCode] ?? { code: 'upstream-failed' };
  const word = /^[a-z_]{1,60}$/.test(errorCode) ? errorCode : 'something unknown';
  return new TriageError(code, `Slack rejected ${method}: ${word}. ${advice}`.trim(), { retryable, cause });
}

/**
 * The maximum size of a response of Slack, in bytes. Most responses have some kilobytes; a list of fifty
 * messages has more.
 */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Creates a fetch for Slack's client. It ends with the caller's signal, and limits the size of the response.
 * It follows no redirect, because the token would be sent along.
 */
export function createBoundedFetch(signal: AbortSignal): FetchFunction {
  return async (input, init) => {
    const both = init?.signal === undefined ? signal : AbortSignal.any([signal, init.signal]);
    const response = await fetch(input, { ...init, signal: both, redirect: 'error' });
    const bytes = await readBytes(response.body, MAX_ANSWER_BYTES);
    if (bytes === null) throw new Error('The answer is larger than 4 MB.');
    const { status, statusText, headers } = response;
    return new Response(status === 204 || status === 304 ? null : bytes, { status, statusText, headers });
  };
}
