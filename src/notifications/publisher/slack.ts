import { type FetchFunction, LogLevel, WebClient } from '@slack/web-api';
import { z } from 'zod';
import { TriageError, type TriageErrorCode } from '../../domain/errors.ts';
import { readBytes } from '../../lib/http-body.ts';
import type { ChatBlock, ChatButton, ChatMessage, ChatPlace, ChatRoom } from '../../ports/chat-room.ts';

export interface SlackOptions {
  /**
   * The token of a bot with the scope `chat:write`. With `channels:history`, a message is not posted twice
   * after a crash.
   */
  readonly token: string;
  /** The base address of the Web API. */
  readonly baseUrl: string;
}

/** The number of recent messages among which an earlier message is searched for. */
const LOOKED_AT = 50;
const EVENT = 'faultline_notice';

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
export function createSlackRoom(options: SlackOptions): ChatRoom {
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
  const say = async (
    method: string,
    where: object,
    message: ChatMessage,
    key: string,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const metadata = { event_type: EVENT, event_payload: { key } };
    const body = { ...where, metadata, text: message.text, unfurl_links: false, unfurl_media: false };
    try {
      return await call(method, { ...body, blocks: slackBlocks(message) }, signal);
    } catch (error) {
      if (!(error instanceof TriageError) || error.code !== 'too-large') throw error;
      return await call(
        method,
        { ...body, blocks: slackBlocks({ ...message, blocks: message.blocks.slice(0, 1) }) },
        signal,
      );
    }
  };
  return {
    post: async (channel, message, { key, signal }) =>
      toPlace(await say('chat.postMessage', { channel }, message, key, signal)),
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
      const found = messages.find(
        ({ metadata }) => metadata?.event_type === EVENT && metadata.event_payload.key === key,
      );
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

/** Creates one client per call, because only then can the caller's signal end the call. */
function createClient({ token, baseUrl }: SlackOptions, signal: AbortSignal): WebClient {
  return new WebClient(token, {
    slackApiUrl: baseUrl,
    fetch: boundedFetch(signal),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger: SILENT,
  });
}

function toPlace(reply: unknown): ChatPlace {
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
function unlessForbidden(error: unknown): null {
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
  advice: 'Is FAULTLINE_SLACK_CHANNEL a channel ID, and was the app invited to the channel?',
};
const GONE: Kind = { code: 'not-found' };
const TOO_LONG: Kind = { code: 'too-large' };
const PASSING: Kind = { code: 'upstream-failed', retryable: true };

/** Slack's own words for what is wrong; what is not here is final. */
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
 * Converts an error of Slack's client to ours. Its own message may contain the address or the body, so only
 * Slack's code is repeated.
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
  if (thrown?.data !== undefined) return refusal(method, thrown.data.error, error);
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

function refusal(method: string, said: string, cause: unknown): TriageError {
  const { code, retryable = false, advice = '' }: Kind = KINDS[said] ?? { code: 'upstream-failed' };
  const word = /^[a-z_]{1,60}$/.test(said) ? said : 'something unknown';
  return new TriageError(code, `Slack rejected ${method}: ${word}. ${advice}`.trim(), { retryable, cause });
}

/** Slack's answers to what is asked here are some kilobytes; fifty messages of a channel are more. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Creates a fetch for Slack's client. It ends with the caller's signal, follows no redirect, because a token
 * is sent along, and limits the size of the answer.
 */
export function boundedFetch(signal: AbortSignal): FetchFunction {
  return async (input, init) => {
    const both = init?.signal === undefined ? signal : AbortSignal.any([signal, init.signal]);
    const response = await fetch(input, { ...init, signal: both, redirect: 'error' });
    const bytes = await readBytes(response.body, MAX_ANSWER_BYTES);
    if (bytes === null) throw new Error('The answer is larger than 4 MB.');
    const { status, statusText, headers } = response;
    return new Response(status === 204 || status === 304 ? null : bytes, { status, statusText, headers });
  };
}

/**
 * Slack's limits: blocks of a message, characters of a section, of a button, of its value and of all together
 * (docs.slack.dev, bolt-js#2509).
 */
const MAX_BLOCKS = 50;
const MAX_SECTION = 3_000;
const MAX_LABEL = 75;
const MAX_VALUE = 2_000;
const MAX_URL = 3_000;
const MAX_TOTAL = 12_000;
const MAX_BUTTONS = 25;

/**
 * Converts a message to Block Kit, within Slack's limits. Blocks beyond the limits are left out from the end;
 * text is never cut inside an entity.
 */
export function slackBlocks({ blocks }: ChatMessage): object[] {
  const shown: object[] = [];
  let total = 0;
  for (const block of blocks.slice(0, MAX_BLOCKS)) {
    const made = 'text' in block ? toSection(block.text) : toActions(block.buttons);
    if (made === null) continue;
    total += countCharacters(block);
    if (total > MAX_TOTAL) break;
    shown.push(made);
  }
  return shown;
}

function toSection(text: string): object | null {
  return text === ''
    ? null
    : { type: 'section', text: { type: 'mrkdwn', text: cutEscaped(text, MAX_SECTION), verbatim: true } };
}

function toActions(buttons: readonly ChatButton[]): object | null {
  const elements = buttons.filter(isWithinLimits).slice(0, MAX_BUTTONS).map(toButton);
  return elements.length === 0 ? null : { type: 'actions', elements };
}

function isWithinLimits(button: ChatButton): boolean {
  return 'url' in button ? button.url.length <= MAX_URL : button.value.length <= MAX_VALUE;
}

function toButton(button: ChatButton): object {
  const face = {
    type: 'button',
    action_id: button.id,
    text: { type: 'plain_text', text: button.label.slice(0, MAX_LABEL) },
  };
  if ('url' in button) return { ...face, url: button.url };
  return { ...face, value: button.value, ...(button.style === undefined ? {} : { style: button.style }) };
}

function countCharacters(block: ChatBlock): number {
  if ('text' in block) return Math.min(block.text.length, MAX_SECTION);
  return block.buttons.reduce(
    (sum, button) => sum + button.label.length + ('url' in button ? button.url : button.value).length,
    0,
  );
}

/**
 * Cuts at whole characters and entities: `&am` would show as itself, and `<http…` would swallow what follows.
 */
function cutEscaped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  const open = Math.max(cut.lastIndexOf('&'), cut.lastIndexOf('<'));
  const closed = Math.max(cut.lastIndexOf(';'), cut.lastIndexOf('>'));
  return `${(open > closed && open > limit - 400 ? cut.slice(0, open) : cut).replace(/[\ud800-\udbff]$/, '')}…`;
}
