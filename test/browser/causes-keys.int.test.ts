import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReviewWorld, type ReviewWorld } from '../support/review-world.ts';

let client: ReviewWorld;
beforeAll(async () => {
  client = await openReviewWorld();
  for (const [at, slug] of ['npm-eresolve', 'registry-unavailable'].entries())
    await client.console.bring({ slug, repository: 'demo/shop', number: String(810 + at) });
});
afterAll(() => client.close());

describe('using the console without a mouse', () => {
  it('causes are walked through, selected, acknowledged together, restored, and opened', async () => {
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

  it('the palette leads to a page, to a build by its number, and to a cause by its words', async () => {
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
      await choose('acknow', /^Acknowledge/, '**/failures/*done=acknowledged*');
    });
    expect(complaints).toEqual([]);
  });

  it('an item is read, skipped, and left for its log and its build', async () => {
    const complaints = await client.at('anna', async (page) => {
      const item = async () => String(await page.locator('[data-review]').getAttribute('data-review'));
      const leads = async (key: string, address: RegExp) => {
        await page.keyboard.press(key);
        await page.waitForURL(address);
      };
      await page.goto('/review#list');
      await page.keyboard.press('j');
      await leads('o', /\/review\/rev_/);
      const first = await item();
      await page.keyboard.press('n');
      expect(await page.evaluate('document.activeElement.closest("[data-evidence], .lines") !== null')).toBe(
        true,
      );
      await leads('t', /ts=1/);
      await leads('l', /\/logs\//);
      await leads('l', /\/review\/rev_/);
      await page.keyboard.press('q');
      expect(await page.evaluate('document.activeElement.name')).toBe('question');
      await page.keyboard.press('Escape');
      await page.keyboard.press('s');
      await page.locator(`[data-review]:not([data-review="${first}"])`).waitFor();
      const second = await item();
      await page.keyboard.press('k');
      await page.locator(`[data-review]:not([data-review="${second}"])`).waitFor();
      await leads('o', /\/builds\//);
    });
    expect(complaints).toEqual([]);
  });

  it('a log is walked through by its evidence and searched', async () => {
    const [build] = await client.console.stores.builds.list({ number: '810' }, { limit: 1, offset: 0 });
    const complaints = await client.at('anna', async (page) => {
      await page.goto(`/logs/${build?.id}?file=build.log`);
      await page.keyboard.press('n');
      const at = await page.evaluate('document.activeElement.closest("[data-line]")?.dataset.line ?? ""');
      expect(at).not.toBe('');
      await page.keyboard.press('/');
      await page.keyboard.type('ERESOLVE');
      await page.keyboard.press('Enter');
      await page.waitForURL(/q=ERESOLVE/);
      await page.keyboard.press('t');
      await page.waitForURL(/ts=1/);
    });
    expect(complaints).toEqual([]);
  });

  it('a cause is assigned and muted on its page', async () => {
    const complaints = await client.at('anna', async (page) => {
      const tabTo = async (words: string) => {
        for (let tabs = 0; tabs < 90; tabs += 1) {
          await page.keyboard.press('Tab');
          const here = String(await page.evaluate('document.activeElement.textContent.trim()'));
          if (here === words) return;
        }
        throw new Error(`Tab never reaches ${words}`);
      };
      await page.goto('/causes');
      await page.keyboard.press('j');
      await page.keyboard.press('o');
      await page.waitForURL('**/failures/**');
      await tabTo('Take it');
      await page.keyboard.press('Enter');
      await page.getByRole('status').getByText('Assigned.').waitFor();
      await tabTo('Assign, mute, link or merge');
      await page.keyboard.press('Enter');
      await page.getByLabel('Mute for days').focus();
      await page.keyboard.type('7');
      await page.getByLabel('because').focus();
      await page.keyboard.type('waits for a release');
      await tabTo('Mute');
      await page.keyboard.press('Enter');
      await page.getByRole('status').getByText('Muted.').waitFor();
    });
    expect(complaints).toEqual([]);
  });
});
