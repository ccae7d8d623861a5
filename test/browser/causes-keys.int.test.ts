import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReviewWorld, type ReviewWorld } from '../support/review-world.ts';

let client: ReviewWorld;
beforeAll(async () => {
  client = await openReviewWorld();
  for (const [at, slug] of ['npm-eresolve', 'registry-unavailable'].entries())
    await client.console.bring({ slug, repository: 'demo/shop', number: String(810 + at) });
});
afterAll(() => client.close());

describe('without a mouse', () => {
  it('causes are walked, selected, acknowledged together, taken back, and opened', async () => {
    const complaints = await client.at('anna', async (page) => {
      const press = async (keys: readonly string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      await page.goto('/causes');
      await press(['j', 'x', 'j', 'x']);
      expect(await page.locator('[data-pick]:checked').count()).toBe(2);
      const acknowledge = page.locator('#bulk').getByRole('button', { name: 'Acknowledge' });
      for (let tabs = 0; tabs < 60; tabs += 1) {
        if (await acknowledge.evaluate((button) => button === button.ownerDocument.activeElement)) break;
        await press(['Shift+Tab']);
      }
      await press(['Enter']);
      await page.getByRole('status').getByText('2 causes').waitFor();
      expect(await page.getByText('Acknowledged', { exact: true }).count()).toBe(2);
      await press(['u']);
      await page.getByText('New', { exact: true }).first().waitFor();
      await press(['j', 'o']);
      await page.waitForURL('**/failures/**');
    });
    expect(complaints).toEqual([]);
  });

  it('the palette goes to a page, to a build by its number, and to a cause by its words', async () => {
    const complaints = await client.at('anna', async (page) => {
      const choose = async (words: string, offer: RegExp, place: string) => {
        await page.keyboard.press('Control+k');
        await page.keyboard.type(words);
        await page.getByRole('option', { name: offer }).first().waitFor();
        const options = page.getByRole('option');
        const names = await options.allTextContents();
        const at = names.findIndex((name) => offer.test(name));
        const selected = await options.evaluateAll((all) =>
          all.findIndex((one) => one.getAttribute('aria-selected') === 'true'),
        );
        for (let step = selected; step < at; step += 1) await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await page.waitForURL(place);
      };
      await page.goto('/');
      await choose('insi', /Insights/, '**/insights');
      await choose('811', /#811/, '**/{builds,analyses}/**');
      await choose('npm cannot', /npm cannot install/, '**/failures/**');
    });
    expect(complaints).toEqual([]);
  });
});
