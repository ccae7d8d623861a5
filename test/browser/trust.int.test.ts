import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listUnseenFigures } from '../../src/judge/judgement.ts';
import { createKeptRuns } from '../../src/replay/compare/kept-runs.ts';
import { type CaseResult, toFailedResult } from '../../src/replay/run/results.ts';
import { tell } from '../console/insights/insights-world.ts';
import { listAxeFindings, openBrowser, openPage } from '../support/browser.ts';
import { openConsole, type TestConsole, TOKENS } from '../support/console.ts';

const DAY = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY).toISOString();
const runs = mkdtempSync(join(tmpdir(), 'faultline-kept-runs-'));
let console: TestConsole;
let browser: Browser;
let address: string;
let session: string;

/** Fifty decided answers before a change of the threshold and fifty after it; of the later ones more were right. */
beforeAll(async () => {
  [console, browser] = await Promise.all([
    openConsole({ unseen: listUnseenFigures(), keptRuns: createKeptRuns(runs) }),
    openBrowser(),
  ]);
  address = (await console.app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost');
  const { stores, database } = console;
  for (let number = 0; number < 100; number += 1) {
    const isRight = number < 50 ? number % 2 === 0 : number % 25 !== 0;
    const decision = isRight
      ? ({ type: 'accept' } as const)
      : ({ type: 'correct', category: 'INFRA_ERROR' } as const);
    const confidence = number % 2 === 0 ? 0.9 : 0.7;
    await tell(stores, {
      number,
      fingerprint: `fp-${number}`,
      confidence,
      at: ago(number < 50 ? 12 - number / 10 : 5 - (number - 50) / 20),
      decision,
    });
  }
  await tell(stores, {
    number: 500,
    fingerprint: 'fp-few',
    confidence: 0.9,
    at: ago(1),
    repository: 'acme/few',
    decision: { type: 'accept' },
  });
  for (const autoNotify of [0.8, 0.85])
    await stores.trust.record({ release: '0.1.0', analyst: 'rules', autoNotify });
  await database.query('update setups set at = $1 where auto_notify = 0.85', [ago(6)]);
  await database.query('update setups set at = $1 where auto_notify = 0.8', [ago(60)]);
  const body = new URLSearchParams({ token: TOKENS.read, next: '/' });
  const answer = await fetch(`${address}/sign-in`, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { origin: address },
  });
  session = /__Host-fl=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
});
afterAll(async () => {
  await browser.close();
  await console.close();
  rmSync(runs, { recursive: true });
});

const row = (page: Page, table: string, words: string) =>
  page.getByRole('region', { name: table }).getByRole('row').filter({ hasText: words }).first();
const cells = async (page: Page, table: string, words: string) =>
  (await row(page, table, words).locator('th, td').allTextContents()).map((text) =>
    text.replaceAll(/\s+/g, ' ').trim(),
  );
const TABLE = 'What would be published at each threshold';

describe('66: the trust pages', () => {
  it.each([
    ['on a desk', { width: 1440, height: 900, theme: 'light', javaScript: true }],
    ['on a phone, in the dark', { width: 390, height: 844, theme: 'dark', javaScript: true }],
    ['on a phone, without scripts', { width: 390, height: 844, theme: 'light', javaScript: false }],
  ] as const)(
    '66: show what would be published, how often it was right, and the effect of a change: %s',
    async (_where, how) => {
      const { page, context, complaints } = await openPage(browser, { address, session, ...how });
      await page.goto('/insights');
      await page.getByRole('link', { name: 'Trust' }).first().click();
      const lead = await page.getByRole('note').first().textContent();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
        '50 of 51 answers that were sure enough to publish are right',
      );
      expect(lead?.replaceAll(/\s+/g, ' ')).toBe(
        'Answers with a confidence of 0.85 or more are sure enough to be published without a person: 50 % of ' +
          '101 answers. 98 % of those that a person decided were right; with so many decisions, the true share ' +
          'lies between 90 % and 99.7 %.',
      );
      expect(await cells(page, TABLE, 'in force')).toEqual([
        '0.85 in force',
        '51 (50 %)',
        '50 of 51 (98 %; 90 % to 99.7 %)',
        '1',
      ]);
      expect(await cells(page, TABLE, '0.65')).toEqual([
        '0.65',
        '101 (100 %)',
        '74 of 101 (73 %; 64 % to 81 %)',
        '27',
      ]);
      const change = (await page.locator('#changes + ol li').first().textContent())?.replaceAll(/\s+/g, ' ');
      expect(change).toMatch(/^\w{3} \d\d:\d\d Threshold: 0\.8 → 0\.85 · right more often/);
      expect(change).toContain('Before: 50 answers, 0 % published, 25 of 50 (50 %; 37 % to 63 %) right.');
      expect(change).toContain('After: 51 answers, 0 % published, 49 of 51 (96 %; 87 % to 99 %) right.');
      expect(await cells(page, 'Measured figures of this release', 'Tools without a rule')).toHaveLength(6);
      if (how.javaScript) expect(await listAxeFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(how.width);
      // A count leads to what it counts.
      await row(page, TABLE, '0.65').getByRole('link', { name: '27', exact: true }).click();
      await page.getByRole('heading', { name: 'Wrong answers from 0.65' }).waitFor();
      expect(await page.locator('tbody tr').count()).toBe(27);
      expect(await page.locator('tbody').getByText('✗ wrong').count()).toBe(27);
      if (how.javaScript) expect(await listAxeFindings(page)).toEqual([]);
      await page.locator('tbody a').first().click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await context.close();
      expect(complaints).toEqual([]);
    },
  );

  it('66: say plainly that too little is decided, or nothing', async () => {
    const { page, context } = await openPage(browser, { address, session });
    await page.goto('/insights/trust?repo=acme/few');
    const heading = page.getByRole('heading', { level: 1 });
    expect(await heading.textContent()).toBe(
      '1 of 1 decided answer was sure enough to publish: 20 are needed to say how often they are right',
    );
    expect(await cells(page, TABLE, 'in force')).toEqual(['0.85 in force', '1 (100 %)']);
    await page.goto('/insights/trust?repo=acme/none');
    expect(await heading.textContent()).toBe('There are no answers yet');
    expect(await page.getByRole('note').first().textContent()).toBe('See how this release was measured.');
    await context.close();
  });
});

it('66: the API has the same figures', async () => {
  const headers = { authorization: `Bearer ${TOKENS.read}` };
  const { json } = await console.app.inject({ url: '/api/trust', headers });
  const trust = json();
  expect(trust).toMatchObject({ threshold: 0.85, answered: 101, decided: 101, enough: true });
  expect(trust.thresholds).toContainEqual({
    threshold: 0.85,
    published: 51,
    coverage: 51 / 101,
    decided: 51,
    right: 50,
    low: expect.any(Number),
    high: expect.any(Number),
  });
  expect(trust.changes).toMatchObject([
    {
      kind: 'threshold',
      from: '0.8',
      to: '0.85',
      before: { answers: 50, right: 25 },
      after: { answers: 51, right: 49 },
    },
  ]);
  expect(trust.release.unseen).toEqual(listUnseenFigures());
  const few = await console.app.inject({ url: '/api/trust?repository=acme/few', headers });
  expect(few.json()).toMatchObject({ decided: 1, enough: false });
  expect(few.json().thresholds[0]).toMatchObject({ decided: 1, right: 1, low: null, high: null });
});

/** Keeps a run over twenty code errors, of which so many were called something else. */
function keepRun(
  name: string,
  startedAt: string,
  { wrong, milliseconds }: { readonly wrong: number; readonly milliseconds: number },
) {
  const own = join(runs, name);
  const lines = (rows: readonly object[]) => rows.map((other) => `${JSON.stringify(other)}\n`).join('');
  const ids = Array.from({ length: 20 }, (_, at) => `case-${at}`);
  const answered = (id: string, at: number): CaseResult => ({
    ...toFailedResult(id, '', milliseconds + at),
    ...{
      error: null,
      category: at < wrong ? 'INFRA_ERROR' : 'CODE_ERROR',
      confidence: 0.95,
      action: 'auto_notify',
      analyst: name,
    },
  });
  const sources = [{ name: 'reviewed cases', sha256: 'one', cases: ids.length }];
  const manifest = {
    schema: 1,
    version: '0.1.0',
    startedAt,
    sources,
    settings: { analyst: 'llm', model: name },
  };
  mkdirSync(own);
  writeFileSync(
    join(own, 'cases.jsonl'),
    lines(ids.map((id) => ({ id, category: 'CODE_ERROR', source: `https://ci.example/${id}` }))),
  );
  writeFileSync(join(own, 'results.jsonl'), lines(ids.map(answered)));
  writeFileSync(join(own, 'results.jsonl.run.json'), JSON.stringify(manifest));
}

describe('71: the comparison of two models', () => {
  it('71: explains without runs how to store them', async () => {
    const { page, context } = await openPage(browser, { address, session });
    await page.goto('/insights/models');
    expect(await page.getByRole('note').textContent()).toBe(
      'No run has been kept so far. Two are needed to compare.',
    );
    expect(await page.getByRole('region', { name: 'Commands' }).textContent()).toContain(
      'faultline replay --reviewed --keep now',
    );
    await context.close();
    keepRun('old-model', ago(3), { wrong: 8, milliseconds: 400 });
    keepRun('new-model', ago(1), { wrong: 0, milliseconds: 300 });
  });

  it.each([
    ['on a desk', { width: 1440, height: 900, theme: 'light', javaScript: true }],
    ['on a desk, in the dark', { width: 1440, height: 900, theme: 'dark', javaScript: true }],
    ['on a phone, in the dark', { width: 390, height: 844, theme: 'dark', javaScript: true }],
    ['on a phone, without scripts', { width: 390, height: 844, theme: 'light', javaScript: false }],
  ] as const)(
    '71: shows the verdict, its basis, the cost, and the changed cases: %s',
    async (_where, how) => {
      const { page, context, complaints } = await openPage(browser, { address, session, ...how });
      await page.goto('/');
      const more = page.locator('.more summary');
      if (await more.isVisible()) await more.click();
      await page.getByRole('link', { name: 'Insights' }).click();
      await page.getByRole('link', { name: 'Models' }).first().click();
      const verdict = page.getByRole('region', { name: 'Verdict' });
      expect(await verdict.getByRole('heading').textContent()).toBe(
        'Better: new-model compared with old-model',
      );
      expect(await verdict.textContent()).toMatch(
        /Over 20 cases, right category in 100 % instead of 60 %: \+40\.0 points, 95 % interval \d+\.\d to \d+\.\d\. 8 won, 0 lost\./,
      );
      expect(await verdict.textContent()).toContain(
        'What was changed: model was old-model, now it is new-model.',
      );
      const table = 'Both runs, side by side';
      expect((await cells(page, table, 'Confident mistakes')).slice(0, 4)).toEqual([
        'Confident mistakes',
        'better',
        '40 %',
        '0 %',
      ]);
      expect((await cells(page, table, 'Cost per case')).slice(0, 4)).toEqual([
        'Cost per case',
        'the same',
        '$0',
        '$0',
      ]);
      expect((await cells(page, table, 'Time per case')).slice(0, 4)).toEqual([
        'Time per case',
        'faster',
        '410 ms',
        '310 ms',
      ]);
      expect(await page.getByRole('heading', { name: 'Won: Candidate is better (8)' }).count()).toBe(1);
      expect(await page.getByRole('link', { name: 'case-3' }).getAttribute('href')).toBe(
        'https://ci.example/case-3',
      );
      await page.getByText('All figures').click();
      if (how.javaScript) expect(await listAxeFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(how.width);
      // The other way round it is worse.
      await page.getByRole('combobox', { name: 'Baseline' }).selectOption('new-model');
      await page.getByRole('combobox', { name: 'Candidate' }).selectOption('old-model');
      await page.getByRole('button', { name: 'Compare' }).click();
      expect(await verdict.getByRole('heading').textContent()).toBe(
        'Worse: old-model compared with new-model',
      );
      await context.close();
      expect(complaints).toEqual([]);
    },
  );

  it('71: says when there is no significant difference or no common case, and has a link from Trust', async () => {
    keepRun('twin', ago(2), { wrong: 0, milliseconds: 300 });
    keepRun('strange', ago(9), { wrong: 0, milliseconds: 300 });
    writeFileSync(join(runs, 'strange', 'cases.jsonl'), '{"id":"other","category":"CODE_ERROR"}\n');
    const { page, context } = await openPage(browser, { address, session });
    await page.goto('/insights/trust');
    await page.getByRole('link', { name: 'Compare two runs on the same failures' }).click();
    await page.getByRole('combobox', { name: 'Baseline' }).selectOption('twin');
    await page.getByRole('button', { name: 'Compare' }).click();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    expect(await verdict.getByRole('heading').textContent()).toBe(
      'No clear difference: new-model compared with twin',
    );
    expect(await verdict.textContent()).toContain('Right category in 100 % of 20 cases, with both runs.');
    await page.goto('/insights/models?baseline=twin&candidate=strange');
    expect(await page.getByRole('alert').textContent()).toContain(
      'These two runs cannot be compared. No case is on both sides',
    );
    expect(await page.getByRole('alert').textContent()).not.toContain(runs);
    await page.goto('/insights/models?baseline=..&candidate=none');
    expect(await verdict.getByRole('heading').textContent()).toContain('new-model compared with');
    await context.close();
  });
});
