import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAxeFindings, openBrowser, openPage, type WatchedPage } from '../support/browser.ts';
import { type ShownPage, stockPages } from '../support/console-pages.ts';
import { computeContrast } from '../support/contrast.ts';
import { openStockedConsole, READERS, type StockedConsole } from '../support/stocked-console.ts';

let console: StockedConsole;
let browser: Browser;
let pages: ShownPage[];
const sessions = new Map<string, string>();

beforeAll(async () => {
  [console, browser] = await Promise.all([openStockedConsole(), openBrowser()]);
  pages = await stockPages(console);
  for (const name of ['anna', 'ben', 'reader'] as const) sessions.set(name, await console.openSession(name));
});
afterAll(async () => {
  await browser.close();
  await console.close();
});

/** Each page and state in a context of its reader. */
async function onEveryPage(
  options: { readonly theme?: 'light' | 'dark'; readonly width?: number },
  look: (watched: WatchedPage, shown: ShownPage) => Promise<string[]>,
): Promise<string[]> {
  const found: string[] = [];
  for (const as of [null, 'anna', 'ben', 'reader'] as const) {
    const session = as === null ? undefined : sessions.get(as);
    const watched = await openPage(browser, {
      address: console.address,
      ...options,
      ...(session !== undefined && { session }),
    });
    for (const shown of pages.filter((page) => page.as === as)) {
      watched.complaints.length = 0;
      watched.requests.length = 0;
      await watched.page.goto(shown.url);
      found.push(...(await look(watched, shown)).map((what) => `${shown.name}: ${what}`));
    }
    await watched.context.close();
  }
  return found;
}

/** What a refused page says of its own status is no fault of the page. */
const isStatus = (complaint: string) =>
  complaint.startsWith('Failed to load resource: the server responded with a status of 40');

/** The widths of a wide page, of a page in one column, and of a phone. */
const WIDTHS = [1440, 1024, 390];

describe('every page in every state', () => {
  it.each(['light', 'dark'] as const)(
    '15, 16: has no findings of axe and no errors in the console or of the policy (8): %s',
    async (theme) => {
      for (const width of WIDTHS) {
        const found = await onEveryPage({ theme, width }, async ({ page, complaints }) => [
          ...(await listAxeFindings(page, theme === 'light' ? 'all' : 'colours')),
          ...complaints.filter((complaint) => !isStatus(complaint)),
        ]);
        expect(found, `${width} px wide`).toEqual([]);
      }
    },
  );

  it.each(['light', 'dark'] as const)(
    'has sufficient contrast for every text, also where axe cannot decide: %s',
    async (theme) => {
      let texts = 0;
      const found: string[] = [];
      for (const width of WIDTHS)
        found.push(
          ...(await onEveryPage({ theme, width }, async ({ page }) => {
            const contrast = await computeContrast(page);
            texts += contrast.texts;
            return [...contrast.findings];
          })),
        );
      expect(found).toEqual([]);
      expect(texts).toBeGreaterThan(3000);
    },
  );

  it('13, 14: does not scroll sideways at 320 px, and every target has at least 24 px', async () => {
    const found = await onEveryPage({ width: 320 }, async ({ page }) => {
      const wide = await page.evaluate(
        'document.documentElement.scrollWidth > 320 || document.querySelector("main").scrollWidth > document.querySelector("main").clientWidth',
      );
      const small =
        await page.evaluate(`[...document.querySelectorAll('button, input:not([type=hidden], label > *), select, summary, .btn, .chip, .head a, .nav a, .top a')]
        .filter((one) => one.checkVisibility()).filter((one) => { const { width, height } = one.getBoundingClientRect(); return width < 23.5 || height < 23.5; })
        .map((one) => one.outerHTML.slice(0, 80))`);
      return [
        ...(wide ? ['scrolls sideways'] : []),
        ...(Array.isArray(small) ? small.map((one) => `small: ${one}`) : []),
      ];
    });
    expect(found).toEqual([]);
  });

  it('makes at most three requests, and is small', async () => {
    // The icon and the font are requested once a site, and kept. The queue opens its first item and fetches
    // the next one ahead, and live pages open a stream of events when they are at rest.
    const isElse = (address: string) =>
      /\/assets\/(?:icon\.svg|inter\.woff2)|[?&]peek=1|\/review\/rev_\w+|\/events\?/.test(address);
    const ofPage = (requests: readonly string[]) => requests.filter((address) => !isElse(address));
    const found = await onEveryPage({}, async ({ requests }) =>
      ofPage(requests).length > 3 ? ofPage(requests) : [],
    );
    expect(found).toEqual([]);
    const weigh = async (path: string) => {
      const answer = await fetch(console.address + path, {
        headers: { 'accept-encoding': 'gzip', authorization: `Bearer ${READERS.anna}` },
      });
      const length = Number(answer.headers.get('content-length'));
      return length > 0 ? length : (await answer.arrayBuffer()).byteLength;
    };
    const assets = await Promise.all(['/assets/app.css', '/assets/app.js', '/assets/icon.svg'].map(weigh));
    expect(assets.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(27_000);
    expect(await weigh('/assets/inter.woff2')).toBeLessThanOrEqual(49_000);
    const item = pages.find(({ name }) => name === 'item')?.url ?? '';
    expect(await weigh(item)).toBeLessThanOrEqual(15 * 1024);
    expect(await weigh('/insights')).toBeLessThanOrEqual(25 * 1024);
  });

  it('17: is printed without bar and navigation', async () => {
    const { page, context } = await openPage(browser, {
      address: console.address,
      session: sessions.get('anna') ?? '',
    });
    await page.goto(pages.find(({ name }) => name === 'item')?.url ?? '');
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.head').isVisible()).toBe(false);
    expect(await page.locator('#bar').isVisible()).toBe(false);
    await context.close();
  });

  it('44, 45: has no motion for a reader who prefers less, and marks evidence in forced colors', async () => {
    const { page, context } = await openPage(browser, {
      address: console.address,
      session: sessions.get('anna') ?? '',
    });
    await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'active' });
    await page.goto(pages.find(({ name }) => name === 'item')?.url ?? '');
    const moving = await page.evaluate(`[...document.querySelectorAll('*')].filter((one) => {
      const { transitionDuration, animationName } = getComputedStyle(one);
      return transitionDuration !== '0s' || animationName !== 'none';
    }).length`);
    expect(moving).toBe(0);
    const bars = await page.evaluate(
      `[...document.querySelectorAll('.cited')].filter((one) => parseFloat(getComputedStyle(one).borderInlineStartWidth) >= 2).length`,
    );
    expect(bars).toBeGreaterThan(0);
    await context.close();
  });

  it('31: loads in seven tabs at once', async () => {
    const { page, context } = await openPage(browser, {
      address: console.address,
      session: sessions.get('anna') ?? '',
    });
    const tabs = [page, ...(await Promise.all(Array.from({ length: 6 }, () => context.newPage())))];
    await Promise.all(tabs.map((tab) => tab.goto('/review')));
    for (const tab of tabs) expect(await tab.title()).toContain('Faultline');
    await context.close();
  });
});
