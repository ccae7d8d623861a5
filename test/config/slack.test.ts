import { describe, expect, it } from 'vitest';
import { createEmbeddedPreset, loadConfig } from '../../src/config/load.ts';

function load(environment: Readonly<Record<string, string>>) {
  return loadConfig(createEmbeddedPreset('/data', '/knowledge'), environment, () => 'xoxb-from-a-file\n');
}

it('nothing is posted to Slack or written to Jenkins by default', () => {
  const { channels, providers } = load({});
  expect(channels.slack).toMatchObject({
    token: null,
    channels: {},
    reviewers: [],
    baseUrl: 'https://slack.com/api/',
  });
  expect(providers.jenkins.description).toBe('off');
});

it('the token is read from a file, and channels by repository, secrets and reviewers are set', () => {
  const { slack } = load({
    FAULTLINE_SLACK_TOKEN_FILE: '/run/secrets/slack',
    FAULTLINE_SLACK_CHANNELS: '*=C0123456789,shop/api=C0000000001,shop/web=C0000000002',
    FAULTLINE_SLACK_SIGNING_SECRET: 'first-secret,second-secret',
    FAULTLINE_SLACK_REVIEWERS: 'U0123456789, U0000000001',
  }).channels;
  expect(slack).toMatchObject({
    token: 'xoxb-from-a-file',
    channels: { '*': 'C0123456789', 'shop/api': 'C0000000001', 'shop/web': 'C0000000002' },
    signingSecrets: ['first-secret', 'second-secret'],
    reviewers: ['U0123456789', 'U0000000001'],
  });
});

describe('an invalid Slack setting', () => {
  it.each([
    [{ FAULTLINE_SLACK_CHANNELS: '*=C0123456789' }, 'but no token'],
    [{ FAULTLINE_SLACK_TOKEN: 'xoxb-1', FAULTLINE_SLACK_CHANNELS: '*=#builds' }, 'must be a channel ID'],
    [{ FAULTLINE_SLACK_REVIEWERS: 'ada' }, 'must be a member ID'],
    [{ FAULTLINE_JENKINS_DESCRIPTION: 'yes' }, 'FAULTLINE_JENKINS_DESCRIPTION'],
  ])('is refused with the reason: %j', (set, said) => {
    expect(() => load(set)).toThrow(said);
  });
});
