import type { Browser, Page } from 'playwright-core';
import type { Review } from '../../src/domain/review.ts';
import { type ItemChanges, storeItem } from '../console/review/queue-world.ts';
import { openBrowser, openPage, type WatchOptions } from './browser.ts';
import {
  openStockedConsole,
  type READERS,
  type StockedConsole,
  type StockOptions,
} from './stocked-console.ts';

/** An installation, a browser, and sessions of its readers. */
export interface ReviewWorld {
  readonly console: StockedConsole;
  readonly browser: Browser;
  /** Opens a page in its own context for one reader, and closes it. Resolves with the errors of the page. */
  at(who: Who, look: (page: Page) => Promise<void>, options?: Partial<WatchOptions>): Promise<string[]>;
  close(): Promise<void>;
}

export type Who = keyof typeof READERS | null;

export async function openReviewWorld(options: StockOptions = {}): Promise<ReviewWorld> {
  const [console, browser] = await Promise.all([openStockedConsole(options), openBrowser()]);
  const sessions = new Map<string, string>();
  const createSession = async (name: keyof typeof READERS) => {
    const session = sessions.get(name) ?? (await console.openSession(name));
    sessions.set(name, session);
    return session;
  };
  return {
    console,
    browser,
    at: async (who, look, wanted = {}) => {
      const session = who === null ? {} : { session: await createSession(who) };
      const { page, context, complaints } = await openPage(browser, {
        address: console.address,
        ...session,
        ...wanted,
      });
      try {
        await look(page);
      } finally {
        await context.close();
      }
      return complaints;
    },
    close: async () => {
      await browser.close();
      await console.close();
    },
  };
}

/** Stores items that wait in their own repository, oldest first. Each has its number in its title. */
export async function storeQueue(
  { console }: ReviewWorld,
  repository: string,
  count: number,
  changes: ItemChanges = {},
): Promise<Review[]> {
  const reviews: Review[] = [];
  const now = Date.now();
  for (let at = 0; at < count; at++) {
    const openedAt = new Date(now - (count - at) * 60_000).toISOString();
    const title = `${repository.split('/')[1]} fails for cause ${at + 1}`;
    const build = { repository, ...changes.build };
    reviews.push(
      await storeItem(console, { ...changes, build, review: { title, openedAt, ...changes.review } }),
    );
  }
  return reviews;
}

/** Returns the address of an item in the form in which the queue of its repository links to it. */
export function createItemAddress({ id, repository }: Review, { n = 7, of = 42, more = '' } = {}): string {
  return `/review/${id}?repo=${encodeURIComponent(repository)}&n=${n}&of=${of}${more}`;
}

/** Returns the id of the item that the page shows. */
export async function readShownItem(page: Page): Promise<string> {
  return String(await page.locator('[data-review]').getAttribute('data-review'));
}

/** Waits until the page shows this item. */
export async function waitUntilShown(page: Page, { id }: Pick<Review, 'id'>): Promise<void> {
  await page.locator(`[data-review="${id}"]`).waitFor();
}

/** Returns the text of the focused element. */
export async function readFocus(page: Page): Promise<string> {
  return String(
    await page.evaluate(
      `document.activeElement.tagName + ' ' + (document.activeElement.textContent ?? '').trim()`,
    ),
  );
}

/** Waits until the page shows this sentence in its status line. */
export async function waitForSentence(page: Page, sentence: string): Promise<void> {
  await page.getByRole('status').filter({ hasText: sentence }).waitFor();
}

/** The sentence about a decision that was added to the library. */
export const TAUGHT =
  'Added to the library: the next failure like this one in this repository gets this answer at once.';
