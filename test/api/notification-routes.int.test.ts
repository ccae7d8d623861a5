import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import type { Messenger } from '../../src/channels/channel.ts';
import type { News } from '../../src/channels/news.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { createId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { sampleAnalysis, sampleBuild, sampleGroup } from '../stores/samples.ts';
import { createEmptyHttpDeps, TOKENS } from '../support/http-deps.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let stores: Stores;
let app: FastifyInstance;
let sent: { readonly news: News; readonly destination: string }[] = [];
let isAway = false;

const teams: Messenger = {
  destinations: ['payments'],
  refusal: (name) => (name === 'payments' ? null : 'There is no such webhook.'),
  render: (news) => news,
  send: async (news: News, { to: destination }) => {
    if (isAway)
      throw new TriageError('upstream-failed', 'Microsoft Teams returned 503.', { retryable: true });
    sent.push({ news, destination });
    return { reference: null };
  },
};

beforeAll(async () => {
  database = await openTestDatabase();
  stores = createStores(database, systemClock);
  app = await buildHttp({ ...createEmptyHttpDeps(), stores, database, messengers: { teams } });
  for (const [number, fingerprint] of [
    ['1', 'cart'],
    ['2', 'cart'],
    ['3', 'tax'],
  ] as const) {
    const { build } = await stores.builds.upsert(sampleBuild({ repository: 'shop/api', number }));
    await stores.failures.saveGroups(build.id, [sampleGroup(build.id, fingerprint)]);
    const triage = await stores.triages.open(build.id, fingerprint);
    await stores.analyses.insertOnce(sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint }));
  }
});
afterAll(async () => {
  await app.close();
  await database.dispose();
});
beforeEach(() => {
  [sent, isAway] = [[], false];
});

const RULE = { name: 'Shop', query: 'repo:shop/api', channel: 'teams', destination: 'payments' };

async function ask(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  payload?: object,
  token: string = TOKENS.review,
) {
  const answer = await app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${token}` },
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

/** As a browser without scripts sends a form. */
async function post(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const form = {
    authorization: `Bearer ${TOKENS.review}`,
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
  };
  return await app.inject({
    method: 'POST',
    url,
    headers: { ...form, ...headers },
    payload: new URLSearchParams(fields).toString(),
  });
}

describe('67: the API of notification rules', () => {
  it('creates, changes and deletes rules, and records who did it', async () => {
    const made = await ask('POST', '/api/notification-rules', {
      ...RULE,
      digestHour: 9,
      timeZone: 'Europe/Berlin',
    });
    expect(made).toMatchObject({
      status: 201,
      body: { ...RULE, repository: 'shop/api', everyMinutes: 15, version: 1, changedBy: 'review-holder' },
    });
    const { id } = made.body;
    expect((await ask('GET', '/api/notification-rules')).body.items).toEqual([made.body]);
    expect(
      await ask('POST', `/api/notification-rules/${id}`, { ...RULE, enabled: false, version: 1 }),
    ).toMatchObject({
      status: 200,
      body: { version: 2, digestHour: null },
    });
    expect(await ask('POST', `/api/notification-rules/${id}`, { ...RULE, version: 1 })).toMatchObject({
      status: 409,
      body: {
        error: {
          message:
            'review-holder changed this rule since you opened it. Open it again, then repeat your change.',
        },
      },
    });
    expect(
      (await ask('GET', `/api/notification-rules/${id}`)).body.events.map(
        ({ what }: { what: string }) => what,
      ),
    ).toEqual(['turned off', 'created']);
    expect((await ask('DELETE', `/api/notification-rules/${id}`)).status).toBe(200);
    expect((await ask('GET', `/api/notification-rules/${id}`)).status).toBe(404);
    expect(
      (await ask('POST', `/api/notification-rules/${createId('ntr')}`, { ...RULE, version: 1 })).status,
    ).toBe(404);
  });

  it.each([
    [{ channel: 'email', destination: 'a@example.com' }, 'E-mail is not configured. Set FAULTLINE_SMTP_URL.'],
    [{ destination: 'https://evil.example' }, 'There is no such webhook.'],
    [{ query: 'node:x' }, 'There is no filter node:.'],
    [{ query: 'since:7d' }, 'since:7d does not fit a rule'],
    [{ quietFrom: 22 }, 'Quiet hours need both a start and an end.'],
    [{ timeZone: 'Moon/Base' }, 'must be a time zone'],
    [{ everyMinutes: 0 }, ''],
    [{ repository: 'other/secret' }, ''],
  ])('refuses %j', async (change, sentence) => {
    for (const url of ['/api/notification-rules', '/api/notification-rules/preview']) {
      const { status, body } = await ask('POST', url, { ...RULE, ...change });
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(sentence)]);
    }
    expect((await ask('GET', '/api/notification-rules')).body.items).toEqual([]);
  });

  it('previews the past week: one message with both causes, and one per cause for rules on new causes', async () => {
    const preview = async (change: object) =>
      (await ask('POST', '/api/notification-rules/preview', { ...RULE, ...change })).body;
    const causes = [
      { title: 'The cart loses an item', repository: 'shop/api' },
      { title: 'The cart loses an item' },
    ];
    expect(await preview({})).toMatchObject({
      days: 7,
      messages: 1,
      answers: 3,
      isPart: false,
      list: [{ channel: 'teams', destination: 'payments', causes }],
    });
    expect(await preview({ query: 'is:new' })).toMatchObject({
      messages: 1,
      answers: 2,
      list: [{ causes: [{ state: 'new' }, { state: 'new' }] }],
    });
    expect(await preview({ query: 'is:fixed' })).toMatchObject({ messages: 0, list: [] });
    expect(await preview({ query: 'category:INFRA_ERROR' })).toMatchObject({ messages: 0, answers: 0 });
    expect(sent).toEqual([]);
  });

  it('sends a test message about the newest failure without mentions, and reports errors', async () => {
    const { body } = await ask('POST', '/api/notification-rules', { ...RULE, mention: true });
    expect((await ask('POST', `/api/notification-rules/${body.id}/test`, {})).status).toBe(200);
    expect(sent).toMatchObject([
      {
        destination: 'payments',
        news: { isTest: true, mentions: [], items: [{ title: 'The cart loses an item' }] },
      },
    ]);
    isAway = true;
    expect(await ask('POST', `/api/notification-rules/${body.id}/test`, {})).toMatchObject({
      body: { error: { message: 'Microsoft Teams returned 503.' } },
    });
    await ask('DELETE', `/api/notification-rules/${body.id}`);
  });

  it('stores the channels of owners', async () => {
    const owner = { owner: '@shop/payments', teams: 'payments', slackMention: 'S0123456789' };
    expect((await ask('POST', '/api/notification-owners', owner)).status).toBe(200);
    expect((await ask('GET', '/api/notification-owners')).body.items).toMatchObject([owner]);
    for (const wrong of [
      { slackMention: '!channel' },
      { slackMention: 'general' },
      { teams: 'nowhere' },
      { email: 'a@b.example' },
    ])
      expect((await ask('POST', '/api/notification-owners', { owner: '@x', ...wrong })).status).toBe(400);
    await ask('POST', '/api/notification-owners', { owner: '@shop/payments' });
    expect((await ask('GET', '/api/notification-owners')).body.items).toEqual([]);
  });

  it('is described, and requires the role review', async () => {
    const { paths } = (await app.inject('/openapi.json')).json();
    expect(Object.keys(paths).filter((path) => path.includes('/notification-')).length).toBe(5);
    expect((await ask('GET', '/api/notification-rules', undefined, TOKENS.read)).status).toBe(403);
  });
});

describe('67: the pages of notification rules', () => {
  const FORM = {
    ...RULE,
    name: 'Regressions <b>',
    when: '',
    everyMinutes: '15',
    quietFrom: '',
    quietTo: '',
    timeZone: 'UTC',
    enabled: 'on',
    version: '',
  };

  it('preview, test and save a rule without scripts, and show the result', async () => {
    const preview = await post('/notifications/new', { ...FORM, act: 'preview' });
    expect(preview.body).toContain('It would have sent 1 message in the last 7 days');
    expect(preview.body).toContain('value="Regressions &lt;b&gt;"');
    const nowhere = await post('/notifications/new', {
      ...FORM,
      name: '',
      channel: '',
      destination: '',
      act: 'preview',
    });
    expect(nowhere.body).toContain('It would have sent 1 message in the last 7 days');
    expect(nowhere.body).toContain('no destination yet');
    expect((await post('/notifications/new', { ...FORM, act: 'test' })).body).toContain(
      'The test message was sent.',
    );
    expect(sent).toHaveLength(1);
    expect((await post('/notifications/new', { ...FORM, act: 'save' })).headers.location).toBe(
      '/notifications?done=saved',
    );
    const [rule] = await stores.notificationRules.list();
    const url = `/notifications/${rule?.id}`;
    const changed = {
      ...FORM,
      version: '1',
      when: '9',
      quietFrom: '22',
      quietTo: '7',
      timeZone: 'Europe/Berlin',
    };
    expect((await post(url, { ...changed, act: 'save' })).statusCode).toBe(303);
    const page = (
      await app.inject({ url: '/notifications', headers: { authorization: `Bearer ${TOKENS.review}` } })
    ).body;
    expect(page).toContain('daily at 09:00, not from 22:00 to 07:00');
    expect((await post(url, { ...changed, act: 'save' })).body).toContain(
      'review-holder changed this rule since you opened it.',
    );
    expect((await app.inject({ url, headers: { authorization: `Bearer ${TOKENS.review}` } })).body).toContain(
      'History (2)',
    );
    expect((await post(url, { act: 'delete' })).headers.location).toBe('/notifications?done=deleted');
    expect(await stores.notificationRules.list()).toEqual([]);
  });

  it('keep the input if it is refused, and explain why', async () => {
    for (const act of ['preview', 'save', 'test']) {
      const { statusCode, body } = await post('/notifications/new', {
        ...FORM,
        query: 'is:gone"><script>',
        act,
      });
      expect([
        statusCode,
        body.includes('is:gone&quot;&gt;&lt;script&gt;'),
        body.includes('<script>'),
      ]).toEqual([400, true, false]);
      expect(body).toContain('is not a filter');
    }
    isAway = true;
    expect((await post('/notifications/new', { ...FORM, act: 'test' })).body).toContain(
      'Microsoft Teams returned 503.',
    );
    expect((await post('/notifications/owners', { owner: '@x', slackMention: '!here' })).body).toContain(
      'Slack ID: must be the ID of a member',
    );
  });

  it('refuse a form that another site sends', async () => {
    expect(
      (await post('/notifications/new', { ...FORM, act: 'save' }, { 'sec-fetch-site': 'cross-site' }))
        .statusCode,
    ).toBe(403);
    expect(
      (await post('/notifications/owners', { owner: '@x' }, { 'sec-fetch-site': 'cross-site' })).statusCode,
    ).toBe(403);
  });
});
