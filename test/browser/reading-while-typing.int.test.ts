import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createItemAddress,
  openReviewWorld,
  type ReviewWorld,
  readShownItem,
  storeQueue,
} from '../support/review-world.ts';

let client: ReviewWorld;
beforeAll(async () => {
  client = await openReviewWorld();
});
afterAll(async () => await client.close());

async function firstOf(name: string) {
  const [first] = await storeQueue(client, `typing/${name}`, 2);
  if (first === undefined) throw new Error('an item is needed');
  return first;
}

describe('a form with typed text', () => {
  it('keeps its text while links within the page are followed, there and back', async () => {
    const first = await firstOf('links');
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      await page.keyboard.press('c');
      const cause = page.getByLabel('Root cause');
      await cause.fill('It is the basket that loses it.');
      await page.evaluate(`document.querySelector('main').dataset.same = 'yes'`);
      await page.evaluate(`document.querySelector('a.skip').click()`);
      await page.waitForTimeout(700);
      expect(await cause.inputValue()).toBe('It is the basket that loses it.');
      await page.goBack();
      await page.waitForTimeout(700);
      expect(await cause.inputValue()).toBe('It is the basket that loses it.');
      expect(await page.locator('main').getAttribute('data-same')).toBe('yes');
    });
  });

  it('is not sent by Enter in one of its fields', async () => {
    const first = await firstOf('enter');
    await client.at('anna', async (page) => {
      await page.goto(createItemAddress(first));
      for (const key of ['c', '4', 'Enter']) await page.keyboard.press(key);
      await page.locator('#correct-form [name=category]:checked').press('Enter');
      await page.waitForTimeout(700);
      await page.locator('#correct-form [name=evidence], #correct-form [name=none]').first().press('Enter');
      await page.waitForTimeout(700);
      expect(await readShownItem(page)).toBe(first.id);
      expect((await client.console.stores.reviews.find(first.id))?.decision).toBeNull();
    });
  });

  it('can be sent again if the server received it but did not answer', async () => {
    const first = await firstOf('silent');
    await client.at('anna', async (page) => {
      await page.addInitScript(
        'const whole = AbortSignal.timeout; AbortSignal.timeout = (ms) => whole.call(AbortSignal, globalThis.patient ? ms : ms / 100);',
      );
      await page.goto(createItemAddress(first));
      await page.route('**/decision', () => undefined);
      const notSaved = page.getByRole('status').filter({ hasText: 'Not saved.' });
      // Pressing again while it is on its way means the same, so that nobody has to know when the first one counted.
      for (let tries = 0; tries < 5 && !(await notSaved.isVisible()); tries += 1) {
        await page.keyboard.press('a');
        await notSaved.waitFor({ timeout: 3_000 }).catch(() => undefined);
      }
      expect(await notSaved.isVisible()).toBe(true);
      // From here on the server answers, and may take its time.
      await page.evaluate('globalThis.patient = true');
      await page.unroute('**/decision');
      await page.keyboard.press('a');
      await page.locator(`[data-review]:not([data-review="${first.id}"])`).waitFor();
    });
  });

  it('asks once, however often someone presses while the answer is pending', async () => {
    const { analysisId } = await firstOf('once');
    await client.at('anna', async (page) => {
      const asked: string[] = [];
      await page.goto(`/analyses/${analysisId}/ask`);
      await page.route('**/ask', (route) => void asked.push(route.request().method()));
      await page.getByLabel('Question').fill('Why?');
      const ask = page.getByRole('button', { name: 'Ask', exact: true });
      for (const _ of [1, 2, 3]) await ask.click();
      await page.waitForTimeout(300);
      expect(asked).toEqual(['POST']);
    });
  });
});
