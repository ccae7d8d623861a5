import { z } from 'zod';
import { NotificationRule, NotificationRuleInput } from '../domain/notification-rule.ts';
import type { Channel } from './channel.ts';
import { createEmailChannel, EmailSettings } from './email.ts';
import { createLogChannel } from './log.ts';
import { createSlackChannel, SlackSettings } from './slack.ts';
import { createTeamsChannel, TeamsSettings } from './teams.ts';
import { createWebhookChannel, WebhookSettings } from './webhook.ts';

/** Returns every channel that is not a provider's, with its settings. */
export function createChannels({ slack, teams, email, webhook, timeoutMs }: ChannelsConfig): Channel[] {
  return [
    createLogChannel(),
    createSlackChannel(slack),
    createTeamsChannel(teams),
    createEmailChannel(email, timeoutMs),
    createWebhookChannel(webhook),
  ];
}

/**
 * The settings of each channel, with the variables that set them, and the settings that all channels share.
 */
export const ChannelsConfig = z.object({
  slack: SlackSettings.prefault({}),
  teams: TeamsSettings.prefault({}),
  email: EmailSettings.prefault({}),
  webhook: WebhookSettings.prefault({}),
  /** The minimum time between two edits of one published text, in milliseconds. */
  pauseMs: z.int().min(0).max(600_000).default(20_000),
  /** The time limit of one call, in milliseconds. */
  timeoutMs: z.int().min(100).max(120_000).default(10_000),
});
export type ChannelsConfig = z.infer<typeof ChannelsConfig>;

/** The channels that notification rules may name, configured or not. */
export const MESSAGE_CHANNELS = createChannels(ChannelsConfig.parse({})).flatMap(({ name, messages }) =>
  messages === undefined ? [] : [{ name, label: messages.label, setting: messages.setting }],
);

const ChannelName = z.enum(MESSAGE_CHANNELS.map(({ name }) => name));

/** A rule as people enter it, for one of these channels. */
export const RuleInput = NotificationRuleInput.extend({ channel: ChannelName });

/** A stored rule, as the API describes it. */
export const Rule = NotificationRule.extend({ channel: ChannelName });

/** Returns the display name of a channel. */
export function labelChannel(name: string): string {
  return MESSAGE_CHANNELS.find((channel) => channel.name === name)?.label ?? name;
}
