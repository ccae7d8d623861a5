/**
 * Screenshots of every page and state of the console, light and dark, at 1440 × 900 and 390 wide: `node scripts/write/screenshots.ts [folder]`. They show
 * captured failures, triaged for real. The three of the documentation are made with `--readme`.
 */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { openBrowser, openPage } from '../../test/support/browser.ts';
import { type ShownPage, stockPages } from '../../test/support/console-pages.ts';
import { openStockedConsole, READERS, type StockedConsole } from '../../test/support/stocked-console.ts';

const README: Readonly<Record<string, 'light' | 'dark'>> = { item: 'light', run: 'dark', log: 'light' };
const SIZES = [
  { name: 'wide', width: 1440, height: process.argv.includes('--readme') ? 1080 : 900 },
  { name: 'narrow', width: 390, height: 844 },
] as const;

const forReadme = process.argv.includes('--readme');
const folder = resolve(
  forReadme ? join(import.meta.dirname, '../../docs/images') : (process.argv[2] ?? '.faultline/screenshots'),
);
await mkdir(folder, { recursive: true });
const [console_, browser] = await Promise.all([openStockedConsole(), openBrowser()]);
const pages = await stockPages(console_);
let taken = 0;
for (const theme of ['light', 'dark'] as const)
  for (const size of SIZES) taken += await takeScreenshots(console_, browser, pages, theme, size);
await browser.close();
await console_.close();
console.log(`${taken} screenshots in ${folder}`);
process.exit(0);

async function takeScreenshots(
  console: StockedConsole,
  browser: Browser,
  pages: readonly ShownPage[],
  theme: 'light' | 'dark',
  size: (typeof SIZES)[number],
): Promise<number> {
  let count = 0;
  for (const as of [null, ...(Object.keys(READERS) as (keyof typeof READERS)[])]) {
    const own = pages.filter(
      (page) => page.as === as && (!forReadme || (README[page.name] === theme && size.name === 'wide')),
    );
    if (own.length === 0) continue;
    const session = as === null ? {} : { session: await console.openSession(as) };
    const { page, context } = await openPage(browser, {
      address: console.address,
      theme,
      width: size.width,
      height: size.height,
      ...session,
    });
    for (const { name, url } of own) {
      await page.goto(url);
      await page.screenshot({
        path: join(folder, forReadme ? `${name}.png` : `${name}-${theme}-${size.name}.png`),
      });
      count += 1;
    }
    await context.close();
  }
  return count;
}
