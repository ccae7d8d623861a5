import { createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { buildHttp } from '../../../src/api/server.ts';
import { listConfiguredNoticeChannels, openChannels } from '../../../src/app/open-channels.ts';
import { openSlackButtons } from '../../../src/channels/slack.ts';
import { createEmbeddedPreset } from '../../../src/config/load.ts';
import { parseConfig } from '../../../src/config/schema.ts';
import type { NewBuild } from '../../../src/domain/build.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createTriageHandler } from '../../../src/service/triage/triage-work.ts';
import { createSlackPresses } from '../../../src/stores/access.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { startWorker, type Worker } from '../../../src/work/worker.ts';
import { sampleAnalysis, sampleBuild, sampleGroup } from '../../stores/samples.ts';
import { createEmptyHttpDeps } from '../../support/http-deps.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../../support/loopback-server.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { SLACK_TOKEN, type SlackApi, startSlackApi } from '../../support/slack-api.ts';
import { createTriageJobs } from '../../support/triage-jobs.ts';

const SECRET = 'a-signing-secret-of-slack';
let database: TestDatabase;
let slack: SlackApi;
let jenkins: LoopbackServer;
let description: string;
let stores: Stores;
let app: FastifyInstance;
let work: Worker;

beforeAll(async () => {
  [database, slack] = [await openTestDatabase(), await startSlackApi()];
  jenkins = await startLoopback(async (request, response) => {
    if (request.method === 'GET') return sendJson(response, 200, { description });
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    description = new URLSearchParams(body).get('description') ?? '';
    response.writeHead(302, { location: '.' }).end();
  });
  description = 'v1.2.3';
  const preset = createEmbeddedPreset('/data', '/knowledge');
  const config = parseConfig({
    ...preset,
    http: { ...preset.http, publicUrl: 'https://fl.example' },
    providers: {
      ...preset.providers,
      jenkins: { baseUrl: jenkins.url, user: 'faultline', token: 'api-token', description: 'html' },
    },
    channels: {
      slack: {
        token: SLACK_TOKEN,
        channels: { '*': 'C0123456789' },
        signingSecrets: [SECRET],
        reviewers: ['U0GRACE'],
        baseUrl: slack.url,
      },
    },
  });
  stores = createStores(database, systemClock, undefined, listConfiguredNoticeChannels(config));
  const { handlers } = await openChannels(config, { stores, logger: silentLogger, clock: systemClock });
  const buttons = await openSlackButtons(config.channels.slack, createSlackPresses(database));
  app = await buildHttp({
    ...createEmptyHttpDeps(),
    config,
    stores,
    database,
    clock: systemClock,
    slack: buttons,
  });
  work = startWorker({
    work: stores.work,
    handlers,
    masker: createMasker(),
    logger: silentLogger,
    intervalMs: 1_000,
  });
});
afterAll(async () => {
  await work.stop();
  await app.close();
  await Promise.all([slack.close(), jenkins.close()]);
  await database.dispose();
});

const tell = (buildId: string) => stores.notices.changed({ buildId, delayMs: 0 });

/** Undo delays and pauses between edits are over. */
async function hurry(): Promise<void> {
  await database.query(
    'update work set due_at = clock_timestamp(), free_at = clock_timestamp() where not held',
  );
  work.wake();
}

async function storeBuild(change: Partial<NewBuild>) {
  const { build } = await stores.builds.upsert(
    sampleBuild({ repository: 'shop/api', branch: 'main', pullRequest: null, ...change }),
  );
  if (build.status === 'passed') return { build, analysis: null };
  const [group] = await stores.failures.saveGroups(build.id, [sampleGroup(build.id, 'fp-cart')]);
  const triage = await stores.triages.open(build.id, 'fp-cart');
  const failureIds = group?.failures.map(({ id }) => id) ?? [];
  const wanted = sampleAnalysis(
    { buildId: build.id, triageId: triage.id, fingerprint: 'fp-cart' },
    { failureIds },
  );
  return { build, analysis: (await stores.analyses.insertOnce(wanted)).analysis };
}

async function press(analysisId: string): Promise<void> {
  const user = { id: 'U0GRACE', username: 'grace' };
  const actions = [{ action_id: 'faultline_right', value: analysisId }];
  const payload = JSON.stringify({
    type: 'block_actions',
    trigger_id: 't-1',
    user,
    container: { channel_id: 'C0123456789' },
    actions,
  });
  const body = new URLSearchParams({ payload }).toString();
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = `v0=${createHmac('sha256', SECRET).update(`v0:${timestamp}:${body}`).digest('hex')}`;
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': signature,
  };
  expect(
    (await app.inject({ method: 'POST', url: '/webhooks/slack', payload: body, headers })).statusCode,
  ).toBe(200);
}

const messages = () => slack.messages.filter(({ to }) => to === null);
const until = (check: () => void | Promise<void>) =>
  vi.waitFor(async () => hurry().then(check), { timeout: 10_000, interval: 50 });
const shown = () => JSON.stringify(messages().at(-1)?.blocks);

it('one message follows main from failing through a decision by button to passing, with the facts of the database', async () => {
  const first = await storeBuild({ number: '1', externalId: 'run-1', status: 'failed' });
  await tell(first.build.id);
  await until(() =>
    expect(messages().map(({ text }) => text)).toEqual(['main is red, cause not certain (80 %)']),
  );

  const second = await storeBuild({ number: '2', externalId: 'run-2', status: 'failed' });
  await tell(second.build.id);
  await until(() => expect(shown()).toContain('seen 2× today'));

  await press(second.analysis?.id ?? '');
  await tell(second.build.id);
  await until(() => expect(shown()).toContain(':white_check_mark: confirmed by slack:grace/U0GRACE'));
  expect(shown()).not.toContain('faultline_right');

  const third = await storeBuild({ number: '3', externalId: 'run-3', status: 'passed' });
  await tell(third.build.id);
  await until(() =>
    expect(messages()[0]?.text).toMatch(
      /^main is green again after \d+ min \(was: The cart loses an item\)$/,
    ),
  );
  expect(messages()).toHaveLength(1);
  const calls = slack.calls.length;
  await tell(third.build.id);
  const pending = `select key from work where topic = 'notice:slack' and version > settled`;
  await until(async () => expect(await database.query(pending)).toEqual([]));
  expect(slack.calls, 'nothing changed: nobody is called').toHaveLength(calls);
});

it("a build of Jenkins shows its answer next to the pipeline's own description", async () => {
  const { build } = await storeBuild({
    provider: 'jenkins',
    branch: 'feature',
    number: '77',
    externalId: null,
    url: `${jenkins.url}/job/shop/77/`,
  });
  await tell(build.id);
  await until(() =>
    expect(description).toMatch(
      /^v1\.2\.3<br>\nTest failure 80 %, needs review: The cart loses an item\. <a href="https:\/\/fl/,
    ),
  );
});

it('the job in Jenkins ends with the result once the last cause is answered', async () => {
  const before = messages().length;
  const { build } = await storeBuild({
    repository: 'shop/late',
    number: '5',
    externalId: 'late-5',
    status: 'failed',
  });
  await stores.triages.request(build.id);
  const job = await createTriageJobs(stores).lease(build.id);
  if (job === null) throw new Error('the job is due');
  await tell(build.id);
  const pending = `select key from work where topic = 'notice:slack' and version > settled`;
  await until(async () => expect(await database.query(pending)).toEqual([]));
  expect(messages(), 'the job still runs: more may come').toHaveLength(before);

  const unused = async () => undefined;
  const handler = createTriageHandler({
    database,
    stores,
    leaseMs: 60_000,
    concurrency: 1,
    maxCrashes: 3,
    triage: unused,
    escalateToReviewer: unused,
  });
  await handler.finish?.(job, { outcome: 'done' });

  await until(() => expect(messages()).toHaveLength(before + 1));
  expect(await stores.triages.findByBuild(build.id)).toMatchObject({ state: 'done' });
});
