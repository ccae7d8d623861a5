import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Analysis } from '../../src/domain/analysis.ts';
import { openBrowser, openPage } from '../support/browser.ts';
import { readCapturedFailure } from '../support/captured-failures.ts';
import { createFakeGithub, type FakeGithub } from '../support/fake-github.ts';
import { createGithubJob, type GithubApi, startGithubApi } from '../support/github-api.ts';
import { withSettings } from '../support/settings.ts';
import { createGithubExample, signForGithub } from '../support/webhook-senders.ts';
import type { Installation } from './webhook-to-review.ts';

const SECRET = 'a-webhook-secret-for-the-journey';
const ADMIN = 'token-of-the-administrator-of-the-journey';
const ANNA = 'token-of-the-reviewer-anna-of-the-journey';
const PULL_REQUEST = 1204;
const Analyses = z.object({ analyses: z.array(Analysis) });

/** From the webhook by the comment on the pull request and a decision in the browser to the same failure once more: in every mode the same. */
export function testWebhookToRecall(
  mode: string,
  install: (environment: Readonly<Record<string, string>>) => Promise<Installation>,
): void {
  describe(`people meet a failure, ${mode}`, () => {
    const failure = readCapturedFailure('profile-none-attribute');
    const client: FakeGithub = createFakeGithub();
    let github: GithubApi;
    let service: Installation;
    let browser: Browser;
    /** While closed, GitHub is slow to give logs away. */
    const gate = { open: false, waiting: [] as (() => void)[] };

    beforeAll(async () => {
      github = await startGithubApi({ client });
      github.state.intercept = (request, response) => {
        const [, job] = /\/actions\/jobs\/(\d+)\/logs$/.exec(request.url ?? '') ?? [];
        if (job === undefined || gate.open) return false;
        gate.waiting.push(() =>
          response.writeHead(302, { location: `${github.storage.url}/jobs/${job}/logs` }).end(),
        );
        return true;
      };
      [browser, service] = await Promise.all([
        openBrowser(),
        install({
          FAULTLINE_GITHUB_WEBHOOK_SECRET: SECRET,
          FAULTLINE_GITHUB_URL: github.url,
          FAULTLINE_GITHUB_TOKEN: 'ghs_of-the-journey',
          FAULTLINE_GITHUB_WRITES: 'comment',
          FAULTLINE_PUBLIC_URL: 'https://faultline.example',
          FAULTLINE_TOKENS: `admin:admin:${ADMIN},anna:review+read:${ANNA}`,
          // Nothing is sure enough to go out without a person; what is decided goes out soon.
          FAULTLINE_AUTO_NOTIFY: '1',
          ...withSettings({ review: { undoMs: 500 }, channels: { pauseMs: 500 } }),
        }),
      ]);
    });
    afterAll(async () => {
      await browser.close();
      await service.dispose();
      await github.close();
    });

    async function failRun(runNumber: number): Promise<void> {
      github.state.jobs = [createGithubJob({ id: runNumber, name: 'test' })];
      github.state.stored.set(`/jobs/${runNumber}/logs`, failure.log);
      const pull = {
        number: PULL_REQUEST,
        id: 1,
        url: '',
        head: { ref: 'fix', sha: 'a', repo: {} },
        base: { ref: 'main', sha: 'b', repo: {} },
      };
      const changes = {
        conclusion: 'failure',
        status: 'completed',
        run_number: runNumber,
        id: 1000 + runNumber,
        pull_requests: [pull],
      };
      const body = JSON.stringify(
        createGithubExample('workflow_run', 'completed', { workflow_run: changes }),
      );
      const headers = {
        'content-type': 'application/json',
        'x-github-event': 'workflow_run',
        'x-github-delivery': `00000000-0000-4000-8000-${String(runNumber).padStart(12, '0')}`,
        'x-hub-signature-256': signForGithub(body, SECRET),
      };
      expect(
        (await fetch(`${service.address}/webhooks/github`, { method: 'POST', headers, body })).status,
      ).toBe(202);
    }

    /** Resolves with how long it took, in milliseconds. */
    async function waitForComment(words: RegExp): Promise<number> {
      const from = performance.now();
      for (let tries = 0; tries < 600; tries++) {
        if (words.test(client.comments[0]?.body ?? '')) return Math.round(performance.now() - from);
        await sleep(50);
      }
      throw new Error(
        `the comment never said ${words}: ${client.comments[0]?.body ?? 'there is none'}\n${service.errors()}`,
      );
    }

    async function getAnswer(runNumber: number): Promise<Analysis> {
      for (let tries = 0; tries < 300; tries++) {
        const headers = { authorization: `Bearer ${ADMIN}` };
        const answer = await fetch(`${service.address}/api/builds/github:${runNumber}/analyses`, { headers });
        const [analysis] = answer.ok ? Analyses.parse(await answer.json()).analyses : [];
        if (analysis !== undefined) return analysis;
        await sleep(50);
      }
      throw new Error(`run ${runNumber} was never answered: ${service.errors()}`);
    }

    it('reports on the pull request that it is being analyzed, while the log is still being fetched', async () => {
      await failRun(812);
      const took = await waitForComment(/Analyzing/);
      expect(client.comments[0]).toMatchObject({ pullRequest: PULL_REQUEST, login: 'faultline-bot' });
      console.info(`${mode}: "looking" ${took} ms after the webhook`);
    });

    it('reports the cause there, and that a review is needed', async () => {
      gate.open = true;
      for (const go of gate.waiting) go();
      await waitForComment(/needs review/);
      expect(client.comments[0]?.body).toContain('https://faultline.example/review/');
    });

    it('is decided in the browser with one key, and the comment names who confirmed it', async () => {
      const { page, complaints, context } = await openPage(browser, { address: service.address });
      await page.goto('/review');
      await page.getByLabel('Access token').fill(ANNA);
      await page.keyboard.press('Enter');
      await page
        .getByRole('link', { name: /Start/ })
        .or(page.getByRole('button', { name: /Start/ }))
        .click();
      await page.waitForURL('**/review/rev_*');
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain(
        "'NoneType' object has no attribute",
      );
      await page.keyboard.press('a');
      await page
        .getByText(/accepted/)
        .first()
        .waitFor();
      await waitForComment(/confirmed by anna/);
      expect(complaints).toEqual([]);
      await context.close();
    });

    it('recalls the same failure when it occurs again, without a review, in the same comment', async () => {
      await failRun(813);
      const analysis = await getAnswer(813);
      expect(analysis.recalled).toMatchObject({ confirmedBy: 'anna' });
      await waitForComment(/confirmed by anna[\s\S]*813|813[\s\S]*confirmed by anna/);
      expect(client.comments).toHaveLength(1);
      expect(analysis.usage.modelCalls).toBe(0);
      console.info(
        `${mode}: recalled in ${analysis.milliseconds} ms; comments on the pull request: ${client.comments.length}`,
      );
    });
  });
}
