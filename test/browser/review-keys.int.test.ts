import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listKeys } from '../../src/console/controls.ts';
import type { Review } from '../../src/domain/review.ts';
import { readKeys, WATCH_KEYS } from '../support/keys-in-browser.ts';
import {
  createItemAddress,
  openReviewWorld,
  type ReviewWorld,
  readFocus,
  readShownItem,
  storeQueue,
  TAUGHT,
  waitForSentence,
  waitUntilShown,
} from '../support/review-world.ts';
import { THOROUGH } from '../support/thorough.ts';

/** Timed one after the other. */
const DECISIONS = THOROUGH ? 30 : 5;

let client: ReviewWorld;
beforeAll(async () => {
  client = await openReviewWorld();
});
afterAll(async () => await client.close());

const find = async ({ id }: Review) => await client.console.stores.reviews.find(id);
const eventsOf = async ({ id }: Review) =>
  (await client.console.stores.reviews.events(id)).map(({ event }) => event);

/** Two at least: an item, and the one after it. */
async function queueOf<Count extends number>(
  name: string,
  count: Count,
): Promise<[Review, Review, ...Review[]]> {
  const [first, second, ...others] = await storeQueue(client, `keys/${name}`, count);
  if (first === undefined || second === undefined) throw new Error('two items are needed');
  return [first, second, ...others];
}

describe('a decision with one key', () => {
  it('1, 2, 3, 4: `a` saves and shows the next item under its address, with focus and status, and `u` undoes it', async () => {
    const [first, second] = await queueOf('accept', 3);
    const complaints = await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      await page.keyboard.press('a');
      await waitUntilShown(page, second);
      expect(page.url()).toContain(`/review/${second.id}?`);
      expect(await readFocus(page)).toBe(`H1 ${second.title}`);
      expect(await page.getByRole('status').textContent()).toBe(
        `Item 7: accepted. ${TAUGHT} Press u to undo.`,
      );
      expect((await find(first))?.decision).toMatchObject({ type: 'accept', reviewer: 'anna' });
      await page.keyboard.press('u');
      await waitUntilShown(page, first);
      expect(page.url()).toContain(`/review/${first.id}?`);
      expect(await page.getByRole('status').textContent()).toBe(
        'Undone. The item is back in the queue, and what the decision taught is removed.',
      );
      expect(await find(first)).toMatchObject({ state: 'waiting', decision: null });
    });
    expect(complaints).toEqual([]);
  });

  it('5, 6: `?` opens the list of keys, and while it is open keys do nothing', async () => {
    const [first] = await queueOf('list', 2);
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      await page.keyboard.press('?');
      expect(await page.getByRole('dialog', { name: 'Keys' }).isVisible()).toBe(true);
      for (const key of ['a', 'x', 's', 'j']) await page.keyboard.press(key);
      expect(await readShownItem(page)).toBe(first.id);
      await page.keyboard.press('Escape');
      expect(await page.locator('dialog[open]').count()).toBe(0);
      expect((await find(first))?.decision).toBeNull();
    });
  });

  it('19: typing `a` into the root cause inserts an a', async () => {
    const [first] = await queueOf('typing', 2);
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      await page.keyboard.press('c');
      await page.getByLabel('Root cause').fill('');
      await page.keyboard.type('a uxsj?');
      expect(await page.getByLabel('Root cause').inputValue()).toBe('a uxsj?');
      expect(await readShownItem(page)).toBe(first.id);
      expect((await find(first))?.decision).toBeNull();
    });
  });

  it('20: Backspace, Enter, Space, Delete and arrows on the page decide nothing', async () => {
    const [first] = await queueOf('never', 2);
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      for (const key of [
        'Backspace',
        'Enter',
        'Space',
        'Delete',
        'ArrowUp',
        'ArrowDown',
        'ArrowLeft',
        'ArrowRight',
      ])
        await page.keyboard.press(key);
      expect(await readShownItem(page)).toBe(first.id);
      expect((await find(first))?.decision).toBeNull();
    });
  });

  it('21: holding `a` down decides only one item', async () => {
    const [first, second] = await queueOf('held', 3);
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      for (let times = 0; times < 10; times++) await page.keyboard.down('a');
      await waitUntilShown(page, second);
      for (let times = 0; times < 10; times++) await page.keyboard.down('a');
      await page.keyboard.up('a');
      await page.keyboard.press('c');
      expect(await readShownItem(page)).toBe(second.id);
      expect((await find(second))?.decision).toBeNull();
    });
  });

  it('22: `c 4 Ctrl+Enter` stores CONFIG_ERROR with the prefilled cause', async () => {
    const [first, second] = await queueOf('correct', 2);
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      for (const key of ['c', '4', 'Control+Enter']) await page.keyboard.press(key);
      await waitUntilShown(page, second);
      expect(await page.getByRole('status').textContent()).toBe(
        `Item 7: corrected to Configuration. ${TAUGHT} Press u to undo.`,
      );
      const decision = {
        type: 'correct',
        category: 'CONFIG_ERROR',
        rootCause: 'add() overwrites the last item',
      };
      expect((await find(first))?.decision).toMatchObject(decision);
    });
  });

  it('23: `x 1` stores the reason', async () => {
    const [first, second] = await queueOf('reject', 2);
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      for (const key of ['x', '1']) await page.keyboard.press(key);
      await waitUntilShown(page, second);
      expect((await find(first))?.decision).toMatchObject({
        type: 'reject',
        reasonCode: 'evidence_does_not_support',
      });
    });
  });

  it('25: an answer that exonerates a change to its own suspect needs `a` twice, and Esc cancels', async () => {
    const commit = 'a41f9c2d00000000000000000000000000000000';
    const suspects = [
      { path: 'src/cart/tax.ts', line: 41, commit, author: null, score: 0.8, reason: 'in the stack' },
    ];
    const answer = {
      title: 'registry timed out',
      rootCause: 'r',
      fixRecommendation: 'f',
      confidence: 0.8,
      claims: [],
      suspects,
      hypotheses: [],
    };
    const changes = {
      build: { commit },
      analysis: { category: 'INFRA_ERROR', kind: 'network', answer },
    } as const;
    const [first, second] = await storeQueue(client, 'keys/excuse', 2, changes);
    if (first === undefined || second === undefined) throw new Error('two items are needed');
    const armed = (page: Page) =>
      page.getByRole('button', { name: 'Accept anyway: the change touches src/cart/tax.ts' });
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      await page.keyboard.press('a');
      await armed(page).waitFor();
      await page.keyboard.press('Escape');
      expect(await armed(page).count()).toBe(0);
      expect((await find(first))?.decision).toBeNull();
      await page.keyboard.press('a');
      await armed(page).waitFor();
      await page.keyboard.press('a');
      await waitUntilShown(page, second);
      expect((await find(first))?.decision).toMatchObject({ type: 'accept' });
      expect((await eventsOf(first)).filter((event) => event === 'decided')).toHaveLength(1);
    });
  });
});

describe('single keys', () => {
  it('28: do nothing when switched off, and that survives a reload', async () => {
    const [first, second] = await queueOf('off', 2);
    const { preferences } = client.console.stores;
    await client.at('ben', async (page) => {
      await page.goto(createItemAddress(first));
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByRole('link', { name: 'Change this' }).click();
      await page.getByLabel('Shortcuts of a single key').uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await waitForSentence(page, 'Saved.');
      for (const times of [1, 2]) {
        await page.goto(createItemAddress(first));
        for (const key of ['a', 'j', 'x', '?']) await page.keyboard.press(key);
        expect(await readShownItem(page), `reload ${times}`).toBe(first.id);
        expect(await page.locator('dialog[open]').count()).toBe(0);
      }
      expect((await find(first))?.decision).toBeNull();
      // What needs a modifier goes on working.
      await page.goto(createItemAddress(first, { more: '&edit=1' }));
      await page.getByLabel('Root cause').fill('It is the basket that loses it.');
      await page.keyboard.press('Control+Enter');
      await waitUntilShown(page, second);
    });
    expect(await preferences.of('ben')).toMatchObject({ keys: false });
    await preferences.set('ben', {
      handles: [],
      editor: '',
      keys: true,
      theme: 'system',
      wrap: true,
      timestamps: false,
    });
  });

  it('29: are the same in the list of keys, in the badges and in the handlers, on an item, in the queue and in a log', async () => {
    const [decided] = await queueOf('listed', 2);
    const { stores } = client.console;
    await client.console.bring({ slug: 'slug-golden-file', repository: 'keys/listed', number: '1' });
    const waiting = await stores.reviews.list(
      { state: 'waiting', repository: 'keys/listed' },
      { limit: 9, offset: 0 },
    );
    const item = waiting.find(({ title }) => !title.startsWith('listed fails'));
    const at = `/review/${item?.id}?repo=keys/listed&n=1&of=2`;
    const places = {
      item: [at, `${at}&edit=1`, `${at}&reject=1`],
      queue: ['/review?repo=keys/listed#list'],
      log: [`/logs/${item?.buildId}?file=build.log&analysis=${item?.analysisId}`],
    } as const;
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(decided));
      await page.keyboard.press('a');
      await page.locator(`[data-review]:not([data-review="${decided.id}"])`).waitFor();
      await page.addInitScript(WATCH_KEYS);
      for (const place of ['item', 'queue', 'log'] as const) {
        const found = await readKeys(page, places[place], listKeys(place));
        expect(found, place).toEqual({
          listed: listKeys(place).map(({ keys }) => keys),
          deaf: [],
          strangers: [],
          badges: [],
        });
      }
    });
  });

  it('46: are not needed: a whole review is possible with Tab and Enter alone', async () => {
    const [first, second, third] = await queueOf('tab', 3);
    const { preferences } = client.console.stores;
    await preferences.set('ben', {
      handles: [],
      editor: '',
      keys: false,
      theme: 'system',
      wrap: true,
      timestamps: false,
    });
    const complaints = await client.at('ben', async (page) => {
      await page.goto('/review?repo=keys/tab#list');
      await tabTo(page, 'Start');
      await page.keyboard.press('Enter');
      await waitUntilShown(page, first);
      await tabTo(page, 'Accept');
      await page.keyboard.press('Enter');
      await waitUntilShown(page, second);
      await tabTo(page, 'Reject');
      await page.keyboard.press('Enter');
      await tabTo(page, 'Cannot tell from this log');
      await page.keyboard.press('Enter');
      await waitUntilShown(page, third as Review);
      await tabTo(page, 'Correct');
      await page.keyboard.press('Enter');
      await tabTo(page, 'add() overwrites the last item');
      await page.keyboard.type('It is the basket that loses it.');
      await tabTo(page, 'Save and next');
      await page.keyboard.press('Enter');
      await page.getByText('No waiting item fits these filters').waitFor();
    });
    expect(complaints).toEqual([]);
    const decided = await Promise.all([first, second, third as Review].map(find));
    expect(decided.map((review) => review?.decision?.type)).toEqual(['accept', 'reject', 'correct']);
    await preferences.set('ben', {
      handles: [],
      editor: '',
      keys: true,
      theme: 'system',
      wrap: true,
      timestamps: false,
    });
  });
});

/** Presses Tab until something of that name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab');
    if ((await readFocus(page)).replace(/^\S+ /, '').startsWith(name)) return;
  }
  throw new Error(`Tab never came to “${name}”`);
}

describe('the speed of a decision', () => {
  it('1: is measured from the key to the next item in the document, over several decisions', async () => {
    const [first] = await queueOf('speed', DECISIONS + 1);
    const took: number[] = [];
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      await page.evaluate(`globalThis.took = []; globalThis.pressedAt = 0;
        addEventListener('keydown', () => { pressedAt = performance.now(); }, true);
        new MutationObserver((changes) => {
          if (changes.some(({ addedNodes }) => [...addedNodes].some(({ id }) => id === 'main'))) took.push(performance.now() - pressedAt);
        }).observe(document.body, { childList: true });`);
      let shown = first.id;
      for (let decisions = 0; decisions < DECISIONS; decisions++) {
        await page.keyboard.press('a');
        await page.locator(`[data-review]:not([data-review="${shown}"])`).waitFor();
        shown = await readShownItem(page);
      }
      took.push(...((await page.evaluate('took')) as number[]));
    });
    expect(took).toHaveLength(DECISIONS);
    const at = (share: number) =>
      took.toSorted((left, right) => left - right)[Math.ceil(share * took.length) - 1]?.toFixed(0);
    console.info(
      `key to next item in the document: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms over ${took.length} decisions`,
    );
  });
});
