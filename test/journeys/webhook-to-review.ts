import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Analysis, GivenAnalysis, isJudged } from '../../src/domain/analysis.ts';
import { LibraryEntry } from '../../src/domain/library.ts';
import { Review } from '../../src/domain/review.ts';
import { readCapturedFailure } from '../support/captured-failures.ts';
import { createGithubJob, type GithubApi, startGithubApi } from '../support/github-api.ts';
import { TOKEN } from '../support/service.ts';
import { createGithubExample, signForGithub } from '../support/webhook-senders.ts';

const SECRET = 'a-webhook-secret-for-the-journey';
const ANNA = 'token-of-the-reviewer-anna';
const BEN = 'token-of-the-reviewer-ben';
const Analyses = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(GivenAnalysis),
});

/** What the journey goes through: an API somewhere, and a worker somewhere. */
export interface Installation {
  readonly address: string;
  /** What its processes said on standard error. */
  errors(): string;
  /** Tells every process to end; their exit codes. */
  stop(): Promise<(number | null)[]>;
  /** Ends what is left, and deletes what was stored. */
  dispose(): Promise<void>;
}

let github: GithubApi;
let service: Installation;

async function ask<Value>(
  method: string,
  path: string,
  schema: z.ZodType<Value>,
  options: { token?: string; body?: object } = {},
): Promise<Value> {
  const response = await call(method, path, options);
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return schema.parse(await response.json());
}

function call(
  method: string,
  path: string,
  { token = TOKEN, body }: { token?: string; body?: object } = {},
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return fetch(service.address + path, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
}

/** A run fails: its log lies at GitHub, and GitHub tells us so. */
async function failRun(runNumber: number, log: string): Promise<void> {
  github.state.jobs = [createGithubJob({ id: runNumber, name: 'test' })];
  github.state.stored.set(`/jobs/${runNumber}/logs`, log);
  const changes = { conclusion: 'failure', status: 'completed', run_number: runNumber, id: 1000 + runNumber };
  const body = JSON.stringify(createGithubExample('workflow_run', 'completed', { workflow_run: changes }));
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'workflow_run',
    'x-github-delivery': `00000000-0000-4000-8000-${String(runNumber).padStart(12, '0')}`,
    'x-hub-signature-256': signForGithub(body, SECRET),
  };
  const response = await fetch(`${service.address}/webhooks/github`, { method: 'POST', headers, body });
  expect(response.status).toBe(202);
}

async function getAnswer(runNumber: number): Promise<Analysis> {
  for (let tries = 0; tries < 300; tries++) {
    const response = await call('GET', `/api/builds/github:${runNumber}/analyses`);
    if (response.ok) {
      const { triage, analyses } = Analyses.parse(await response.json());
      const [analysis] = analyses;
      if (triage?.state === 'done' && analysis !== undefined) return analysis;
      if (triage?.state === 'failed') throw new Error(`the triage failed: ${service.errors()}`);
    }
    await sleep(100);
  }
  throw new Error(`run ${runNumber} was never answered: ${service.errors()}`);
}

/** One failure from the webhook to the reviewer's decision, and back to the next failure of its kind: in every mode the same. */
export function testWebhookToReview(
  mode: string,
  install: (environment: Readonly<Record<string, string>>) => Promise<Installation>,
): void {
  describe(`the journey from a webhook to a reviewed answer, ${mode}`, () => {
    beforeAll(async () => {
      github = await startGithubApi();
      service = await install({
        FAULTLINE_GITHUB_WEBHOOK_SECRET: SECRET,
        FAULTLINE_GITHUB_URL: github.url,
        FAULTLINE_GITHUB_TOKEN: 'ghs_of-the-journey',
        FAULTLINE_TOKENS: `admin:admin:${TOKEN},anna:review+read:${ANNA},ben:review+read:${BEN}`,
        // Nothing is sure enough to go out without a person.
        FAULTLINE_AUTO_NOTIFY: '1',
      });
    });
    afterAll(async () => {
      await service.dispose();
      await github.close();
    });

    const failure = readCapturedFailure('profile-none-attribute');

    it('fetches the log, answers with lines that it contains, and waits for review', async () => {
      await failRun(812, failure.log);

      const analysis = await getAnswer(812);

      expect(analysis).toMatchObject({ category: failure.category, analyst: 'rules', recalled: null });
      expect(analysis.verdict.action).toBe('human_review');
      const lines = failure.log.split('\n');
      const quotes = analysis.answer.claims.flatMap((claim) => claim.quotes);
      expect(quotes.length).toBeGreaterThan(0);
      for (const quote of quotes) expect(lines[quote.line - 1]).toContain(quote.text);
      expect(analysis.steps.map((step) => step.node)).toContain('verify');
    });

    it('lets one reviewer claim the item, and records the decision', async () => {
      const { items } = await ask('GET', '/api/reviews?state=waiting', z.object({ items: z.array(Review) }), {
        token: ANNA,
      });
      const [waiting] = items;
      expect(items).toHaveLength(1);
      const path = `/api/reviews/${waiting?.id}`;
      expect((await call('POST', `${path}/claim`, { token: ANNA, body: {} })).status).toBe(200);
      expect((await call('POST', `${path}/claim`, { token: BEN, body: {} })).status).toBe(409);
      const { review } = await ask('GET', path, z.object({ review: Review }), { token: ANNA });
      const decision = {
        type: 'correct',
        version: review.version,
        category: 'CODE_ERROR',
        rootCause: 'The profile of a guest has no owner.',
        fixRecommendation: 'Give guests an empty owner in load_profile.',
      };
      expect((await call('POST', `${path}/decision`, { token: BEN, body: decision })).status).toBe(409);
      expect((await call('POST', `${path}/decision`, { token: ANNA, body: decision })).status).toBe(200);
      expect((await call('POST', `${path}/decision`, { token: ANNA, body: decision })).status).toBe(409);

      const { events } = await ask(
        'GET',
        path,
        z.object({ events: z.array(z.object({ event: z.string(), actor: z.string() })) }),
      );
      expect(events.map((event) => [event.event, event.actor])).toEqual([
        ['opened', expect.any(String)],
        ['claimed', 'anna'],
        ['decided', 'anna'],
      ]);
      const library = await ask('GET', '/api/library', z.object({ items: z.array(LibraryEntry) }));
      expect(library.items).toMatchObject([
        { confirmedBy: 'anna', rootCause: 'The profile of a guest has no owner.' },
      ]);
    });

    it('answers the same failure from the decision, without a run of the graph', async () => {
      await failRun(813, failure.log.replaceAll(/\d\d:\d\d:\d\d\.\d+/g, '11:22:33.4445556'));

      const analysis = await getAnswer(813);

      expect(analysis).toMatchObject({
        analyst: 'recall',
        terminationReason: 'known_failure',
        answer: { rootCause: 'The profile of a guest has no owner.' },
        recalled: { confirmedBy: 'anna', timesSeen: 2 },
        usage: { modelCalls: 0, toolCalls: 0 },
      });
      expect(analysis.steps.map((step) => step.node)).toEqual(['recall']);
    });

    it('finds both failures again, and refuses strangers', async () => {
      const found = await ask(
        'GET',
        '/api/failures?category=CODE_ERROR',
        z.object({ items: z.array(z.unknown()) }),
      );
      expect(found.items).toHaveLength(2);
      expect((await fetch(`${service.address}/api/failures`)).status).toBe(401);
      expect((await call('POST', '/api/builds', { token: ANNA, body: {} })).status).toBe(403);
    });

    it('reports that the log is gone, without an item to review', async () => {
      github.state.jobs = [];
      await failRun(814, 'never stored');
      github.state.stored.delete('/jobs/814/logs');

      const analysis = await getAnswer(814);

      expect(analysis.verdict.action).toBe('human_review');
      expect(analysis.verdict.confidence).toBeLessThan(0.5);
      expect(isJudged(analysis)).toBe(false);
      expect(analysis.answer.title).toBe('The log could not be read');
      expect(analysis.answer.rootCause).toMatch(/GitHub returned 404/);
    });

    it('drains and stops when requested', async () => {
      const codes = await service.stop();
      expect(
        codes.every((code) => code === 0),
        service.errors(),
      ).toBe(true);
      console.info(`${mode}: 3 webhooks, 3 builds answered, 1 decision recalled; lost: 0`);
    });
  });
}
