import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Review } from '../../src/domain/review.ts';
import { decideReview } from '../../src/service/review/decide.ts';
import { listAxeFindings } from '../support/browser.ts';
import { createItemAddress, openReviewWorld, type ReviewWorld, storeQueue } from '../support/review-world.ts';
import { createTriageJobs } from '../support/triage-jobs.ts';

let client: ReviewWorld;
beforeAll(async () => {
  client = await openReviewWorld();
});
afterAll(async () => await client.close());

const SOON = { timeout: 15_000 };
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };
const rowsOf = async (page: Page) => await page.locator('main [data-row]').count();
const offer = (page: Page, words: string) => page.getByRole('button', { name: words });

async function itemsOf(name: string, count: number): Promise<Review[]> {
  return await storeQueue(client, `live/${name}`, count);
}

/** Decides as ben, behind the back of whoever looks. */
async function decide({ id }: Review): Promise<void> {
  const { stores, app } = client.console;
  const review = await stores.reviews.find(id);
  await decideReview(
    { ...app, stores },
    { reviewId: id, version: review?.version ?? 1, reviewer: 'ben', input: { type: 'accept' } },
  );
}

/** A page that was loaded anew has lost this. */
const mark = async (page: Page) => await page.evaluate('globalThis.stayed = true');
const stayed = async (page: Page) => await page.evaluate('globalThis.stayed === true');

describe('65: pages that change while they are open', () => {
  it.each([
    ['a desk', DESK, 'light'],
    ['a phone, in the dark', PHONE, 'dark'],
  ] as const)(
    '65: builds on %s: a new one is shown on request, and others change in place',
    async (where, size, theme) => {
      const repository = `live/${where.replaceAll(/\W/g, '')}`;
      await client.console.bring({ slug: 'npm-eresolve', repository, number: '1' });
      const complaints = await client.at(
        'reader',
        async (page) => {
          await page.goto(`/builds?repo=${repository}`);
          await mark(page);
          expect(await rowsOf(page)).toBe(1);
          await client.console.bring({ slug: 'npm-eresolve', repository, number: '2' });
          await offer(page, '1 new build · Show').waitFor(SOON);
          expect(await rowsOf(page)).toBe(1);
          expect(await listAxeFindings(page)).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(size.width);
          await offer(page, '1 new build · Show').click();
          await expect.poll(() => rowsOf(page)).toBe(2);
          expect(await page.evaluate('document.activeElement.textContent')).toContain('#2');
          expect(await offer(page, '· Show').count()).toBe(0);
          expect(await stayed(page)).toBe(true);
        },
        { ...size, theme },
      );
      expect(complaints).toEqual([]);
    },
  );

  it('65: a build shows its progress and gets its causes, and open sections stay open', async () => {
    const [item] = await itemsOf('build', 1);
    const { stores } = client.console;
    const job = await createTriageJobs(stores).lease(
      (await stores.triages.request(item?.buildId ?? '')).buildId,
    );
    if (job === null || item === undefined) throw new Error('somebody else works on it');
    await client.at('reader', async (page) => {
      await page.goto(`/builds/${item.buildId}`);
      await mark(page);
      expect(await page.getByRole('note').textContent()).toMatch(/^Analyzing/);
      await page.locator('#causes summary').first().click();
      await page.locator('#causes h3 a').first().focus();
      await createTriageJobs(stores).finish(job, 'done');
      await page.locator('#progress:empty').waitFor({ state: 'attached' });
      expect(await page.locator('#causes details').first().getAttribute('open')).not.toBe(null);
      expect(await page.evaluate('document.activeElement.closest("#causes h3") !== null')).toBe(true);
      expect(await stayed(page)).toBe(true);
    });
  });

  it('65: the queue offers new items, strikes out those decided elsewhere, and keeps what is typed', async () => {
    const [first, second] = await itemsOf('queue', 3);
    if (first === undefined || second === undefined) throw new Error('no items');
    const complaints = await client.at('anna', async (page) => {
      await page.goto('/review?repo=live/queue#list');
      await page.getByLabel('Filter', { exact: true }).fill('half a wor');
      await decide(first);
      await itemsOf('queue', 1);
      await offer(page, '1 new item, 1 gone · Show').waitFor(SOON);
      expect(await page.locator(`[id="${first.id}"][data-gone]`).count()).toBe(1);
      expect(await rowsOf(page)).toBe(3);
      expect(await listAxeFindings(page)).toEqual([]);
      await offer(page, '· Show').click();
      await expect.poll(() => page.locator(`[id="${first.id}"]`).count()).toBe(0);
      expect(await page.getByLabel('Filter', { exact: true }).inputValue()).toBe('half a wor');
      // Another reviewer begins with one: it says so in its place.
      await client.console.stores.reviews.claim(second.id, 'ben', 60_000);
      await page.locator(`[id="${second.id}"]`).getByText('under review by ben').waitFor(SOON);
    });
    expect(complaints).toEqual([]);
  });

  it('65: an item that someone else decides says so, and keeps the correction that is being typed', async () => {
    const [item] = await itemsOf('item', 1);
    if (item === undefined) throw new Error('no item');
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(item));
      await mark(page);
      await page.keyboard.press('c');
      await page.getByLabel('Root cause').fill('my own words');
      await client.console.stores.reviews.takeOver(item.id, 'ben', 60_000);
      await page.locator('#banners').getByText('ben has been reviewing this').waitFor(SOON);
      expect(await page.getByLabel('Root cause').inputValue()).toBe('my own words');
      expect(await page.evaluate('document.activeElement.id')).toBe('rootCause');
      await decide(item);
      await page.locator('#banners').getByText('ben accepted it').waitFor(SOON);
      expect(await page.getByLabel('Root cause').inputValue()).toBe('my own words');
      expect(await stayed(page)).toBe(true);
    });
  });

  it('65: causes and the overview change too', async () => {
    await client.at('reader', async (page) => {
      await client.console.bring({ slug: 'npm-eresolve', repository: 'live/causes', number: '1' });
      await page.goto('/causes?repo=live/causes');
      expect(await rowsOf(page)).toBe(1);
      await client.console.bring({ slug: 'checkout-type-error', repository: 'live/causes', number: '2' });
      await offer(page, '1 new cause · Show').waitFor(SOON);
      await page.goto('/insights?repo=live/figures');
      await page.getByText('No answers in the last 30 days').waitFor();
      await client.console.bring({ slug: 'npm-eresolve', repository: 'live/figures', number: '1' });
      await page.locator('#days').waitFor(SOON);
    });
  });

  it('65: without scripts, a reload shows the same', async () => {
    const repository = 'live/plain';
    await client.console.bring({ slug: 'npm-eresolve', repository, number: '1' });
    await client.at(
      'reader',
      async (page) => {
        await page.goto(`/builds?repo=${repository}`);
        await client.console.bring({ slug: 'npm-eresolve', repository, number: '2' });
        await page.reload();
        expect(await rowsOf(page)).toBe(2);
        expect(await page.locator('#news').textContent()).toBe('');
      },
      { javaScript: false },
    );
  });

  it('65: a restart of the service is survived, and leaving a page in place ends its stream', async () => {
    await client.at('anna', async (page) => {
      const open = new Set<string>();
      let asked = 0;
      const session = await page.context().newCDPSession(page);
      await session.send('Network.enable');
      session.on('Network.requestWillBeSent', ({ requestId, request }) => {
        if (!request.url.includes('/events')) return;
        asked += 1;
        open.add(requestId);
      });
      for (const end of ['Network.loadingFinished', 'Network.loadingFailed'] as const)
        session.on(end, ({ requestId }: { readonly requestId: string }) => void open.delete(requestId));
      await page.goto('/builds?repo=live/restart');
      await expect.poll(() => open.size, SOON).toBe(1);
      await client.console.deafen();
      await expect.poll(() => open.size, SOON).toBe(0);
      await client.console.listen();
      await client.console.bring({ slug: 'npm-eresolve', repository: 'live/restart', number: '1' });
      // It waits longer after each try that failed.
      await page.locator('#builds [data-row]').waitFor({ timeout: 30_000 });
      await page.goto('/review#list');
      const before = asked;
      await expect.poll(() => asked, SOON).toBe(before + 1);
      open.clear();
      await page.getByRole('link', { name: /^Mine/ }).click();
      await expect.poll(() => asked, SOON).toBe(before + 2);
      expect(open.size).toBe(1);
    });
  });
});
