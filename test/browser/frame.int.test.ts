import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAxeFindings, openBrowser, openPage } from '../support/browser.ts';
import { openConsole, type TestConsole, TOKENS } from '../support/console.ts';

let console: TestConsole;
let browser: Browser;
let address: string;

beforeAll(async () => {
  console = await openConsole();
  address = (await console.app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost');
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await console.close();
});

describe('signing in', () => {
  it.each([true, false])('works with scripts: %s', async (javaScript) => {
    const { page, context, complaints } = await openPage(browser, { address, javaScript });
    await page.goto('/builds');
    await page.getByLabel('Access token').fill(TOKENS.admin);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/builds');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Builds');
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('the frame of every page', () => {
  it.each(['light', 'dark'] as const)('is accessible: %s', async (theme) => {
    const { page, context } = await openPage(browser, { address, theme });
    await page.goto('/sign-in');
    expect(await listAxeFindings(page)).toEqual([]);
    await page.getByLabel('Access token').fill(TOKENS.admin);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname !== '/sign-in');
    await page.goto('/me');
    expect(await listAxeFindings(page)).toEqual([]);
    await context.close();
  });
});
