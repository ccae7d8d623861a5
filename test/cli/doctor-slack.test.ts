import { afterEach, beforeEach, expect, it } from 'vitest';
import type { z } from 'zod';
import { createSlackChannel, SlackSettings } from '../../src/channels/slack.ts';
import { SLACK_TOKEN, type SlackApi, startSlackApi } from '../support/slack-api.ts';

let slack: SlackApi;
beforeEach(async () => {
  slack = await startSlackApi();
});
afterEach(async () => slack.close());

async function ask(change: z.input<typeof SlackSettings>) {
  const settings = SlackSettings.parse({ token: SLACK_TOKEN, baseUrl: slack.url, ...change });
  const [check] = createSlackChannel(settings).checks();
  const findings = await check?.ask(AbortSignal.timeout(5_000));
  return [findings ?? []].flat().map(({ name, state }) => `${name}: ${state}`);
}

it('doctor does not mention Slack if it is not configured', () => {
  expect(createSlackChannel(SlackSettings.parse({})).checks()).toEqual([]);
});

it.each([
  [
    { channels: { '*': 'C0123456789' }, signingSecrets: ['a-secret'], reviewers: ['U0123456789'] },
    ['slack: ok', 'slack buttons: ok'],
  ],
  [{ channels: { '*': 'C0123456789' }, signingSecrets: ['a-secret'] }, ['slack: ok', 'slack buttons: note']],
  [{}, ['slack: note', 'slack buttons: note']],
])('doctor reports %j as %j', async (change, found) => {
  expect(await ask(change)).toEqual(found);
});

it('doctor fails with the reason if Slack refuses the token', async () => {
  await expect(ask({ token: 'xoxb-another' })).rejects.toMatchObject({ code: 'upstream-auth' });
});
