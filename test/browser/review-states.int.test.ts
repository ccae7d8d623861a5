import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Review } from '../../src/domain/review.ts';
import { decideReview } from '../../src/service/review/decide.ts';
import { createRetentionStore } from '../../src/stores/retention.ts';
import {
  createItemAddress,
  openReviewWorld,
  type ReviewWorld,
  readShownItem,
  storeQueue,
  TAUGHT,
  waitForSentence,
  waitUntilShown,
} from '../support/review-world.ts';
import { READERS } from '../support/stocked-console.ts';

let client: ReviewWorld;
beforeAll(async () => {
  client = await openReviewWorld({});
});
afterAll(async () => await client.close());

const find = async ({ id }: Review) => await client.console.stores.reviews.find(id);
const decisionsOf = async ({ id }: Review) =>
  (await client.console.stores.reviews.events(id)).filter(({ event }) => event === 'decided');
const mainOf = async (page: Page) => String(await page.locator('main').textContent());

async function pairOf(name: string): Promise<[Review, Review]> {
  const [first, second] = await storeQueue(client, `states/${name}`, 2);
  if (first === undefined || second === undefined) throw new Error('two items are needed');
  return [first, second];
}

describe('39: the sentence for each state', () => {
  it('describes an empty queue, and one that the filters empty', async () => {
    await client.at('anna', async (page) => {
      await page.goto('/review#list');
      expect(await mainOf(page)).toMatch(/The queue is empty\. 0 decided today/);
      await page.goto('/review?repo=shop/web#list');
      expect(await mainOf(page)).toContain('No waiting item fits these filters.');
      await page.getByRole('main').getByRole('link', { name: 'Remove the filters' }).first().click();
      await page.waitForURL('**/review');
    });
  });

  it('describes a queue that cannot be read', async () => {
    const { database } = client.console.app;
    await client.at('anna', async (page) => {
      await database.query('alter table reviews rename to reviews_away');
      await page.goto('/review#list');
      await database.query('alter table reviews_away rename to reviews');
      expect(await mainOf(page)).toMatch(/The queue could not be read \(.+\)\. Your decisions are saved\./);
      await page.getByRole('link', { name: 'Try again' }).click();
      await page.getByText('The queue is empty.').waitFor();
    });
  });

  it('describes a log that retention deleted, and one with secrets', async () => {
    const { app, stores } = client.console;
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
    const log = `fetching with token ${secret}\nAssertionError: expected 1 but got 2\nmake: *** [Makefile:3: test] Error 1\n`;
    const buildId = await client.console.bring({ log, repository: 'states/expired', number: '1' });
    await client.at('anna', async (page) => {
      await page.goto(`/logs/${buildId}?file=build.log`);
      expect(await mainOf(page)).toMatch(/On 1 line of this page, \*\*\* replaces a secret/);
      expect(await page.content()).not.toContain(secret);
      const before = new Date(Date.now() + 60_000).toISOString();
      const forgotten = { repository: 'states/expired', except: [], before, settledOnly: false };
      await createRetentionStore(app.database, stores.work).forgetLogs(forgotten, 10);
      await app.archive.remove(buildId);
      await page.goto(`/logs/${buildId}?file=build.log`);
      expect(await mainOf(page)).toMatch(
        /Retention deleted the log on \d{4}-\d\d-\d\d\. Lines quoted in analyses were kept/,
      );
      const [waiting] = await stores.reviews.list(
        { state: 'waiting', repository: 'states/expired' },
        { limit: 1, offset: 0 },
      );
      await page.goto(`/review/${waiting?.id}`);
      expect(await mainOf(page)).toMatch(
        /Retention deleted this log on \d{4}-\d\d-\d\d; these lines were kept with the analysis/,
      );
    });
  });

  it('describes an item whose commit has passed by now', async () => {
    const [first] = await pairOf('green');
    const build = await client.console.stores.builds.find(first.buildId);
    if (build === null) throw new Error('no build');
    await client.console.stores.builds.upsert({ ...build, number: '813', status: 'passed' });
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      expect(await mainOf(page)).toContain('A later run of the same commit passed: build 813');
      expect(await page.getByRole('button', { name: 'Accept' }).isVisible()).toBe(true);
    });
  });

  it('describes a session that ended: the form returns after signing in, and is saved', async () => {
    const [first] = await pairOf('signed-out');
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first, { more: '&edit=1' }));
      await page.getByLabel('Root cause').fill('The basket loses <b>it</b> & "more".');
      await page.context().clearCookies();
      await page.keyboard.press('Control+Enter');
      await page.getByText('You were signed out. Your input is kept').waitFor();
      // The cookie of a session is Secure; Playwright sends it to this name as browsers do.
      await page.getByLabel('Access token').fill(READERS.anna);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Send it again' }).click();
      await page.waitForURL(/\/review/);
      expect((await find(first))?.decision).toMatchObject({
        type: 'correct',
        rootCause: 'The basket loses <b>it</b> & "more".',
      });
    });
  });
});

describe('without scripts', () => {
  it('11: accepting works, and so does undoing', async () => {
    const [first, second] = await pairOf('no-scripts');
    await client.at(
      'anna',
      async (page) => {
        await page.goto('/review?repo=states/no-scripts');
        await page.getByRole('link', { name: 'Start', exact: true }).click();
        await page.getByRole('button', { name: 'Accept' }).click();
        expect(await readShownItem(page)).toBe(second.id);
        expect(await page.getByRole('status').textContent()).toBe(
          `Item 1: accepted. ${TAUGHT} Press u to undo.`,
        );
        expect((await find(first))?.decision).toMatchObject({ type: 'accept', reviewer: 'anna' });
        await page.getByRole('button', { name: 'Undo' }).click();
        expect(await readShownItem(page)).toBe(first.id);
        await page.getByRole('link', { name: 'Reject' }).click();
        await page.getByRole('button', { name: 'Not a failure' }).click();
        expect((await find(first))?.decision).toMatchObject({ type: 'reject', reasonCode: 'not_a_failure' });
      },
      { javaScript: false },
    );
  });
});

describe('other sites and reviewers', () => {
  it('18: a form of another site is refused', async () => {
    const [first] = await pairOf('elsewhere');
    const { address } = client.console;
    const body = new URLSearchParams({ type: 'accept', version: String(first.version) });
    const cookie = `__Host-fl=${await client.console.openSession('anna')}`;
    const post = async (headers: Record<string, string>) =>
      (
        await fetch(`${address}/review/${first.id}/decision`, {
          method: 'POST',
          body,
          redirect: 'manual',
          headers: { cookie, ...headers },
        })
      ).status;
    expect(await post({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await post({ 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await post({ origin: 'https://elsewhere.example' })).toBe(403);
    expect((await find(first))?.decision).toBeNull();
  });

  it('24: the second reviewer sees who holds an item; deciding a decided item keeps the text', async () => {
    const [first] = await pairOf('two');
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first, { more: '&edit=1' }));
      await page.getByLabel('Root cause').fill('My own words: <i>a < b</i>');
      await client.at('ben', async (other) => {
        await other.goto(createItemAddress(first));
        expect(await mainOf(other)).toMatch(/anna has been reviewing this since \d\d:\d\d UTC/);
        expect(await other.getByRole('button', { name: 'Accept' }).count()).toBe(0);
        await other.keyboard.press('a');
        expect((await find(first))?.decision).toBeNull();
      });
      const taken = await client.console.stores.reviews.takeOver(first.id, 'ben', 60_000);
      const input = {
        type: 'correct',
        category: 'CONFIG_ERROR',
        rootCause: 'A variable is missing.',
      } as const;
      const request = { reviewId: first.id, version: taken?.version ?? 0, reviewer: 'ben', input };
      await decideReview({ ...client.console.app, stores: client.console.stores }, request);
      const answer = page.waitForResponse((response) => response.url().endsWith('/decision'));
      await page.keyboard.press('Control+Enter');
      expect((await answer).status()).toBe(409);
      await page.getByText('ben corrected it to Configuration').waitFor();
      expect(await page.getByLabel('Your text is kept here').inputValue()).toContain(
        'My own words: <i>a < b</i>',
      );
      expect(await page.getByRole('link', { name: 'Next item' }).isVisible()).toBe(true);
    });
    expect(await decisionsOf(first)).toHaveLength(1);
  });

  it('26: “also 7” lists the seven before anything is saved; `u` undoes all eight', async () => {
    const all = await storeQueue(client, 'states/bulk', 8, { fingerprint: 'the-same' });
    const [first, ...others] = all;
    if (first === undefined) throw new Error('no item');
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      await page.locator('.same summary').click();
      const listed = page.locator('.same li a');
      expect(await listed.allTextContents()).toEqual(others.map(({ title }) => title));
      expect((await Promise.all(all.map(find))).filter((one) => one?.decision !== null)).toEqual([]);
      await page.getByRole('button', { name: 'Accept this answer for all 8' }).click();
      await waitForSentence(
        page,
        `Item 7 and 7 more with the same failure: accepted. ${TAUGHT} Press u to undo.`,
      );
      expect(
        (await Promise.all(all.map(find))).filter((one) => one?.decision?.type === 'accept'),
      ).toHaveLength(8);
      await page.keyboard.press('u');
      await waitForSentence(
        page,
        'Undone. All 8 items are back in the queue, and what the decision taught is removed.',
      );
      expect((await Promise.all(all.map(find))).filter((one) => one?.decision !== null)).toEqual([]);
    });
  });

  it("43: the queue keeps its filters in the browser's history", async () => {
    await pairOf('filters');
    await client.at('anna', async (page) => {
      await page.goto('/review?category=TEST_FAILURE#list');
      await page.locator('input[name=filter]').fill('states/filters');
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.waitForURL(/repo=states(%2F|\/)filters/);
      await page.waitForURL(/\/review\/rev_(?=.*category=TEST_FAILURE)(?=.*repo=states)/);
      expect(await page.locator('[data-row]').count()).toBe(2);
      const opened = await readShownItem(page);
      await page.locator('[data-row]:not([aria-current]) [data-row-link]').click();
      await page.locator(`[data-review]:not([data-review="${opened}"])`).waitFor();
      await page.goBack();
      await page.locator(`[data-review="${opened}"]`).waitFor();
      expect(page.url()).toMatch(/(?=.*category=TEST_FAILURE)(?=.*repo=states)/);
      expect(await page.locator('[data-row]').count()).toBe(2);
      await page.goForward();
      await page.locator(`[data-review]:not([data-review="${opened}"])`).waitFor();
    });
  });
});

describe('27: the server stops between the key and the answer', () => {
  it('shows “Not saved” on the same item with the same text; once it is up again the key works, with one audit row', async () => {
    const [first, second] = await pairOf('stopped');
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      await client.console.deafen();
      await page.keyboard.press('a');
      await waitForSentence(page, 'Not saved. Nothing was lost; press the key again.');
      await page.keyboard.press('c');
      await page.getByLabel('Root cause').fill('It is the basket.');
      await page.keyboard.press('Control+Enter');
      await waitForSentence(page, 'Not saved. Nothing was lost; press the key again.');
      expect(await readShownItem(page)).toBe(first.id);
      expect(await page.getByLabel('Root cause').inputValue()).toBe('It is the basket.');
      await client.console.listen();
      await page.keyboard.press('Control+Enter');
      await waitUntilShown(page, second);
    });
    expect((await find(first))?.decision).toMatchObject({ type: 'correct', rootCause: 'It is the basket.' });
    expect(await decisionsOf(first)).toHaveLength(1);
  });

  it('a form that is refused for its content stays with its text and the reason', async () => {
    const [first] = await pairOf('refused');
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first, { more: '&edit=1' }));
      await page.getByLabel('Root cause').fill('It is the basket.');
      await page.evaluate(`document.querySelector('#correct-form [name=openedAt]').value = 'yesterday'`);
      await page.keyboard.press('Control+Enter');
      await waitForSentence(page, 'Not saved. The body is invalid');
      expect(await page.getByLabel('Root cause').inputValue()).toBe('It is the basket.');
      expect(await readShownItem(page)).toBe(first.id);
    });
  });

  it('an answer that is lost after saving: pressing again reports the decision, with one audit row', async () => {
    const [first] = await pairOf('lost');
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      await page.route('**/decision', async (route) => {
        await route.fetch({ maxRedirects: 0 });
        await route.abort('connectionreset');
      });
      await page.keyboard.press('a');
      await waitForSentence(page, 'Not saved. Nothing was lost; press the key again.');
      await page.unroute('**/decision');
      await page.keyboard.press('a');
      await page.getByText('anna accepted it').first().waitFor();
    });
    expect(await decisionsOf(first)).toHaveLength(1);
  });
});
