import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatDay } from '../../src/console/controls.ts';
import { flake, tell } from '../console/insights/insights-world.ts';
import { listAxeFindings, openBrowser, openPage } from '../support/browser.ts';
import { openConsole, type TestConsole, TOKENS } from '../support/console.ts';

const PAGES = [
  '/insights',
  '/insights?days=90',
  '/insights/trust',
  '/insights/health?days=90',
  '/insights/health?repo=acme/shop&days=90',
  '/tests',
  '/insights/causes',
  '/insights/cost',
  '/insights/reviewers',
  '/failures/fp-0',
];
const KINDS = ['CODE_ERROR', 'INFRA_ERROR', 'TEST_FAILURE', 'CONFIG_ERROR', 'DEPENDENCY_ERROR'] as const;
const DAY = 86_400_000;
let console: TestConsole;
let browser: Browser;
let address: string;
let session: string;

beforeAll(async () => {
  [console, browser] = await Promise.all([openConsole(), openBrowser()]);
  address = (await console.app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost');
  for (let number = 0; number < 110; number += 1)
    await tell(console.stores, {
      number,
      fingerprint: `fp-${number % 9}`,
      confidence: 0.3 + ((number * 7) % 70) / 100,
      at: new Date(Date.now() - ((number * 11) % 80) * DAY).toISOString(),
      analysis: {
        category: KINDS[number % 5] ?? 'CODE_ERROR',
        milliseconds: 9000 + number * 100,
        ...(number % 6 === 0 && { analyst: 'recall' }),
      },
      ...(number % 11 !== 0 && {
        decision:
          number % 4 === 0
            ? { type: 'correct', category: KINDS[(number + 1) % 5] }
            : { type: 'accept', secondsOpen: number % 40 },
      }),
    });
  for (let number = 900; number < 906; number += 1)
    await flake(console.stores, 'acme/shop', String(number), `adds item ${number % 2}`);
  const body = new URLSearchParams({ token: TOKENS.admin, next: '/' });
  const answer = await fetch(`${address}/sign-in`, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { origin: address },
  });
  session = /__Host-fl=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
});
afterAll(async () => {
  await browser.close();
  await console.close();
});

describe('insights with data', () => {
  it.each(['light', 'dark'] as const)(
    'have no findings of axe and no errors in the console or of the policy: %s',
    async (theme) => {
      const { page, complaints, context } = await openPage(browser, { address, theme, session });
      const found: string[] = [];
      for (const url of PAGES) {
        await page.goto(url);
        await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
        found.push(
          ...(await listAxeFindings(page, theme === 'light' ? 'all' : 'colours')).map(
            (one) => `${url}: ${one}`,
          ),
          ...complaints.splice(0),
        );
        const shots = process.env.FAULTLINE_TEST_SCREENSHOTS;
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/${theme}${url.replaceAll(/\W/g, '-')}.png` });
      }
      await context.close();
      expect(found).toEqual([]);
    },
  );

  it.each([
    { width: 320, javaScript: false, theme: 'light' },
    { width: 390, javaScript: true, theme: 'dark' },
    { width: 1440, javaScript: false, theme: 'light' },
  ] as const)('do not scroll sideways at $width px, and are complete without scripts', async (options) => {
    const { page, context } = await openPage(browser, { address, session, ...options });
    const wide: string[] = [];
    for (const url of PAGES) {
      await page.goto(url);
      const main = page.locator('main');
      if (await main.evaluate((one) => one.scrollWidth > one.clientWidth)) wide.push(url);
    }
    expect(wide).toEqual([]);
    await page.goto('/insights/trust');
    await page.locator('input[name=t]').fill('0.5');
    await page.getByRole('button', { name: 'Preview' }).click();
    expect(new URL(page.url()).search).toBe('?t=0.5&wrong=5');
    await context.close();
  });

  it.each([
    { width: 390, javaScript: false, theme: 'light' },
    { width: 390, javaScript: true, theme: 'dark' },
    { width: 1440, javaScript: false, theme: 'dark' },
    { width: 1440, javaScript: true, theme: 'light' },
  ] as const)(
    '62: compare two periods, and a figure leads to its builds: $width px, $theme, scripts $javaScript',
    async (options) => {
      const { page, complaints, context } = await openPage(browser, { address, session, ...options });
      await page.goto('/insights/health?repo=acme/shop');
      const day = (before: number) => new Date(Date.now() - before * DAY).toISOString().slice(0, 10);
      await page.getByLabel('from', { exact: true }).fill(day(9));
      await page.getByLabel('to', { exact: true }).fill(day(0));
      await page.getByLabel('compare with, from').fill(day(40));
      await page.getByRole('button', { name: 'Filter' }).click();
      await page.waitForURL(/compare=/);
      const [from, to, start, end] = [9, 0, 40, 31].map((before) => formatDay(day(before)));
      expect(await page.locator('main').textContent()).toContain(
        `${from} to ${to} (UTC); in parentheses, ${start} to ${end}.`,
      );
      if (options.javaScript)
        expect(await listAxeFindings(page, options.theme === 'light' ? 'all' : 'colours')).toEqual([]);
      const figure = page.locator('table').first().locator('td.number a').first();
      const count = Number(await figure.textContent());
      await figure.click();
      await page.waitForURL(/\/builds\?/);
      expect(await page.locator('#builds [data-row]').count()).toBe(Math.min(50, count));
      expect(complaints).toEqual([]);
      await context.close();
    },
  );

  it('41: draw no curve for nine decided answers, but count them', async () => {
    for (let number = 2000; number < 2009; number += 1) {
      const fingerprint = `fp-nine-${number}`;
      const nine = {
        number,
        fingerprint,
        repository: 'acme/nine',
        confidence: 0.72,
        at: new Date(Date.now() - DAY).toISOString(),
      };
      await tell(console.stores, { ...nine, decision: { type: 'accept' } });
    }
    const { page, context } = await openPage(browser, { address, session });
    await page.goto('/insights/trust?repo=acme/nine');
    const found = await page.getByRole('heading', { level: 1 }).textContent();
    expect(found).toMatch(/^0 of 9 decided answers were sure enough to publish: 20 are needed/);
    expect(await page.locator('main figure').count()).toBe(0);
    await context.close();
  });

  it('42: have a table next to a chart with the values of its marks', async () => {
    const { page, context } = await openPage(browser, { address, session });
    for (const [url, id, cell] of [
      ['/insights/trust', 'calibration', 3],
      ['/insights/trust', 'coverage', 3],
    ] as const) {
      await page.goto(url);
      const chart = page.locator(`#${id}`);
      const marks = await chart
        .locator('[data-mark]')
        .evaluateAll((all) => all.map((one) => one.getAttribute('data-mark')));
      await chart.getByText('Show as table').click();
      expect(await chart.locator(`tbody tr > :nth-child(${cell})`).allInnerTexts()).toEqual(marks);
      expect(marks.length).toBeGreaterThan(3);
    }
    await context.close();
  });
});
