import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../../src/domain/analysis.ts';
import type { Review } from '../../src/domain/review.ts';
import type { WorkItem } from '../../src/domain/work.ts';
import { openReviewWorld, type ReviewWorld, storeQueue, waitForSentence } from '../support/review-world.ts';
import { createTriageJobs } from '../support/triage-jobs.ts';

let client: ReviewWorld;
let items: Review[];
beforeAll(async () => {
  client = await openReviewWorld();
  items = await storeQueue(client, 'live/runs', 3);
});
afterAll(async () => await client.close());

function itemAt(at: number): Review {
  const item = items[at];
  if (item === undefined) throw new Error('no item');
  return item;
}

/** A triage that this test holds: it goes on for as long as it wants. */
async function beginRun({ buildId }: Review): Promise<WorkItem> {
  const { triages } = client.console.stores;
  const job = await createTriageJobs(client.console.stores).lease((await triages.request(buildId)).buildId);
  if (job === null) throw new Error('somebody else works on it');
  return job;
}

const step = async ({ buildId }: Review, summary: string) =>
  await client.console.stores.runSteps.add(buildId, { ...STEP, summary });
const STEP: Step = {
  node: 'reason',
  round: 1,
  startedAt: '2026-10-12T14:01:03.000Z',
  milliseconds: 900,
  summary: '',
};
const summaries = async (page: Page) =>
  (await page.locator('#steps summary').allTextContents()).map(
    (text) => /finding \d+/.exec(text)?.[0] ?? text,
  );
const findings = (count: number) => Array.from({ length: count }, (_, at) => `finding ${at + 1}`);

describe('30: a running triage', () => {
  it('shows its steps in order, continues without duplicates after a broken connection, and leaves no stream open at its end', async () => {
    const item = itemAt(0);
    const job = await beginRun(item);
    await step(item, 'finding 1');
    await client.at('reader', async (page) => {
      const streams = new Set<string>();
      let asked = 0;
      const session = await page.context().newCDPSession(page);
      await session.send('Network.enable');
      session.on('Network.requestWillBeSent', ({ requestId, request }) => {
        if (!request.url.includes('/events')) return;
        asked += 1;
        streams.add(requestId);
      });
      let broken = 0;
      session.on('Network.loadingFinished', ({ requestId }) => {
        if (streams.delete(requestId)) broken += 1;
      });
      session.on('Network.loadingFailed', ({ requestId }) => {
        if (streams.delete(requestId)) broken += 1;
      });
      await page.goto(`/runs/${item.buildId}`);
      expect(await summaries(page)).toEqual(findings(1));
      for (const at of [2, 3]) await step(item, `finding ${at}`);
      await page.getByText('finding 3').first().waitFor();
      expect(asked).toBe(1);
      // The service is restarted under the page, and steps end meanwhile; the page asks again by itself.
      await client.console.deafen();
      await expect.poll(() => broken, { timeout: 10_000 }).toBeGreaterThan(0);
      for (const at of [4, 5]) await step(item, `finding ${at}`);
      await client.console.listen();
      await page.locator('#steps').getByText('finding 5').first().waitFor();
      await step(item, 'finding 6');
      await page.locator('#steps').getByText('finding 6').first().waitFor();
      expect(await summaries(page)).toEqual(findings(6));
      await createTriageJobs(client.console.stores).finish(job, 'done');
      await page.waitForURL(`**/runs/${item.analysisId}`);
      await expect.poll(() => streams.size, { timeout: 10_000 }).toBe(0);
      // A stream that was only broken, not closed, would be asked for again within three seconds.
      const before = asked;
      await page.evaluate('new Promise((done) => setTimeout(done, 3_500))');
      expect(asked).toBe(before);
    });
  });

  it('keeps one stream while its tab is visible, and without scripts shows what is known and how to reload', async () => {
    const item = itemAt(1);
    await beginRun(item);
    await step(item, 'finding 1');
    await client.at(
      'reader',
      async (page) => {
        await page.goto(`/runs/${item.buildId}`);
        expect(await summaries(page)).toEqual(findings(1));
        await step(item, 'finding 2');
        await page.getByRole('link', { name: 'Refresh' }).click();
        expect(await summaries(page)).toEqual(findings(2));
      },
      { javaScript: false },
    );
  });
});

describe('asking in place', () => {
  it('shows the steps, then the whole answer under its own address', async () => {
    const item = itemAt(2);
    await client.at('reader', async (page) => {
      await page.goto(`/analyses/${item.analysisId}/ask`);
      await page.getByLabel('Question').fill('How did it fail?');
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      await page.waitForURL(/\/ask\/thr_\w+/);
      await page.getByRole('heading', { level: 2, name: 'How did it fail?' }).waitFor();
      expect(await page.locator('article .answer').textContent()).not.toBe('');
    });
  });

  it('explains why a question is refused, and keeps its text', async () => {
    await client.at('reader', async (page) => {
      await page.goto(`/analyses/${itemAt(2).analysisId}/ask`);
      await page.getByLabel('Question').fill('   ');
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      await waitForSentence(page, 'The question is empty.');
      expect(await page.getByLabel('Question').inputValue()).toBe('   ');
    });
  });

  it('stops with its button: the text so far stays, and nothing is stored', async () => {
    const item = itemAt(2);
    const { stores } = client.console;
    const before = await stores.conversations.list({ analysisId: item.analysisId }, { limit: 9, offset: 0 });
    await client.at('reader', async (page) => {
      await page.goto(`/analyses/${item.analysisId}/ask`);
      // An answer that has begun and does not end: as from a slow model.
      await page.evaluate(`globalThis.fetch = async (address, { signal }) => new Response(new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('event: step\\ndata: reason: reading\\n\\nevent: text\\ndata: The first &lt;b&gt; sentence.\\n\\n'));
          signal.addEventListener('abort', () => controller.error(signal.reason));
        },
      }), { headers: { 'content-type': 'text/event-stream' } })`);
      await page.getByLabel('Question').fill('Why now?');
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      await page.getByText('The first <b> sentence.').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await waitForSentence(page, 'Stopped. The partial answer stays.');
      expect(await page.getByText('The first <b> sentence.').isVisible()).toBe(true);
      expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(false);
    });
    expect(
      await stores.conversations.list({ analysisId: item.analysisId }, { limit: 9, offset: 0 }),
    ).toHaveLength(before.length);
  });
});
