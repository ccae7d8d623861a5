import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAxeFindings } from '../support/browser.ts';
import { DESK, mainText, openDemoWorld, PHONE } from '../support/demo-world.ts';
import { type ReviewWorld, storeQueue } from '../support/review-world.ts';

const NUMBERS = 'none one two three four five six seven eight nine ten'.split(' ');

let client: ReviewWorld;
beforeAll(async () => {
  client = await openDemoWorld();
});
afterAll(() => client.close());

describe('the demo', () => {
  it('has as many answers in the review queue as the quickstart says', async () => {
    const quickstart = readFileSync('docs/start/quickstart.md', 'utf8');
    const waiting = await client.console.stores.reviews.list({ state: 'waiting' }, { limit: 50, offset: 0 });
    const ofTheWeek = waiting.filter(({ repository }) => repository === 'demo/shop').length;
    const ofTheTen = waiting.length - ofTheWeek;
    expect(quickstart).toContain(`known to be right; ${ofTheTen} of 10\n`);
    expect(quickstart.replaceAll('\n', ' ')).toContain(
      `need review: ${NUMBERS[ofTheTen]} of the ten, and ${NUMBERS[ofTheWeek]} of the week's builds.`,
    );
  });

  it('60: has the same search without scripts, on a phone and in dark mode', async () => {
    await client.at(
      'reader',
      async (page) => {
        await page.goto('/');
        await page
          .getByRole('searchbox', { name: 'Search failures' })
          .fill('category:DEPENDENCY_ERROR react');
        await page.keyboard.press('Enter');
        await page.waitForURL(/\/search\?q=/);
        expect(await page.locator('.found > li').count()).toBe(1);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
      },
      { ...PHONE, javaScript: false, theme: 'dark' },
    );
  });

  it('61: shows the state of a cause: builds fixed it, a person owns it, mutes it and links a ticket, all in its history', async () => {
    const complaints = await client.at('anna', async (page) => {
      await page.goto('/causes?list=fixed');
      await page.getByRole('link', { name: /prints a whole receipt/ }).click();
      expect(await page.locator('#standing + .stack').textContent()).toMatch(/demo\/shop/);
      expect(await page.locator('.kicker').textContent()).toContain('Fixed');
      expect(await page.locator('.past').last().textContent()).toMatch(/builds: fixed build/);

      await page.goto('/causes?list=red');
      await page.getByRole('link', { name: /npm cannot install react/ }).click();
      for (const [act, becomes] of [
        ['Take it', 'assigned to'],
        ['Mute', 'muted until'],
      ] as const) {
        if (act === 'Mute') {
          await page.getByText('Assign, mute, link or merge').click();
          await page.getByLabel('Mute for days').fill('7');
          await page.getByLabel('because').fill('waits for a release');
        }
        await page.getByRole('button', { name: act, exact: true }).click();
        await page.locator('#standing + .stack').getByText(becomes).first().waitFor();
      }
      expect(await page.locator('#standing + .stack').textContent()).toMatch(
        /muted until \d{4}-\d\d-\d\d.*assigned to anna/s,
      );
      await page.getByText('Assign, mute, link or merge').click();
      await page.getByLabel('Ticket').fill('https://tickets.example/SHOP-7');
      await page.getByRole('button', { name: 'Link', exact: true }).click();
      await page.getByRole('link', { name: 'ticket' }).waitFor();
      await page.getByRole('button', { name: 'Unmute', exact: true }).click();
      await page.getByRole('button', { name: 'Unmute', exact: true }).waitFor({ state: 'detached' });
      await page.keyboard.press('g');
      await page.keyboard.press('c');
      await page.getByRole('link', { name: /^Mine 1/ }).click();
      await page.getByRole('link', { name: /npm cannot install react/ }).waitFor();
    });
    expect(complaints).toEqual([]);
    await client.at('reader', async (page) => {
      await page.goto('/causes');
      await page.getByRole('link', { name: /pip cannot find a release/ }).click();
      expect(await page.getByRole('button', { name: 'Take it' }).count()).toBe(0);
    });
  });

  it('61: shows the same without scripts and on a phone', async () => {
    await client.at(
      'ben',
      async (page) => {
        await page.goto('/causes');
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
        await page.getByRole('link', { name: /The secret DEPLOY_TOKEN/ }).click();
        await page.getByRole('button', { name: 'Take it' }).click();
        expect(await page.locator('#standing + .stack').textContent()).toContain('assigned to ben');
      },
      { ...PHONE, javaScript: false },
    );
  });

  const LOOKS = [
    ['on a desk', { ...DESK, theme: 'light', javaScript: true }],
    ['on a desk, in the dark', { ...DESK, theme: 'dark', javaScript: true }],
    ['on a phone', { ...PHONE, theme: 'light', javaScript: true }],
    ['on a phone, in the dark, without scripts', { ...PHONE, theme: 'dark', javaScript: false }],
  ] as const;

  it.each(LOOKS)('73: groups related content under a common name: %s', async (where, how) => {
    // Anew for each try: what is decided is no longer in the queue.
    const repository = `look/${where.replaceAll(/\W+/g, '-')}-${Date.now()}`;
    const reviews = await storeQueue(client, repository, 3, { fingerprint: repository });
    const complaints = await client.at(
      'anna',
      async (page) => {
        const check = async () => {
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(how.width);
          if (how.javaScript) expect(await listAxeFindings(page)).toEqual([]);
        };
        // The queue says what its order means, and its count leads to one decision for all.
        await page.goto(`/review?repo=${repository}#list`);
        expect(await mainText(page)).toContain('Highest risk first: failures that block a pull request');
        await page.getByRole('link', { name: '3 items with the same failure: decide them together' }).click();
        await page.getByRole('button', { name: 'Accept this answer for all 3' }).waitFor();
        await check();
        // What was done is said once, apart from the next item.
        const decided = reviews[0]?.id ?? '';
        await page.getByRole('button', { name: 'Accept', exact: true }).click();
        await page
          .locator('#status')
          .getByText(/^Item \d+: accepted\./)
          .waitFor();
        expect(await page.locator('[data-review]').getAttribute('data-review')).not.toBe(decided);
        expect(await mainText(page)).not.toMatch(/accepted/i);
        await check();
        // Causes: every cell is named, on a phone too; a flaky test's cause is not fixed by one build that passes.
        await page.goto('/causes');
        await page.goto('/causes?list=fixed');
        expect(await mainText(page)).not.toContain('sends the weekly digest');
        await page.goto('/causes');
        await page.getByRole('link', { name: /sends the weekly digest/ }).click();
        expect(
          await page.getByRole('navigation', { name: 'Sections' }).locator('[aria-current]').textContent(),
        ).toBe('Causes');
        expect(await mainText(page)).toContain('This cause involves flaky tests');
        expect(await mainText(page)).not.toContain('a flaky test can still fail again');
        expect(await mainText(page)).toMatch(/flakes in 1 run in \d+ \(3 of \d+\); not in quarantine/);
        expect(await mainText(page)).toContain('quarantine the test on its page');
        expect(await page.locator('main time').first().textContent()).toMatch(/^\d{1,2} \w{3} \d\d:\d\d$/);
        await check();
        await page.getByRole('link', { name: 'sends the weekly digest within half a second' }).click();
        expect(await mainText(page)).toContain('mute the cause on its page');
        await page.goto('/insights/causes');
        expect(
          await page.getByRole('navigation', { name: 'Insights' }).locator('[aria-current]').textContent(),
        ).toBe('Top causes');
        const named = await page.evaluate(
          `getComputedStyle(document.querySelector('td[data-label]'), '::before').content`,
        );
        expect(named).toBe(how.width === PHONE.width ? '"Builds: "' : 'none');
        // The filters are explained by the search box, whatever was searched for.
        await page.goto('/search?q=npm');
        await page.getByText('Search filters').click();
        expect(await page.getByText('seen since: hours').isVisible()).toBe(true);
        await check();
      },
      how,
    );
    expect(complaints).toEqual([]);
  });
});
