import { z } from 'zod';
import { TriageError, type TriageErrorCode } from '../../domain/errors.ts';

/** What Slack's client throws, of it what tells one kind from another. */
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

const BAD_TOKEN: Kind = { code: 'upstream-auth', advice: 'Slack does not accept FAULTLINE_SLACK_TOKEN (any longer).' };
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

/** An error of Slack's client as ours. Its own words may hold the address or the body, so only Slack's code is repeated. */
export function toTriageError(method: string, error: unknown, signal: AbortSignal): TriageError {
  if (signal.aborted) return new TriageError('cancelled', `The Slack call ${method} was stopped.`, { retryable: true, cause: error });
  const { data: thrown } = Thrown.safeParse(error);
  if (thrown?.retryAfter !== undefined) {
    const retryAfterMs = thrown.retryAfter * 1000;
    return new TriageError('rate-limited', `Slack is rate limiting ${method}.`, { retryable: true, retryAfterMs, cause: error });
  }
  if (thrown?.data !== undefined) return refusal(method, thrown.data.error, error);
  if (thrown?.statusCode !== undefined) {
    const retryable = thrown.statusCode >= 500 || thrown.statusCode === 408 || thrown.statusCode === 429;
    return new TriageError('upstream-failed', `Slack returned ${thrown.statusCode} for ${method}.`, { retryable, cause: error });
  }
  return new TriageError('upstream-failed', `Slack could not be reached for ${method}.`, { retryable: true, cause: error });
}

function refusal(method: string, said: string, cause: unknown): TriageError {
  const { code, retryable = false, advice = '' }: Kind = KINDS[said] ?? { code: 'upstream-failed' };
  const word = /^[a-z_]{1,60}$/.test(said) ? said : 'something unknown';
  return new TriageError(code, `Slack rejected ${method}: ${word}. ${advice}`.trim(), { retryable, cause });
}
