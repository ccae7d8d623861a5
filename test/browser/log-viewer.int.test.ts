import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleAnalysis, sampleBuild, sampleGroup } from '../stores/samples.ts';
import { openReviewWorld, type ReviewWorld } from '../support/review-world.ts';

const LINES = 311_101;
const IMAGE = '<img src=x onerror=alert(1)>';
/** Every 35th line is an error, now and then in other letters; one is written by somebody who means harm. */
function lineOf(number: number): string {
  if (number === 300_002) return `${IMAGE} <script>alert(1)</script> javascript:alert(1)`;
  if (number % 35 === 0) return `${number % 2 === 0 ? 'ERROR' : 'Error'}: module_${number} cannot be built`;
  return `module_${number} is built, and all is well`;
}

/** What terminals make of a log and what people who mean harm put into one; by line, what is to be read there. */
const STRANGE: readonly (readonly [stored: string, shown: string])[] = [
  ['plain', 'plain'],
  ['10%\r20%\r100% done', '100% done↻ 2 overwrites10%\n20%'],
  ['\u001b[31mred\u001b[0m and \u001b[1;4mbold\u001b[m', 'red and bold'],
  ['\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007', 'click'],
  ['user\u202enimda\u202c is root', 'user⟦U+202E⟧nimda⟦U+202C⟧ is root'],
  ['nul\0byte', 'nul\ufffdbyte'],
  [`${'x'.repeat(50_000)}`, `${'x'.repeat(2_000)}… +48,000 characters`],
  [
    '\u2028 separators \u2029 and \u0085 do not end a line',
    '⟦U+2028⟧ separators ⟦U+2029⟧ and ⟦U+0085⟧ do not end a line',
  ],
  [`<b style="color:red">${IMAGE}</b>`, `<b style="color:red">${IMAGE}</b>`],
  ['windows ends in\r', 'windows ends in'],
  ['', ''],
  ['the last', 'the last'],
];

let client: ReviewWorld;
let log: string;
let strange: string;
beforeAll(async () => {
  client = await openReviewWorld();
  log = await storeLog('1', Array.from({ length: LINES }, (_, at) => lineOf(at + 1)).join('\n'));
  strange = await storeLog('2', STRANGE.map(([stored]) => stored).join('\n'));
});
afterAll(async () => await client.close());

/** A build with this log, and an answer that rests on its line 300,001; resolves with the viewer's address. */
async function storeLog(number: string, text: string): Promise<string> {
  const { stores, app } = client.console;
  const { build } = await stores.builds.upsert(sampleBuild({ repository: 'logs/viewer', number }));
  await app.archive.put(build.id, { name: 'build.log', kind: 'log', text, notes: [] });
  await stores.failures.saveGroups(build.id, [sampleGroup(build.id, `fp-${number}`)]);
  const triage = await stores.triages.open(build.id, `fp-${number}`);
  const evidence = [
    {
      id: 'E1',
      tool: 'log',
      title: 'It failed',
      text: lineOf(300_001),
      source: 'build.log',
      lineStart: 300_001,
      lineEnd: 300_002,
    },
  ];
  await stores.analyses.insertOnce({
    ...sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint: `fp-${number}` }),
    evidence,
  });
  return `/logs/${build.id}?file=build.log`;
}

const marked = async (page: Page) =>
  await page
    .locator('.lines li.sel')
    .evaluateAll((rows) => rows.map((row) => Number(Reflect.get(Object(row).dataset, 'line'))));
/** Where the line is: from its top to the lower edge of the header, and from its lower edge to that of the window. */
const insets = async (page: Page, line: number) =>
  (await page.evaluate(`(() => {
    const [row, header] = [document.querySelector('#L${line}'), document.querySelector('header')].map((one) => one.getBoundingClientRect());
    return [row.top - header.bottom, innerHeight - row.bottom];
  })()`)) as [number, number];
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('places in a log of 311,101 lines', () => {
  it.each([true, false])(
    '9, 10, 12: a link to five lines shows them in the window and marks exactly these; scripts: %s',
    async (javaScript) => {
      const complaints = await client.at(
        'reader',
        async (page) => {
          await page.goto(`${log}&L=300000-300004#L300000`);
          expect(await marked(page)).toEqual(range(300_000, 300_004));
          for (const line of [300_000, 300_004])
            for (const inset of await insets(page, line)) expect(inset).toBeGreaterThanOrEqual(0);
          expect(await page.locator('#L300004 code').textContent()).toBe(lineOf(300_004));
        },
        { javaScript },
      );
      expect(complaints).toEqual([]);
    },
  );

  it('7: a gap opens in place, its count decreases, and the focus is on the first new line', async () => {
    await client.at('reader', async (page) => {
      await page.goto(log);
      const gap = page.locator('.lines li.gap a').first();
      expect(await gap.textContent()).toBe('⋯ 299,994 lines not shown: show 200');
      await gap.click();
      await page.locator('#L299795').waitFor();
      expect(await gap.textContent()).toBe('⋯ 299,794 lines not shown: show 200');
      expect(await page.evaluate('document.activeElement.closest("li").id')).toBe('L299795');
      expect(new URL(page.url()).search).toBe(new URL(log, 'http://localhost').search);
      expect(await page.locator('.lines li[data-line]').count()).toBeGreaterThan(200);
    });
  });

  it('32: an address pasted while a log is open fetches the lines and marks them', async () => {
    await client.at('reader', async (page) => {
      await page.goto(log);
      await page.goto(`${log}#L120-L140`);
      await page.waitForURL('**L=120-140#L120');
      await page.locator('#L120').waitFor();
      expect(await marked(page)).toEqual(range(120, 140));
    });
  });

  it('33: a click and a click with Shift set the canonical address, and a reload shows the same', async () => {
    await client.at('reader', async (page) => {
      await page.goto(`${log}&L=1000#L1000`);
      await page.getByRole('link', { name: 'Line 1002', exact: true }).click();
      await page.getByRole('link', { name: 'Line 1005', exact: true }).click({ modifiers: ['Shift'] });
      expect(page.url()).toMatch(/[?&]L=1002-1005#L1002$/);
      expect(await marked(page)).toEqual(range(1_002, 1_005));
      await page.reload();
      expect(await marked(page)).toEqual(range(1_002, 1_005));
    });
  });

  it('34: three copied lines have no line numbers and end in LF, by the button and by hand', async () => {
    const wanted = range(1_001, 1_003).map(lineOf).join('\n');
    await client.at('reader', async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.goto(`${log}&L=1001-1003#L1001`);
      await page.locator('.tools .menu > summary').click();
      await page.getByRole('button', { name: 'Copy lines' }).click();
      await page.getByRole('status').filter({ hasText: '3 lines copied.' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(wanted);
      await page.evaluate(
        `getSelection().setBaseAndExtent(document.querySelector('#L1001'), 0, document.querySelector('#L1003 code'), 1)`,
      );
      await page.keyboard.press('Control+c');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(wanted);
    });
  });
});

describe('35: an unusual log', () => {
  it('shows line N of the text as line N, colors by classes, and hidden characters as text', async () => {
    const complaints = await client.at('reader', async (page) => {
      await page.goto(strange);
      const rows = await page.locator('.lines li[data-line]').evaluateAll((all) =>
        all.map((row) => {
          const copy = Object(row).cloneNode(true);
          copy.querySelector('.n').remove();
          for (const chip of copy.querySelectorAll('.chip')) chip.remove();
          return [Object(row).dataset.line, copy.textContent];
        }),
      );
      expect(rows).toEqual(STRANGE.map(([, shown], at) => [String(at + 1), shown]));
      const content = await page.content();
      expect(content.replaceAll('&lt;b style="color:red"&gt;', '')).not.toMatch(/style=/);
      expect(await page.locator('main img, main script, main b, main a[href*="evil"]').count()).toBe(0);
    });
    expect(complaints).toEqual([]);
  });
});

describe('36: searching a log', () => {
  it('counts like grep -ci, and reaches the 5,000th hit', async () => {
    const hits = range(1, LINES).filter((line) => /error/i.test(lineOf(line)));
    await client.at('reader', async (page) => {
      await page.goto(log);
      await page.getByRole('searchbox', { name: 'Search', exact: true }).fill('error');
      await page.keyboard.press('Enter');
      await page
        .getByText(`${hits.length.toLocaleString('en-US')} lines contain “error”, 1–100 shown`)
        .waitFor();
      await page.goto(`${page.url()}&hit=4901`);
      expect(await page.locator('.lines li[data-line]').last().getAttribute('data-line')).toBe(
        String(hits[4_999]),
      );
      expect(await page.locator('.lines li mark').count()).toBe(100);
      await page.locator(`#L${hits[4_999]} .n`).click();
      await page.goto(page.url());
      expect(await marked(page)).toEqual([hits[4_999]]);
    });
  });
});

describe('37: a hundred opened gaps', () => {
  it('leave at most 3,000 rows and use less than 100 MB', async () => {
    await client.at('reader', async (page) => {
      await page.goto(log);
      const most = await page.evaluate(`(async () => {
        const rows = () => document.querySelectorAll('.lines li[data-line]').length;
        let most = 0;
        for (let opened = 0; opened < 100; opened++) {
          const list = document.querySelector('.lines ol');
          const changed = new Promise((done) => new MutationObserver((_, watcher) => (watcher.disconnect(), done())).observe(list, { childList: true }));
          document.querySelector('.lines li.gap a').click();
          await changed;
          most = Math.max(most, rows());
        }
        return most;
      })()`);
      expect(most).toBeGreaterThan(2_000);
      expect(most).toBeLessThanOrEqual(3_000);
      const session = await page.context().newCDPSession(page);
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      expect(usedSize).toBeLessThan(100_000_000);
    });
  });
});

describe('38: a line that is markup', () => {
  it('is shown as text, in the log and where an answer quotes it', async () => {
    const complaints = await client.at('reader', async (page) => {
      const dialogs: string[] = [];
      page.on('dialog', async (dialog) => {
        dialogs.push(dialog.message());
        await dialog.dismiss();
      });
      await page.goto(`${log}&L=300002#L300002`);
      expect(await page.locator('#L300002 code').textContent()).toBe(lineOf(300_002));
      expect(await page.locator('#L300002 :is(img, script, a[href^=javascript])').count()).toBe(0);
      expect(dialogs).toEqual([]);
    });
    expect(complaints).toEqual([]);
  });
});
