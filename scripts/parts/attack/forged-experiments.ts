/**
 * Posts forged experiments with a token that may only report, searches every output for them, and checks that
 * suggestions show none of their fixes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createFakeGithub } from '../../../test/support/fake-github.ts';
import { createGithubJob, startGithubApi } from '../../../test/support/github-api.ts';
import { createTestGithubApp, install } from '../../../test/support/github-app.ts';
import { sendJson, startLoopback } from '../../../test/support/loopback-server.ts';
import { withSettings } from '../../../test/support/settings.ts';
import { SLACK_TOKEN, startSlackApi } from '../../../test/support/slack-api.ts';
import { createGithubExample, signForGithub } from '../../../test/support/webhook-senders.ts';
import { createAuthorization, LOG, listBuilds, tell, waitForAnswers } from './shared/builds.ts';
import { createForger, FIXED_PATH, HARMFUL, MARK, NAME_MARK, SECRET } from './shared/forged-experiments.ts';
import { LIMITLESS, reportService, startService } from './shared/service.ts';
import { report } from './shared/tools.ts';

const BUILDS = 12;
const EXPERIMENTS = 288;
const SEED = 37;
/** The change of the pull requests: the line that the fix replaces. */
const PATCH = '@@ -11,0 +12 @@\n+    return cart.discount.cents;';

const Comment = z.object({ path: z.string(), body: z.string() });
const suggestions: z.infer<typeof Comment>[] = [];
const told: string[] = [];
const client = createFakeGithub('faultline[bot]');
const app = createTestGithubApp();
const granted = {
  actions: 'read',
  contents: 'read',
  metadata: 'read',
  pull_requests: 'write',
  issues: 'write',
  checks: 'write',
  statuses: 'write',
};
for (const [id, repository] of ['shop/api', 'shop/web'].entries()) install(app, repository, id + 1, granted);
const github = await startGithubApi({ client, app });
const slack = await startSlackApi();
const receiver = await startLoopback((request, response) => {
  request.setEncoding('utf8').on('data', (text: string) => told.push(text));
  request.on('end', () => response.writeHead(204).end());
});
github.state.intercept = (request, response) => {
  const { url = '', method } = request;
  const job = /\/runs\/(\d+)\//.exec(url)?.[1];
  if (job !== undefined) github.state.jobs = [createGithubJob({ id: Number(job), name: 'test' })];
  if (/\/pulls\/\d+\/files/.test(url)) return answer(response, [{ filename: FIXED_PATH, patch: PATCH }]);
  if (/\/pulls\/\d+$/.test(url)) return answer(response, { head: { sha: 'a'.repeat(40) } });
  if (!/\/pulls\/(?:\d+\/)?comments/.test(url)) return false;
  if (method === 'GET') return answer(response, []);
  let text = '';
  request.setEncoding('utf8').on('data', (part: string) => (text += part));
  request.on('end', () => {
    suggestions.push(Comment.parse(JSON.parse(text)));
    sendJson(response, 201, { id: suggestions.length });
  });
  return true;
};
const service = await startService({
  settings: {
    FAULTLINE_GITHUB_URL: github.url,
    FAULTLINE_GITHUB_APP_ID: app.id,
    FAULTLINE_GITHUB_APP_KEY: app.privateKey,
    FAULTLINE_GITHUB_WRITES: 'comment,check,status',
    // Some answers must be published although they are not confident.
    FAULTLINE_MAX_WRONG: '1',
    FAULTLINE_AUTO_NOTIFY: '0.55',
    FAULTLINE_PUBLISH_WEBHOOK_URL: receiver.url,
    FAULTLINE_PUBLISH_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    FAULTLINE_SLACK_TOKEN: SLACK_TOKEN,
    FAULTLINE_SLACK_CHANNELS: '*=C0123456789',
    ...withSettings({ ...LIMITLESS, channels: { slack: { baseUrl: slack.url } } }),
  },
});
try {
  const builds = await bringIn();
  const { strange, counts, kept } = await forge(builds, await createIngestToken());
  await waitForEnd();
  const fine = [
    report(
      'sent',
      `${EXPERIMENTS} experiments on ${builds.length} builds, ${counts}`,
      strange.length,
      strange.join('\n'),
    ),
    report(
      'kept',
      `${kept} experiments are part of answers`,
      kept === 0 ? 1 : 0,
      'none was kept, so nothing could be shown',
    ),
  ];
  for (const [way, texts] of await readEveryOutput(builds)) fine.push(look(way, texts));
  const elsewhere = suggestions.filter(({ path }) => path !== FIXED_PATH);
  const none = suggestions.length === 0 ? 1 : 0;
  fine.push(
    report(
      'suggestions',
      `${suggestions.length}, ${elsewhere.length} for other files`,
      elsewhere.length + none,
      JSON.stringify(elsewhere),
    ),
  );
  fine.push(reportService(service));
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  await service.stop();
  await Promise.all([github.close(), receiver.close(), slack.close()]);
}

function answer(response: Parameters<typeof sendJson>[0], body: unknown): true {
  sendJson(response, 200, body);
  return true;
}

/** Creates failed runs of pull requests, and one of the default branch, each with one cause. */
async function bringIn(): Promise<string[]> {
  for (let id = 1; id < BUILDS; id += 1) {
    github.state.stored.set(`/jobs/${id}/logs`, LOG);
    await tell(service, { id, conclusion: 'failure' });
  }
  github.state.stored.set(`/jobs/${BUILDS}/logs`, LOG);
  await tellOfDefaultBranch(BUILDS);
  for (let tries = 0; tries < 60 && (await listBuilds(service)).length < BUILDS; tries += 1)
    await sleep(1_000);
  const ids = (await listBuilds(service)).map(({ id }) => id);
  for (const id of ids) await waitForAnswers(service, id, 5);
  return ids;
}

async function tellOfDefaultBranch(id: number): Promise<void> {
  const repository = { full_name: 'shop/web', default_branch: 'main' };
  const run = {
    id,
    run_number: id,
    status: 'completed',
    conclusion: 'failure',
    pull_requests: [],
    head_branch: 'main',
    head_repository: null,
  };
  const body = JSON.stringify(
    createGithubExample('workflow_run', 'completed', { repository, workflow_run: run }),
  );
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'workflow_run',
    'x-github-delivery': `main-${id}`,
    'x-hub-signature-256': signForGithub(body, service.secret),
  };
  await (await fetch(`${service.url}/webhooks/github`, { method: 'POST', headers, body })).arrayBuffer();
}

async function createIngestToken(): Promise<string> {
  const body = JSON.stringify({ name: 'forger', roles: ['ingest'] });
  const response = await fetch(`${service.url}/api/tokens`, {
    method: 'POST',
    headers: createAuthorization(service),
    body,
  });
  return z.object({ token: z.string() }).parse(await response.json()).token;
}

/**
 * Posts experiments of all kinds in turn. Returns those that got a wrong response, and the number that became
 * part of an answer.
 */
async function forge(builds: readonly string[], token: string) {
  const next = createForger(SEED);
  const strange: string[] = [];
  const byKind = new Map<string, number>();
  let kept = 0;
  for (let at = 0; at < EXPERIMENTS; at += 1) {
    const { kind, status: must, body } = next(at);
    const url = `${service.url}/api/builds/${builds[at % builds.length]}/experiments`;
    const response = await fetch(url, {
      method: 'POST',
      headers: createAuthorization({ token }),
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const told = `${kind}: ${response.status}`;
    byKind.set(told, (byKind.get(told) ?? 0) + 1);
    if (response.status !== must)
      strange.push(
        `${told} instead of ${must}: ${text.slice(0, 300)}\n${JSON.stringify(body).slice(0, 2_000)}`,
      );
    if (must === 422 && !/"issues":\[\{"path":"/.test(text))
      strange.push(`${told} does not say where: ${text.slice(0, 300)}`);
    if (response.ok && !text.includes('"analyses":[]')) kept += 1;
  }
  return { strange, kept, counts: [...byKind].map(([told, count]) => `${count} ${told}`).join(', ') };
}

/** Waits until comments and suggestions no longer change. */
async function waitForEnd(): Promise<void> {
  const size = () => client.writes.length + suggestions.length + slack.calls.length + told.length;
  for (let before = -1; before !== size(); ) {
    before = size();
    await sleep(8_000);
  }
}

async function readEveryOutput(builds: readonly string[]): Promise<[string, string[]][]> {
  const ways = new Map<string, string[]>();
  const add = (way: string, texts: readonly string[]) => ways.set(way, [...(ways.get(way) ?? []), ...texts]);
  for (const build of builds) {
    const ids = (await waitForAnswers(service, build)).analyses.map(({ id }) => id);
    const api = ['', '/analyses', '/sarif', '/ctrf'].map((end) => `/api/builds/${build}${end}`);
    for (const path of [...api, ...ids.flatMap((id) => [`/api/analyses/${id}`, `/api/analyses/${id}/trace`])])
      add('API', [await get(path)]);
    for (const path of [`/builds/${build}`, ...ids.flatMap((id) => [`/analyses/${id}`, `/runs/${id}`])])
      add('console', [await get(path)]);
    for (const name of ['get_failure', 'get_evidence']) add('MCP', [await callMcp(name, build)]);
  }
  for (const path of ['/api/failures?limit=200', '/api/reviews?limit=200', '/builds', '/review', '/'])
    add('lists', [await get(path)]);
  add(
    'comments',
    client.comments.map(({ body }) => body),
  );
  add(
    'checks',
    client.checks.map((check) => JSON.stringify(check)),
  );
  add(
    'statuses',
    client.statuses.map((status) => JSON.stringify(status)),
  );
  add(
    'Slack',
    slack.messages.map((message) => JSON.stringify(message)),
  );
  add('webhooks', [told.join('')]);
  add(
    'suggested',
    suggestions.map(({ body }) => body),
  );
  return [...ways];
}

/**
 * Checks that texts contain nothing that the sender wrote, no harmful change, and no secret. Names of tests
 * and commits may occur only in JSON, or escaped.
 */
function look(way: string, texts: readonly string[]): boolean {
  const words = [MARK, SECRET, ...HARMFUL];
  const found = texts.flatMap((text) =>
    words.filter((word) => text.includes(word)).map((word) => `${word} in ${quoteAround(text, word)}`),
  );
  const isForPeople = !['API', 'MCP', 'webhooks'].includes(way);
  const raw = isForPeople
    ? texts.filter((text) => text.includes(`<img ${NAME_MARK}`)).map((text) => quoteAround(text, NAME_MARK))
    : [];
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  const findings = [...found, ...raw];
  // An output without any text shows nothing.
  const summary = `${texts.length} answers, ${(bytes / 1e3).toFixed(0)} kB, ${found.length} with forged text, ${raw.length} with markup`;
  return report(way, summary, bytes === 0 ? 1 : findings.length, findings.slice(0, 20).join('\n'));
}

function quoteAround(text: string, word: string): string {
  const at = text.indexOf(word);
  return text.slice(Math.max(0, at - 150), at + 150);
}

async function get(path: string): Promise<string> {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${service.token}` } });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
  return await response.text();
}

async function callMcp(name: string, id: string): Promise<string> {
  const headers = { ...createAuthorization(service), accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: { id } },
  });
  return await (await fetch(`${service.url}/mcp`, { method: 'POST', headers, body })).text();
}
