import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/time.ts';
import type { ChatRoom, SlackButtons } from '../ports/chat-room.ts';
import type { Database } from '../ports/database.ts';
import type { NoticeChannel, NoticeRule } from '../ports/notices.ts';
import type { Stores } from '../ports/stores.ts';
import { slackChannel, slackRule } from '../publish/slack/slack-channel.ts';
import { createSlackPresses } from '../store/access.ts';

type SlackSettings = Pick<Config, 'slack'>;

/** Where Slack is spoken in; none where it is not configured. */
export function slackRulesOf({ slack }: SlackSettings): NoticeRule[] {
  return isSpoken(slack) ? [slackRule(channelIn(slack))] : [];
}

/** The channel of notices; none where Slack is not configured. */
export async function openSlackChannels(
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
  return token === null ? null : (await import('../adapters/publisher/slack.ts')).createSlackRoom({ token, baseUrl });
}

function isSpoken({ token, channel, channels }: Config['slack']): boolean {
  return token !== null && (channel !== null || Object.keys(channels).length > 0);
}

function channelIn({ channel, channels }: Config['slack']): (repository: string) => string | null {
  return (repository) => channels[repository] ?? channel;
}
