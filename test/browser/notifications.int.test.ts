import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAxeFindings } from '../support/browser.ts';
import { openReviewWorld, type ReviewWorld } from '../support/review-world.ts';
import { SLACK_TOKEN, type SlackApi, startSlackApi } from '../support/slack-api.ts';

const SIZES = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
];
const CHANNEL = 'C0123456789';

let slack: SlackApi;
let client: ReviewWorld;
beforeAll(async () => {
  slack = await startSlackApi();
  client = await openReviewWorld({
    change: (config) => ({
      ...config,
      channels: {
        ...config.channels,
        slack: { ...config.channels.slack, token: SLACK_TOKEN, baseUrl: slack.url },
        teams: { webhooks: { payments: 'http://127.0.0.1:9/secret-of-the-webhook' } },
      },
    }),
  });
  for (const [at, slug] of ['npm-eresolve', 'registry-unavailable', 'checkout-type-error'].entries())
    await client.console.bring({ slug, repository: 'demo/shop', number: String(810 + at) });
});
afterAll(async () => {
  await client.close();
  await slack.close();
});

async function fillRule(page: Page, name: string, query: string) {
  page.setDefaultTimeout(10_000);
  await page.goto('/notifications');
  await page.getByRole('link', { name: 'New rule' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('What happens').selectOption('');
  await fillConditions(page, query);
  await page.locator('select[name=channel]').selectOption('slack');
  await page.getByLabel('Destination').fill(CHANNEL);
}

/** Fills the search that failures must fit, which is folded until it is needed. */
async function fillConditions(page: Page, query: string) {
  const field = page.getByLabel('Search that every failure must fit');
  if (!(await field.isVisible())) await page.getByText('More conditions').click();
  await field.fill(query);
}

const press = async (page: Page, name: string) =>
  await page.getByRole('button', { name, exact: true }).click();

describe.each([true, false])('67: a notification rule, with scripts: %s', (javaScript) => {
  it('is previewed, tested, saved, changed and deleted', async () => {
    const name = `Shop ${javaScript}`;
    const complaints = await client.at(
      'anna',
      async (page) => {
        await fillRule(page, name, '');
        await page.getByLabel('What happens').selectOption('is:new');
        await page.getByLabel('Repository').fill('demo/shop');
        await press(page, 'Preview');
        expect(await page.locator('#preview').textContent()).toMatch(
          /would have sent [1-3] messages? in the last 7 days/,
        );
        expect(await page.getByLabel('What happens').inputValue()).toBe('is:new');
        expect(await page.getByLabel('Repository').inputValue()).toBe('demo/shop');
        const before = slack.messages.length;
        await press(page, 'Send a test message');
        await page.getByText('The test message was sent.').waitFor();
        const [message, ...others] = slack.messages.slice(before);
        expect([message?.channel, others, JSON.stringify(message?.blocks)]).toEqual([
          CHANNEL,
          [],
          expect.stringContaining('This is a test message.'),
        ]);
        await fillConditions(page, 'node:x');
        await press(page, 'Save');
        await page.getByText('There is no filter node:.').waitFor();
        await fillConditions(page, '');
        await page.locator('select[name=when]').selectOption('9');
        await page.getByLabel('Time zone').fill('Europe/Berlin');
        await press(page, 'Save');
        await page.getByRole('link', { name }).click();
        expect(await page.locator('select[name=when]').inputValue()).toBe('9');
        await page.locator('input[name=enabled]').uncheck();
        await press(page, 'Save');
        expect(await page.getByRole('row', { name }).textContent()).toContain('off');
        await page.getByRole('link', { name }).click();
        await page.getByText('History (2)').click();
        expect(await page.locator('main').textContent()).toContain('anna: turned off');
        await page.locator('summary', { hasText: 'Delete' }).click();
        await press(page, 'Delete this rule');
        await page.getByRole('heading', { name: 'Notifications' }).waitFor();
        expect(await page.getByRole('link', { name }).count()).toBe(0);
      },
      { javaScript },
    );
    expect(complaints.filter((complaint) => !complaint.includes('status of 400'))).toEqual([]);
  });
});

it('68: a saved rule sends the next failure, once, to the configured owner', async () => {
  await client.at('anna', async (page) => {
    await page.goto('/notifications');
    await page.locator('input[name=owner]:visible').fill('@demo/web');
    await page.locator('input[name=slack]').fill('C0000000001');
    await page.locator('input[name=slackMention]').fill('everyone');
    await press(page, 'Save owner');
    await page.getByText('Slack ID: must be the ID of a member').waitFor();
    await page.locator('input[name=slackMention]').fill('S0123456789');
    await press(page, 'Save owner');
    await page.getByRole('row', { name: '@demo/web' }).waitFor();
    await fillRule(page, 'Web', 'repo:demo/web');
    await press(page, 'Save');
    await page.getByRole('link', { name: 'Web' }).waitFor();
    const before = slack.messages.length;
    await client.console.bring({ slug: 'npm-eresolve', repository: 'demo/web', number: '1' });
    await client.console.bring({ slug: 'npm-eresolve', repository: 'demo/other', number: '1' });
    for (let tries = 0; tries < 300 && slack.messages.length === before; tries++)
      await page.waitForTimeout(100);
    expect(slack.messages.slice(before).map(({ channel, text }) => `${channel} ${text}`)).toEqual([
      expect.stringContaining(CHANNEL),
    ]);
    expect(JSON.stringify(slack.messages.at(-1)?.blocks)).toContain('demo/web');
    await page.getByRole('link', { name: 'Web' }).click();
    await page.getByRole('cell', { name: 'sent' }).waitFor();
  });
});

describe.each(['light', 'dark'] as const)('67: the notification pages in %s', (theme) => {
  it.each(SIZES)('are accessible and do not scroll sideways at $width px', async (size) => {
    const complaints = await client.at(
      'anna',
      async (page) => {
        for (const url of ['/notifications', '/notifications/new']) {
          await page.goto(url);
          if (url.endsWith('new')) {
            await fillRule(page, 'Shop', 'repo:demo/shop');
            await press(page, 'Preview');
            await page.locator('#preview').waitFor();
          }
          expect([url, await listAxeFindings(page)]).toEqual([url, []]);
          expect(
            await page.locator('main').evaluate((one) => one.scrollWidth - one.clientWidth),
          ).toBeLessThanOrEqual(0);
          expect(await page.content()).not.toContain('secret-of-the-webhook');
        }
      },
      { theme, ...size },
    );
    expect(complaints).toEqual([]);
  });
});

it('67: a reader sees neither page nor link', async () => {
  await client.at('reader', async (page) => {
    expect((await page.goto('/notifications'))?.status()).toBe(403);
    await page.goto('/builds');
    expect(await page.getByRole('link', { name: 'Notifications' }).count()).toBe(0);
  });
});
