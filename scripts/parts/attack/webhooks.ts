/**
 * Sends every payload that GitHub documents to the webhook of GitHub, from @octokit/webhooks-examples, as
 * JSON and as forms.
 */
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createGithubJob, startGithubApi } from '../../../test/support/github-api.ts';
import { LOG, listBuilds } from './shared/builds.ts';
import { reportService, startService } from './shared/service.ts';
import { installNpmTools, report } from './shared/tools.ts';

const Examples = z.array(z.object({ name: z.string(), examples: z.array(z.unknown()) }));
const ENCODINGS = {
  'application/json': (payload: unknown) => JSON.stringify(payload),
  'application/x-www-form-urlencoded': (payload: unknown) =>
    new URLSearchParams({ payload: JSON.stringify(payload) }).toString(),
};

interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly type: string;
  readonly body: string;
}

let sent = 0;
const github = await startGithubApi();
github.state.jobs = [createGithubJob({ id: 1, name: 'test' })];
github.state.stored.set('/jobs/1/logs', LOG);
const service = await startService({
  settings: { FAULTLINE_GITHUB_URL: github.url, FAULTLINE_GITHUB_TOKEN: 'attack' },
});
try {
  const deliveries = await loadExamples();
  const answers = new Map<string, number>();
  const strange: string[] = [];
  const accepted: string[] = [];
  for (const delivery of deliveries) {
    for (const forged of [
      null,
      'sha256=',
      createSignature(delivery.body, 'another secret'),
      createSignature(`${delivery.body} `, service.secret),
    ]) {
      const status = await send(delivery, forged);
      if (status !== 401) accepted.push(`${delivery.id}, signed ${forged}: ${status}`);
    }
    const status = await send(delivery, createSignature(delivery.body, service.secret));
    answers.set(`${status}`, (answers.get(`${status}`) ?? 0) + 1);
    if (status !== 202 && status !== 400) strange.push(`${delivery.id}: ${status}`);
  }
  const builds = await countSettledBuilds();
  const changed: string[] = [];
  for (const delivery of deliveries) {
    const status = await send(delivery, createSignature(delivery.body, service.secret));
    if (status !== 202 && status !== 400) changed.push(`${delivery.id} again: ${status}`);
  }
  const buildsAfter = await countSettledBuilds();
  if (buildsAfter !== builds) changed.push(`there were ${builds} builds, and now there are ${buildsAfter}`);
  const counts = [...answers].map(([status, count]) => `${count} answered ${status}`).join(', ');
  const fine = [
    report('signed', `${deliveries.length} deliveries, ${counts}`, strange.length, strange.join('\n')),
    report(
      'forged',
      `${4 * deliveries.length} deliveries, ${accepted.length} not refused`,
      accepted.length,
      accepted.join('\n'),
    ),
    report(
      'sent again',
      `${deliveries.length} deliveries, ${builds} builds before, ${buildsAfter} after`,
      changed.length,
      changed.join('\n'),
    ),
    reportService(service),
  ];
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  await service.stop();
  await github.close();
}

/** Returns every example in every encoding, each with a new id. */
async function loadExamples(): Promise<Delivery[]> {
  const programs = await installNpmTools('webhooks', ['@octokit/webhooks-examples@7.6.1']);
  const file = join(programs, '../@octokit/webhooks-examples/api.github.com/index.json');
  return Examples.parse(JSON.parse(await readFile(file, 'utf8'))).flatMap(
    ({ name: event, examples: payloads }) =>
      payloads.flatMap((payload, index) =>
        Object.entries(ENCODINGS).map(([type, encode]) => ({
          id: `${event} ${index} ${type}`,
          event,
          type,
          body: encode(payload),
        })),
      ),
  );
}

function createSignature(body: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

async function send({ id, event, type, body }: Delivery, signed: string | null): Promise<number> {
  sent += 1;
  const headers = {
    'content-type': type,
    'x-github-event': event,
    'x-github-delivery': id,
    ...(signed !== null && { 'x-hub-signature-256': signed }),
    // The service limits forged deliveries per address, so each delivery comes from another one.
    'x-forwarded-for': `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`,
  };
  const response = await fetch(`${service.url}/webhooks/github`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** Returns the number of builds once it no longer grows. */
async function countSettledBuilds(): Promise<number> {
  let [before, now] = [-1, (await listBuilds(service)).length];
  while (now !== before) {
    await sleep(2_000);
    [before, now] = [now, (await listBuilds(service)).length];
  }
  return now;
}
