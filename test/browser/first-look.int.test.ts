import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SUGGESTIONS } from '../../src/console/ask.ts';
import { findForms } from '../../src/judge/question-forms.ts';
import { DESK, mainText, openDemoWorld, PHONE } from '../support/demo-world.ts';
import { type ReviewWorld, storeQueue } from '../support/review-world.ts';

let client: ReviewWorld;
beforeAll(async () => {
  client = await openDemoWorld();
});
afterAll(() => client.close());

async function buildOf(repository: string) {
  const [build] = await client.console.stores.builds.list({ repository }, { limit: 1, offset: 0 });
  return build?.id ?? '';
}

async function analysisOf(repository: string) {
  const [analysis] = await client.console.stores.analyses.listByBuild(await buildOf(repository));
  return analysis?.id ?? '';
}

const leftOf = async (page: Page, selector: string) =>
  Math.round((await page.locator(selector).first().boundingBox())?.x ?? -1);

describe('the first minute with the demo', () => {
  it('51: an item opens at its evidence: only the cited lines are highlighted, with five lines around them', async () => {
    const address = `/analyses/${await analysisOf('demo/npm-eresolve')}`;
    await client.at(
      'anna',
      async (page) => {
        await page.goto(address);
        const marked = page.locator('.proof .lines li.cited');
        expect((await marked.allTextContents()).every((line) => line.includes('npm error'))).toBe(true);
        expect(await marked.first().textContent()).toContain('npm error code ERESOLVE');
        expect(await page.locator('.proof .lines li[data-line]').first().getAttribute('data-line')).toBe('7');
        const box = await marked.first().boundingBox();
        expect((box?.y ?? Number.POSITIVE_INFINITY) < DESK.height).toBe(true);
      },
      DESK,
    );
  });

  it('52: accepting reports the new library entry, or why there is none, there and on the decided item', async () => {
    const [general] = await storeQueue(client, 'look/general', 1, {
      fingerprint: 'exit-code',
      failure: { generic: true, test: null },
    });
    const id = general?.id ?? '';
    const told = 'Not added to the library: this failure is too general to be recognized again.';
    await client.at('anna', async (page) => {
      await page.goto(`/review/${id}?repo=look%2Fgeneral`);
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.getByRole('status').getByText(told).waitFor();
      await page.goto(`/review/${id}`);
      expect(await page.locator('.banner').textContent()).toContain(told);
    });
  });

  it('53: there is something to review, a flaky test, and a regression with its fix', async () => {
    await client.at('anna', async (page) => {
      await page.goto('/review#list');
      for (const repository of ['demo/renamed-own-module', 'demo/download-time-limit'])
        expect(await mainText(page)).toContain(repository);
      await page.goto('/tests');
      expect(await mainText(page)).toMatch(/sends the weekly digest within half a second.*3 of \d+/s);
      await page.goto('/insights/causes');
      expect(await page.getByRole('row', { name: /prints a whole receipt/ }).textContent()).toMatch(/demo/);
      await page.goto('/insights');
      expect(await page.locator('#days rect[data-mark]').count()).toBeGreaterThan(8);
      await page.goto('/builds?repo=demo/shop');
      expect(await page.getByText('failed', { exact: false }).count()).toBeGreaterThan(6);
    });
  });

  it('54: on a phone the chart shows its end, builds need no sideways scrolling, and the tools of a log fit in one row', async () => {
    const build = await buildOf('demo/cart-discount-rounding');
    await client.at(
      'anna',
      async (page) => {
        await page.goto('/insights');
        const scale = await page.locator('#days .grid text').nth(1).boundingBox();
        expect((scale?.x ?? 999) + (scale?.width ?? 0)).toBeLessThanOrEqual(PHONE.width);
        const last = await page.locator('#days rect[data-mark]').last().boundingBox();
        expect((last?.x ?? 0) > PHONE.width / 2 && (last?.x ?? 999) < PHONE.width).toBe(true);
        await page.goto('/builds');
        expect(
          await page.locator('main').evaluate((one) => one.scrollWidth - one.clientWidth),
        ).toBeLessThanOrEqual(0);
        await page.goto(`/logs/${build}?file=build.log`);
        const tools = page.locator('.tools');
        expect((await tools.boundingBox())?.height).toBeLessThan(60);
        expect(await tools.evaluate((tool) => tool.scrollWidth - tool.clientWidth)).toBeLessThanOrEqual(0);
        await page.keyboard.press('t');
        await page.locator('.ts:visible').first().waitFor();
        expect(await page.getByRole('link', { name: 'Full log' }).isVisible()).toBe(false);
        await page.locator('.tools .menu > summary').click();
        await page.getByRole('link', { name: 'Full log' }).click();
        await page.waitForURL(/view=full/);
        for (const address of ['health', 'models', 'causes', 'flaky?list=cost', 'trust', 'reviewers']) {
          await page.goto(`/insights/${address}`);
          expect([
            address,
            await page
              .locator('.scroll:has(table)')
              .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length),
          ]).toEqual([address, 0]);
        }
      },
      PHONE,
    );
  });

  it('54: on a wide screen tabs, charts, facts and the place of an item share one left edge', async () => {
    const analysis = await analysisOf('demo/npm-eresolve');
    await client.at(
      'anna',
      async (page) => {
        await page.goto('/insights');
        const edge = await leftOf(page, 'main h1');
        for (const part of ['.chart', '.halves', '.filters'])
          expect([part, await leftOf(page, part)]).toEqual([part, edge]);
        expect(await leftOf(page, '.top > .page-title')).toBe(edge);
        await page.goto(`/analyses/${analysis}`);
        for (const part of ['.crumbs', '.headline', '.facts', '.cols'])
          expect([part, await leftOf(page, part)]).toEqual([part, edge]);
      },
      DESK,
    );
  });

  it('55: insights count answers and name the leading category, and causes are counted and paged', async () => {
    await client.at('anna', async (page) => {
      await page.goto('/insights');
      expect(await page.locator('main h1').textContent()).toMatch(
        /^\d+ answers in 30 days, \d+ waits? for a person$/,
      );
      expect(await page.locator('#days h2').textContent()).toMatch(/^Test failure leads: \d+ of \d+ answers/);
      await page.goto('/insights/causes?offset=50');
      expect(await mainText(page)).toMatch(/^.*\d+ causes in the last 30 days/s);
    });
  });

  it('56: an unknown address leads to a page with links, and an unknown filter is reported', async () => {
    await client.at('anna', async (page) => {
      expect((await page.goto('/nowhere'))?.status()).toBe(404);
      expect(await page.getByRole('heading').textContent()).toBe('Page not found');
      await page.getByRole('link', { name: 'Builds' }).last().click();
      await page.goto('/builds?status=broken&repository=x');
      expect(await page.getByRole('note').first().textContent()).toBe(
        'Ignored, because this page does not understand it: status=broken; repository=x (this page has repo, branch, days, pipeline, number, job, status, from, to, filter, offset, csv).',
      );
      await page.goto('/insights?days=soon');
      expect(await page.getByRole('note').first().textContent()).toBe(
        'Ignored, because this page does not understand it: days=soon.',
      );
      await page.goto('/builds?status=failed&repo=demo/shop');
      expect(await page.getByRole('note').count()).toBe(0);
    });
    const answer = await fetch(`${client.console.address}/api/nowhere`, { headers: { accept: 'text/html' } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      'application/json; charset=utf-8',
    ]);
  });

  it('56: looking at an item does not reserve it; starting to correct it does', async () => {
    const [review] = await storeQueue(client, 'look/hold', 1);
    const state = async () => (await client.console.stores.reviews.find(review?.id ?? ''))?.state;
    await client.at('anna', async (page) => {
      await page.goto(`/review/${review?.id}`);
      await page.keyboard.press('n');
      expect(await state()).toBe('waiting');
      const claimed = page.waitForResponse((answer) => answer.url().endsWith('/claim'));
      await page.keyboard.press('c');
      await claimed;
      expect(await state()).toBe('claimed');
    });
  });

  it('60: `/` searches all failures; filters are chips that can be removed, and an error suggests a correction', async () => {
    const complaints = await client.at('reader', async (page) => {
      await page.goto('/builds');
      await page.keyboard.press('/');
      await page.keyboard.type('repo:demo/shop "weekly digest"');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/search\?q=/);
      expect(await page.locator('.found > li').count()).toBe(3);
      expect(await page.locator('.found .title').first().textContent()).toContain('sends the weekly digest');
      expect(
        await page.getByRole('list', { name: 'Filters in use' }).getByRole('link').allTextContents(),
      ).toEqual(['repo:demo/shop ×', '"weekly digest" ×']);
      await page.getByText('Narrow').click();
      await page.getByRole('link', { name: 'is:flaky' }).click();
      expect(await page.locator('.found > li').count()).toBe(3);
      await page.getByRole('link', { name: 'Remove "weekly digest"' }).click();
      await page.getByRole('link', { name: 'Remove is:flaky' }).click();
      expect(await page.locator('.found > li').count()).toBe(8);
    });
    expect(complaints).toEqual([]);
    await client.at('reader', async (page) => {
      expect((await page.goto('/search?q=colour:red'))?.status()).toBe(400);
      expect(await page.getByRole('alert').textContent()).toContain(
        'There is no filter colour:. Available filters: repo: category:',
      );
      await page.goto(`/search?q=${await buildOf('demo/npm-eresolve')}`);
      expect(new URL(page.url()).pathname).toMatch(/^\/builds\/bld_/);
      await page.goto(`/logs/${await buildOf('demo/npm-eresolve')}?file=build.log`);
      await page.keyboard.press('/');
      expect(await page.evaluate('document.activeElement.closest("form").getAttribute("aria-label")')).toBe(
        'This log',
      );
    });
  });

  it("two pull requests state the origin of their failures: one is the author's, one was on main before", async () => {
    const answersOf = async (repository: string) => {
      const failed = await client.console.stores.builds.list(
        { repository, status: 'failed' },
        { limit: 20, offset: 0 },
      );
      const pull = failed.find(({ pullRequest }) => pullRequest !== null);
      return (await client.console.stores.analyses.listByBuild(pull?.id ?? ''))[0]?.id ?? '';
    };
    await client.at('reader', async (page) => {
      await page.goto(`/analyses/${await answersOf('demo/shop')}`);
      const fact = page.locator('.fact').first();
      expect(await fact.textContent()).toContain('Is it me?');
      expect(await fact.textContent()).toContain('Most likely yes, new with this change');
      expect(await fact.textContent()).toMatch(/Passes on main \(ci #112\).*Yours: src\/money\.js:6/s);
      await page.goto(`/analyses/${await answersOf('demo/profile-none-attribute')}`);
      expect(await fact.textContent()).toContain('No, already red on the default branch');
      expect(await fact.textContent()).toMatch(
        /main fails this way since ci #42.*Rebase when main is green/s,
      );
    });
  });

  it('the tests that fail now are listed by name', async () => {
    await client.at('reader', async (page) => {
      await page.goto('/tests');
      await page.getByRole('link', { name: 'Failing', exact: true }).click();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^\d tests fail now$/);
      await page.getByRole('link', { name: 'test_stranger_gets_a_neutral_greeting' }).waitFor();
    });
  });

  it('57: without a model, Ask says so first and offers the questions that it can answer', async () => {
    expect(
      SUGGESTIONS.filter((question) => findForms(question).length === 0 && question !== 'How did it fail?'),
    ).toEqual([]);
    const analysis = await analysisOf('demo/npm-eresolve');
    await client.at('reader', async (page) => {
      await page.goto(`/analyses/${analysis}/ask`);
      expect(await page.getByRole('note').textContent()).toContain('No model is configured.');
      for (const question of SUGGESTIONS)
        expect(await page.getByRole('button', { name: question }).count()).toBe(1);
      await page.getByRole('button', { name: 'How do I fix it?' }).click();
      await page.locator('#turns .answer').waitFor();
      expect(await page.locator('#turns .answer').textContent()).toContain('react-dom');
    });
  });

  it('71: the demo has two stored runs over its own failures, and their cases lead to the builds', async () => {
    const complaints = await client.at('reader', async (page) => {
      await page.goto('/insights/models');
      const verdict = page.getByRole('region', { name: 'Verdict' });
      expect(await verdict.getByRole('heading').textContent()).toBe(
        'Better: usual-log compared with 12-tokens-of-log',
      );
      expect(await verdict.textContent()).toContain(
        'What was changed: budget in tokens was 12, now it is 2000. Both were answered by rules.',
      );
      expect(await verdict.textContent()).toMatch(/\. \d+ more published and right, none published wrong\./);
      expect(await page.getByRole('heading', { name: /^Now published, and right \(\d+\)/ }).count()).toBe(1);
      await page
        .getByRole('link', { name: /^demo\/[\w-]+ · ci/ })
        .first()
        .click();
      await page.waitForURL(/\/builds\/bld_/);
    });
    expect(complaints).toEqual([]);
  });

  it('72: the causes and the health of the pipelines show who has to act', async () => {
    const complaints = await client.at('anna', async (page) => {
      await page.goto('/causes');
      const row = (words: string) => page.getByRole('row').filter({ hasText: words });
      expect(await row('demo/renamed-own-module').textContent()).toMatch(/@demo\/platform/);
      await page.goto('/causes?list=fixed');
      expect(await row('prints a whole receipt').textContent()).toMatch(/@demo\/checkout/);
      await page.goto('/insights/health');
      await row('demo/pip-no-matching-version').getByRole('link', { name: 'owner: @demo/platform' }).click();
      await page.getByRole('link', { name: /pip cannot find a release/ }).click();
      await page.getByRole('button', { name: 'Take it' }).click();
      await page.getByRole('status').getByText('Assigned.').waitFor();
      await page.goto('/insights/health');
      await row('demo/pip-no-matching-version').getByRole('link', { name: 'assigned to anna' }).waitFor();
    });
    expect(complaints).toEqual([]);
  });

  it('builds of the demo are in the order of their numbers, and each shows its result', async () => {
    await client.at('reader', async (page) => {
      await page.goto('/builds?repo=demo/shop');
      const numbers = (await page.locator('#builds .whole').allTextContents()).map((one) =>
        Number(/#(\d+)/.exec(one)?.[1]),
      );
      expect(numbers).toEqual(numbers.toSorted((left, right) => right - left));
      expect(await page.locator('#builds li').filter({ hasText: '#107' }).first().textContent()).toContain(
        'confirmed',
      );
      await page.getByRole('link', { name: 'demo/shop ci #110', exact: true }).click();
      expect(await page.locator('#logs').textContent()).not.toContain('junit.xml');
      await page.getByRole('link', { name: 'Rerun passed (attempt 2)' }).click();
      await page.getByRole('heading', { level: 1, name: 'demo/shop · ci #110, attempt 2' }).waitFor();
      await page.goto('/insights/test?repo=demo/shop&suite=renderReceipt&test=prints a whole receipt');
      expect(
        await page.getByRole('navigation', { name: 'Sections' }).locator('[aria-current]').textContent(),
      ).toBe('Tests');
      expect(await mainText(page)).toMatch(/passed\s*flake\s*failed/);
    });
  });

  it('73: explanations are below their line, and doubts are labeled as such', async () => {
    await client.at('reader', async (page) => {
      await page.goto(`/analyses/${await analysisOf('demo/npm-eresolve')}`);
      expect(await page.locator('.lines .note').count()).toBeGreaterThan(0);
      expect(await mainText(page)).not.toContain('Conflicting evidence');
    });
  });
});
