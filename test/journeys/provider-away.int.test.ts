import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { readCapturedFailures } from '../support/captured-failures.ts';
import { startLoopback } from '../support/loopback-server.ts';
import { TOKEN } from '../support/service.ts';
import { createGithubExample, signForGithub } from '../support/webhook-senders.ts';
import { installEmbedded } from './install-embedded.ts';
import type { Installation } from './webhook-to-review.ts';

const SECRET = 'a-webhook-secret-for-a-provider-away';
/** Far more than the service has places. */
const RUNS = 20;
const authorization = { authorization: `Bearer ${TOKEN}` };
const Progress = z.object({ triage: z.object({ state: z.string() }) });

let installation: Installation;
afterEach(() => installation.dispose());

it.each(['does not answer', 'refuses connections'])(
  'an upload is answered, and shutdown is fast, while GitHub %s',
  async (how) => {
    const github = await startLoopback(() => undefined);
    if (how === 'refuses connections') await github.close();
    installation = await installEmbedded({
      FAULTLINE_GITHUB_WEBHOOK_SECRET: SECRET,
      FAULTLINE_GITHUB_TOKEN: 'ghs_of-one-away',
      FAULTLINE_GITHUB_URL: github.url,
    });
    for (let run = 1; run <= RUNS; run++) await deliver(run);
    await sleep(1_000);

    const uploads: number[] = [];
    for (let number = 1; number <= 5; number++) uploads.push(await upload(number));
    const stopsAt = performance.now();
    const codes = await installation.stop();
    const stopMs = performance.now() - stopsAt;

    console.info(
      `GitHub ${how}: uploads answered after ${uploads.map((ms) => `${Math.round(ms)} ms`).join(', ')}; stopped after ${Math.round(stopMs)} ms`,
    );
    expect(codes).toEqual([0]);
    expect(Math.max(...uploads)).toBeLessThan(15_000);
    expect(stopMs).toBeLessThan(10_000);
    await github.close().catch(() => undefined);
  },
);

async function deliver(run: number): Promise<void> {
  const workflow_run = {
    id: run,
    run_number: run,
    run_attempt: 1,
    conclusion: 'failure',
    status: 'completed',
  };
  const payload = createGithubExample(
    'workflow_run',
    'completed',
    { repository: { full_name: `octo-org/shop-${run % 3}` }, workflow_run },
    1,
  );
  const body = JSON.stringify(payload);
  const response = await fetch(`${installation.address}/webhooks/github`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'workflow_run',
      'x-github-delivery': `00000000-0000-4000-8000-${String(run).padStart(12, '0')}`,
      'x-hub-signature-256': signForGithub(body, SECRET),
    },
    body,
  });
  expect(response.status).toBe(202);
}

/** Sends a build and waits for its answer; how long that took, in milliseconds. */
async function upload(number: number): Promise<number> {
  const startedAt = performance.now();
  const metadata = { repository: 'shop/api', pipeline: 'ci', number: `${number}`, status: 'failed' };
  const text = readCapturedFailures()[number]?.log ?? '';
  const response = await fetch(`${installation.address}/api/builds`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata, logs: [{ name: 'build.log', text }] }),
  });
  const { buildId } = z.object({ buildId: z.string() }).parse(await response.json());
  for (;;) {
    const answer = await fetch(`${installation.address}/api/builds/${buildId}`, { headers: authorization });
    const { state } = Progress.parse(await answer.json()).triage;
    if (state === 'done') return performance.now() - startedAt;
    if (state === 'failed' || performance.now() - startedAt > 60_000)
      throw new Error(`build ${number} is ${state}: ${installation.errors()}`);
    await sleep(50);
  }
}
