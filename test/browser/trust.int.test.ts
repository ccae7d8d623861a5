import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unseenFigures } from '../../src/judge/judgement.ts';
import { tell } from '../console/insights/insights-world.ts';
import { axeFindings, openBrowser, openPage } from '../support/browser.ts';
import { openConsole, type TestConsole, TOKENS } from '../support/console.ts';

const DAY = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY).toISOString();
let console: TestConsole;
let browser: Browser;
let address: string;
let session: string;

/** Fifty decided answers before a change of the threshold and fifty after it; of the later ones more were right. */
beforeAll(async () => {
  [console, browser] = await Promise.all([openConsole({ unseen: unseenFigures() }), openBrowser()]);
  address = (await console.app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost');
  const { stores, database } = console;
  for (let number = 0; number < 100; number += 1) {
    const isRight = number < 50 ? number % 2 === 0 : number % 25 !== 0;
    const decision = isRight ? ({ type: 'accept' } as const) : ({ type: 'correct', category: 'INFRA_ERROR' } as const);
    const confidence = number % 2 === 0 ? 0.9 : 0.7;
    await tell(stores, {
      number,
      fingerprint: `fp-${number}`,
      confidence,
      at: ago(number < 50 ? 12 - number / 10 : 5 - (number - 50) / 20),
      decision,
    });
  }
  await tell(stores, {
    number: 500,
    fingerprint: 'fp-few',
    confidence: 0.9,
    at: ago(1),
    repository: 'acme/few',
    decision: { type: 'accept' },
  });
  for (const autoNotify of [0.8, 0.85]) await stores.trust.record({ release: '0.1.0', analyst: 'rules', autoNotify });
  await database.query('update setups set at = $1 where auto_notify = 0.85', [ago(6)]);
  await database.query('update setups set at = $1 where auto_notify = 0.8', [ago(60)]);
  const body = new URLSearchParams({ token: TOKENS.read, next: '/' });
  const answer = await fetch(`${address}/sign-in`, { method: 'POST', body, redirect: 'manual', headers: { origin: address } });
  session = /__Host-fl=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
});
afterAll(async () => {
  await browser.close();
  await console.close();
});

const row = (page: Page, table: string, words: string) =>
  page.getByRole('region', { name: table }).getByRole('row').filter({ hasText: words }).first();
const cells = async (page: Page, table: string, words: string) =>
  (await row(page, table, words).locator('th, td').allTextContents()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
const TABLE = 'What would be published at each threshold';

describe('66: the tour of trust', () => {
  it.each([
    ['on a desk', { width: 1440, height: 900, theme: 'light', javaScript: true }],
    ['on a phone, in the dark', { width: 390, height: 844, theme: 'dark', javaScript: true }],
    ['on a phone, without scripts', { width: 390, height: 844, theme: 'light', javaScript: false }],
  ] as const)('66: says what would be published, how often it was right, and what a change did: %s', async (_where, how) => {
    const { page, context, complaints } = await openPage(browser, { address, session, ...how });
    await page.goto('/insights');
    await page.getByRole('link', { name: 'Trust' }).first().click();
    const lead = await page.getByRole('note').first().textContent();
    expect(lead).toMatch(/^At the threshold in force, 0\.85, 50 % of 101 answers are sure enough to be published/);
    expect(lead).toContain('51 were decided by a person, and 50 of 51 (98 %; 90 % to 99.7 %) were right.');
    expect(await cells(page, TABLE, 'in force')).toEqual(['0.85 in force', '51 (50 %)', '50 of 51 (98 %; 90 % to 99.7 %)', '1']);
    expect(await cells(page, TABLE, '0.65')).toEqual(['0.65', '101 (100 %)', '74 of 101 (73 %; 64 % to 81 %)', '27']);
    const change = (await page.locator('#changes + ol li').first().textContent())?.replaceAll(/\s+/g, ' ');
    expect(change).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d Threshold: 0\.8 → 0\.85 · right more often/);
    expect(change).toContain('Before: 50 answers, 0 % published, 25 of 50 (50 %; 37 % to 63 %) right.');
    expect(change).toContain('After: 51 answers, 0 % published, 49 of 51 (96 %; 87 % to 99 %) right.');
    expect(await cells(page, 'Measured figures of this release', 'Tools without a rule')).toHaveLength(6);
    if (how.javaScript) expect(await axeFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(how.width);
    // A count leads to what it counts.
    await row(page, TABLE, '0.65').getByRole('link', { name: '27', exact: true }).click();
    await page.getByRole('heading', { name: 'Wrong answers from 0.65' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(27);
    expect(await page.locator('tbody').getByText('✗ wrong').count()).toBe(27);
    if (how.javaScript) expect(await axeFindings(page)).toEqual([]);
    await page.locator('tbody a').first().click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('66: says plainly where too little is decided, and where nothing is', async () => {
    const { page, context } = await openPage(browser, { address, session });
    await page.goto('/insights/trust?repo=acme/few');
    expect(await page.getByRole('note').first().textContent()).toContain(
      'Only 1 of those was decided by a person: too few to state how often they are right.',
    );
    expect((await cells(page, TABLE, 'in force'))[2]).toBe('1 of 1 too few');
    await page.goto('/insights/trust?repo=acme/none');
    expect(await page.getByRole('note').first().textContent()).toBe('There are no answers yet. See how this release was measured.');
    await context.close();
  });
});

it('66: the API has the same figures', async () => {
  const headers = { authorization: `Bearer ${TOKENS.read}` };
  const { json } = await console.app.inject({ url: '/api/trust', headers });
  const trust = json();
  expect(trust).toMatchObject({ threshold: 0.85, answered: 101, decided: 101, enough: true });
  expect(trust.thresholds).toContainEqual({
    threshold: 0.85,
    published: 51,
    coverage: 51 / 101,
    decided: 51,
    right: 50,
    low: expect.any(Number),
    high: expect.any(Number),
  });
  expect(trust.changes).toMatchObject([
    { kind: 'threshold', from: '0.8', to: '0.85', before: { answers: 50, right: 25 }, after: { answers: 51, right: 49 } },
  ]);
  expect(trust.release.unseen).toEqual(unseenFigures());
  const few = await console.app.inject({ url: '/api/trust?repository=acme/few', headers });
  expect(few.json()).toMatchObject({ decided: 1, enough: false });
  expect(few.json().thresholds[0]).toMatchObject({ decided: 1, right: 1, low: null, high: null });
});
