import { createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { createSlackClient } from '../../src/channels/slack/client.ts';
import type { Analysis } from '../../src/domain/analysis.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createSlackPresses } from '../../src/stores/access.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { sampleAnalysis, sampleBuild, sampleGroup, sampleReview } from '../stores/samples.ts';
import { createEmptyHttpDeps } from '../support/http-deps.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { SLACK_TOKEN, type SlackApi, startSlackApi } from '../support/slack-api.ts';

const SECRET = 'a-signing-secret-of-slack';
let database: TestDatabase;
let stores: Stores;
let slack: SlackApi;
let app: FastifyInstance;
let count = 0;

beforeAll(async () => {
  database = await openTestDatabase();
  stores = createStores(database, systemClock);
  slack = await startSlackApi();
  const client = createSlackClient({ token: SLACK_TOKEN, baseUrl: slack.url });
  const buttons = {
    secrets: [SECRET],
    reviewers: ['U0GRACE', 'U0ADA'],
    client,
    presses: createSlackPresses(database),
  };
  const deps = createEmptyHttpDeps();
  const config = { ...deps.config, http: { ...deps.config.http, publicUrl: 'https://fl.example' } };
  app = await buildHttp({ ...deps, config, stores, database, clock: systemClock, slack: buttons });
});
afterAll(async () => {
  await app.close();
  await slack.close();
  await database.dispose();
});
beforeEach(() => {
  slack.messages.length = 0;
});

async function storeAnswer(): Promise<Analysis> {
  count += 1;
  const { build } = await stores.builds.upsert(sampleBuild({ number: `${count}` }));
  const [group] = await stores.failures.saveGroups(build.id, [sampleGroup(build.id, `fp-${count}`)]);
  const failureIds = group?.failures.map(({ id }) => id) ?? [];
  const triage = await stores.triages.open(build.id, `fp-${count}`);
  const wanted = sampleAnalysis(
    { buildId: build.id, triageId: triage.id, fingerprint: `fp-${count}` },
    { failureIds },
  );
  return (await stores.analyses.insertOnce(wanted)).analysis;
}

interface Press {
  readonly analysisId: string;
  readonly action?: string;
  readonly user?: { readonly id: string; readonly username?: string };
  readonly trigger?: string;
}

function readBody({
  analysisId,
  action = 'faultline_right',
  user = { id: 'U0GRACE', username: 'grace' },
  trigger,
}: Press): string {
  const payload = {
    type: 'block_actions',
    trigger_id: trigger ?? `trigger-${Math.random()}`,
    user,
    container: { type: 'message', channel_id: 'C1', message_ts: '1.0' },
    actions: [{ action_id: action, type: 'button', value: analysisId }],
  };
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}

async function send(payload: string, timestamp = Math.floor(Date.now() / 1000), secret = SECRET) {
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${payload}`).digest('hex')}`;
  const headers = { 'x-slack-request-timestamp': String(timestamp), 'x-slack-signature': signature };
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return await app.inject({
    method: 'POST',
    url: '/webhooks/slack',
    payload,
    headers: { ...headers, ...type },
  });
}

const told = () => slack.messages.map(({ to, text }) => ({ to, text }));

describe('the button Right', () => {
  it('confirms an answer that waits for review', async () => {
    const analysis = await storeAnswer();
    const review = await stores.reviews.open(sampleReview(analysis));
    expect((await send(readBody({ analysisId: analysis.id }))).statusCode).toBe(200);
    const { decision } = (await stores.reviews.find(review.id)) ?? {};
    expect(decision).toMatchObject({ type: 'accept', reviewer: 'slack:grace/U0GRACE' });
    expect(told()).toEqual([
      { to: 'U0GRACE', text: expect.stringMatching(/^:white_check_mark: Saved: right\. /) },
    ]);
  });

  it('confirms an answer that was published without review, and adds a library entry', async () => {
    const analysis = await storeAnswer();
    await send(readBody({ analysisId: analysis.id, user: { id: 'U0ADA' } }));
    expect((await stores.reviews.findByAnalysis(analysis.id))?.decision).toMatchObject({
      type: 'accept',
      reviewer: 'slack:U0ADA',
    });
    const entry = await stores.library.recall({
      fingerprint: analysis.fingerprint,
      repository: sampleBuild().repository,
    });
    expect([entry?.confirmedBy, told()[0]?.text]).toEqual(['slack:U0ADA', expect.stringContaining('right')]);
  });
});

it('the button Wrong rejects the answer, and links to the page where it can be corrected', async () => {
  const analysis = await storeAnswer();
  await send(readBody({ analysisId: analysis.id, action: 'faultline_wrong' }));
  const review = await stores.reviews.findByAnalysis(analysis.id);
  expect(review?.decision).toMatchObject({ type: 'reject', reason: 'marked wrong in Slack' });
  expect(told()[0]?.text).toContain(
    `<https://fl.example/review/${review?.id}?edit=1|Correct the answer> so that future answers improve.`,
  );
});

it('a late press is answered with who decided before, and when', async () => {
  const analysis = await storeAnswer();
  await send(readBody({ analysisId: analysis.id }));
  await send(
    readBody({ analysisId: analysis.id, action: 'faultline_wrong', user: { id: 'U0ADA', username: 'ada' } }),
  );
  expect(told()[1]).toEqual({
    to: 'U0ADA',
    text: expect.stringMatching(/^slack:grace\/U0GRACE decided this at .*: accepted\./),
  });
  expect((await stores.reviews.findByAnalysis(analysis.id))?.decision?.type).toBe('accept');
});

it('only listed reviewers may decide, and they are recorded by name', async () => {
  const analysis = await storeAnswer();
  await send(readBody({ analysisId: analysis.id, user: { id: 'U0MALLORY', username: 'grace' } }));
  expect(told()).toEqual([{ to: 'U0MALLORY', text: 'You may not decide here. Ask <@U0GRACE> or <@U0ADA>.' }]);
  expect(await stores.reviews.findByAnalysis(analysis.id)).toBeNull();
});

it('a press that is sent several times counts once', async () => {
  const analysis = await storeAnswer();
  const body = readBody({ analysisId: analysis.id, trigger: 'one-press' });
  const answers = await Promise.all([send(body), send(body), send(body)]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect(told()).toHaveLength(1);
});

it('a press is answered in time and decides, even if Slack does not receive the answer', async () => {
  slack.intercept = (_method, response) => {
    response.writeHead(500).end();
    return true;
  };
  const analysis = await storeAnswer();
  expect((await send(readBody({ analysisId: analysis.id }))).statusCode).toBe(200);
  slack.intercept = null;
  expect((await stores.reviews.findByAnalysis(analysis.id))?.decision?.type).toBe('accept');
});

it('a press on an answer that does not exist is reported', async () => {
  await send(readBody({ analysisId: 'ana_<!channel>' }));
  expect(told()[0]?.text).toBe('There is no analysis ana_&lt;!channel&gt;.');
});

it.each([
  ['a button that only opens an address', readBody({ analysisId: '', action: 'faultline_open' })],
  [
    'another interaction',
    new URLSearchParams({ payload: JSON.stringify({ type: 'view_submission' }) }).toString(),
  ],
])('%s is acknowledged without effect', async (_what, body) => {
  expect((await send(body)).statusCode).toBe(200);
  expect(told()).toEqual([]);
});

describe('a request that is not from Slack', () => {
  const now = () => Math.floor(Date.now() / 1000);

  it.each([
    ['another secret', () => send(readBody({ analysisId: 'x' }), now(), 'another')],
    ['an old time, rightly signed', () => send(readBody({ analysisId: 'x' }), now() - 400)],
    ['a time to come', () => send(readBody({ analysisId: 'x' }), now() + 400)],
  ])('is refused with 401: %s', async (_what, sending) => {
    const answer = await sending();
    expect([answer.statusCode, answer.json().error.code]).toEqual([401, 'unauthenticated']);
    expect(answer.body).not.toContain(SECRET);
    expect(told()).toEqual([]);
  });

  it.each([['not a form at all'], ['payload=%7B'], ['payload=[]'], ['']])(
    'is refused with 400, though signed: %j',
    async (body) => {
      expect((await send(body)).statusCode).toBe(400);
    },
  );
});
