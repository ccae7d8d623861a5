import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Review } from '../../src/domain/review.ts';
import { openPage } from '../support/browser.ts';
import { createHostileText, HOSTILE_STEP, stockHostile } from '../support/hostile-stock.ts';
import { openReviewWorld, type ReviewWorld, waitUntilShown } from '../support/review-world.ts';
import { createTriageJobs } from '../support/triage-jobs.ts';

let client: ReviewWorld;
let pages: string[];
let item: Review;
let next: Review;
beforeAll(async () => {
  client = await openReviewWorld();
  ({ pages, item, next } = await stockHostile(client.console));
});
afterAll(async () => await client.close());

/** Elements, attributes and addresses that no page of ours makes: where there is one, data became markup. */
const FOREIGN = `(() => {
  const short = (one) => one.outerHTML.slice(0, 160);
  const made = [...document.querySelectorAll('x-evil, [data-evil], img, iframe, object, embed, base, math, style, video, audio, meta[http-equiv]')];
  const scripts = [...document.scripts].filter(({ src, text }) => !src.startsWith(location.origin + '/assets/') || text !== '');
  const armed = [...document.querySelectorAll('*')].filter((one) => [...one.attributes].some(({ name }) => /^on|^style$|^srcdoc$/.test(name)));
  const leading = [...document.querySelectorAll('[href], [src], [action], [formaction], [data-events]')].filter((one) =>
    ['href', 'src', 'action', 'formaction', 'data-events'].some((name) => {
      const value = one.getAttribute(name);
      return value !== null && new URL(value, document.baseURI).origin !== location.origin;
    }));
  return [...made, ...scripts, ...armed, ...leading].map(short);
})()`;

const foreign = async (page: Page) => {
  const found = await page.evaluate(FOREIGN);
  return Array.isArray(found) ? found.map(String) : ['the page could not be read'];
};

/** What a refused page says of its own status is no fault of the page. */
const isStatus = (complaint: string) =>
  /^Failed to load resource: the server responded with a status of 4\d\d/.test(complaint);

interface Watched {
  readonly page: Page;
  /** Dialogs, requests to elsewhere, complaints of the browser. */
  harm(): string[];
}

async function watching(look: (watched: Watched) => Promise<void>): Promise<void> {
  const { address } = client.console;
  const { page, context, complaints, requests } = await openPage(client.browser, {
    address,
    session: await client.console.openSession('anna'),
  });
  const dialogs: string[] = [];
  page.on('dialog', async (dialog) => {
    dialogs.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await page.addInitScript(`globalThis.boom = () => alert('boom')`);
  const elsewhere = () =>
    requests.filter((url) => !url.startsWith(`${address}/`)).map((url) => `request: ${url}`);
  await look({
    page,
    harm: () => [...dialogs, ...elsewhere(), ...complaints.filter((complaint) => !isStatus(complaint))],
  });
  await context.close();
}

describe('38: hostile text in every displayed field', () => {
  it('remains text on every page: no dialog, foreign request, element, link or error', async () => {
    const found: string[] = [];
    let shown = '';
    await watching(async ({ page, harm }) => {
      for (const address of pages) {
        const answer = await page.goto(address);
        if ((answer?.status() ?? 0) >= 500) found.push(`${address}: ${answer?.status()}`);
        found.push(...(await foreign(page)).map((what) => `${address}: ${what}`));
        shown += await page.evaluate(
          `document.body.textContent + [...document.querySelectorAll('textarea, input')].map(({ value }) => value).join(' ')`,
        );
      }
      found.push(...harm());
    });
    expect(found).toEqual([]);
    // It was all there: a page that shows nothing proves nothing.
    const fields = new Set(Array.from(shown.matchAll(/§([\w.-]+)§/g), ([, field]) => field));
    expect(SHOWN.filter((field) => !fields.has(field))).toEqual([]);
  });

  it('remains text when pages are replaced in place, gaps are opened, and steps arrive live', async () => {
    await watching(async ({ page, harm }) => {
      await page.goto('/review#list');
      await page.locator(`a[href^="/review/${item.id}"]`).first().click();
      await waitUntilShown(page, item);
      for (const key of ['n', 'p', 'e', 'c', 'Escape', 'x', 'Escape', '?', 'Escape'])
        await page.keyboard.press(key);
      expect(await foreign(page)).toEqual([]);
      const { triages } = client.console.stores;
      await createTriageJobs(client.console.stores).lease((await triages.request(next.buildId)).buildId);
      await page.goto(`/runs/${next.buildId}`);
      await client.console.stores.runSteps.add(next.buildId, HOSTILE_STEP);
      await page.getByText('§step.summary§').first().waitFor();
      expect(await foreign(page)).toEqual([]);
      expect(harm()).toEqual([]);
    });
  });

  it('remains text when a form is returned with the input, and when a question is answered in place', async () => {
    await watching(async ({ page, harm }) => {
      await page.goto(`/review/${item.id}?edit=1`);
      await page.getByLabel('Root cause').fill(createHostileText('typed'));
      await client.console.stores.reviews.takeOver(item.id, 'ben', 60_000);
      await page.keyboard.press('Control+Enter');
      await page.getByText('Not saved.').first().waitFor();
      expect(await page.getByLabel('Your text is kept here').inputValue()).toContain('§typed§');
      expect(await foreign(page)).toEqual([]);
      await page.goto(`/analyses/${item.analysisId}/ask`);
      await page.getByLabel('Question').fill(createHostileText('asked'));
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      await page.getByRole('heading', { name: '§asked§' }).first().waitFor();
      expect(await foreign(page)).toEqual([]);
      expect(harm()).toEqual([]);
    });
  });
});

const SHOWN = [
  ...['build.repository', 'build.pipeline', 'build.number1', 'build.branch', 'build.author'],
  ...['log', 'log-name', 'log.note', 'test.name', 'failure.message', 'review.title', 'review.why', 'address'],
  ...[
    'analysis.answer.title',
    'analysis.answer.rootCause',
    'analysis.answer.fixRecommendation',
    'analysis.answer.claims.text',
  ],
  ...['analysis.answer.suspects.path', 'analysis.answer.suspects.author', 'analysis.answer.suspects.reason'],
  ...['analysis.answer.hypotheses.text', 'analysis.answer.hypotheses.settledBy'],
  ...[
    'analysis.verdict.gaps',
    'analysis.verdict.unsupportedClaims',
    'analysis.verdict.factors.because',
    'analysis.notes',
  ],
  ...['analysis.evidence.title', 'analysis.evidence.text', 'analysis.evidence.source'],
  ...[
    'analysis.steps.node',
    'analysis.steps.summary',
    'analysis.steps.judgements.by',
    'analysis.steps.judgements.model',
    'analysis.steps.judgements.note',
    'analysis.steps.outcomes.call.why',
  ],
  ...[
    'analysis.steps.outcomes.call.args.path',
    'analysis.steps.outcomes.summary',
    'analysis.steps.outcomes.answeredBy',
    'analysis.steps.investigator',
  ],
  ...[
    'decision.rootCause',
    'decision.reason',
    'decision.fix',
    'entry.title',
    'entry.rootCause',
    'entry.fixRecommendation',
    'entry.telling',
  ],
  ...[
    'entry.withdrawnBy',
    'entry.reason',
    'entry.confirmedBy',
    'rule.pattern',
    'rule.rootCause',
    'rule.title',
    'rule.author',
  ],
  ...[
    'question.title',
    'question.question',
    'question.answer',
    'thread.title',
    'thread.startedBy',
    'turn.question',
    'turn.askedBy',
  ],
  ...['turn.statements.text', 'turn.citations.title', 'turn.citations.source'],
];
