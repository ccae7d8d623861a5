import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import type { Messenger } from '../../src/channels/channel.ts';
import { createSlackChannel, SlackSettings } from '../../src/channels/slack.ts';
import { digestOfToken, makeToken } from '../../src/domain/access.ts';
import { createId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { openNews } from '../channels/sending.ts';
import { sampleBuild } from '../stores/samples.ts';
import { createEmptyHttpDeps, TOKENS } from '../support/http-deps.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { createStoredAsk, createStoredRepositoryAsk } from '../support/stored-ask.ts';
import { ACCESS_MATRIX } from './access-matrix.ts';
import { PAGE_ROUTES, readAnswerText } from './scope-pages.ts';
import { type Project, storeProject } from './scope-projects.ts';

const OURS = 'acme/shop';
const THEIRS = 'other/secret';
let database: TestDatabase;
let stores: Stores;
let app: FastifyInstance;
let ours: Project;
let theirs: Project;
const tokens = { one: makeToken(), owner: makeToken(), reviewer: makeToken() };

beforeAll(async () => {
  database = await openTestDatabase();
  stores = createStores(database, systemClock);
  const slack: Messenger = {
    ...(await openNews(createSlackChannel(SlackSettings.parse({ token: 'xoxb-1' })))),
    send: async () => ({ reference: null }),
  };
  app = await buildHttp({
    ...createEmptyHttpDeps(),
    stores,
    database,
    ask: createStoredAsk(stores),
    repositoryAsk: createStoredRepositoryAsk(stores),
    messengers: { slack },
  });
  const stored = { stores, database };
  [ours, theirs] = [await storeProject(stored, OURS, '7'), await storeProject(stored, THEIRS, '8')];
  const kept = { createdBy: 'test', expiresInDays: null };
  await stores.tokens.keep({
    ...kept,
    name: 'one',
    digest: digestOfToken(tokens.one),
    roles: ['read'],
    repositories: [OURS],
  });
  await stores.tokens.keep({
    ...kept,
    name: 'owner',
    digest: digestOfToken(tokens.owner),
    roles: ['read'],
    repositories: ['acme/*'],
  });
  const roles = ['read', 'review', 'ingest'] as const;
  await stores.tokens.keep({
    ...kept,
    name: 'reviewer',
    digest: digestOfToken(tokens.reviewer),
    roles,
    repositories: [OURS],
  });
});
afterAll(async () => {
  await app.close();
  await database.dispose();
});

const EXPERIMENT = {
  command: ['npm', 'test'],
  narrowed: null,
  tests: [],
  arms: [],
  verdict: 'inconclusive',
  dependsOnOthers: null,
  polluters: [],
};

const NOTIFICATION_RULE = { name: 'n', channel: 'slack', destination: 'C0123456789' };

function toRepositoryThread({ repositoryThread }: Project) {
  return { url: `/api/repository-threads/${repositoryThread}` };
}

/** Each route that names something by its id: how a project's own is named. */
const ID_ROUTES: Readonly<
  Record<string, (of: Project) => { readonly url: string; readonly payload?: object }>
> = {
  'GET /api/builds/by-number': ({ number }) => ({
    url: `/api/builds/by-number?provider=github&number=${number}`,
  }),
  'GET /api/builds/:id': ({ build }) => ({ url: `/api/builds/${build}` }),
  'GET /api/builds/:id/analyses': ({ number }) => ({ url: `/api/builds/github:${number}/analyses` }),
  'GET /api/builds/:id/sarif': ({ build }) => ({ url: `/api/builds/${build}/sarif` }),
  'GET /api/builds/:id/code-quality': ({ build }) => ({ url: `/api/builds/${build}/code-quality` }),
  'GET /api/builds/:id/environments': ({ build }) => ({ url: `/api/builds/${build}/environments` }),
  'GET /api/builds/:id/ctrf': ({ number }) => ({ url: `/api/builds/github:${number}/ctrf` }),
  'GET /failures/:fingerprint': ({ number }) => ({ url: `/failures/fp-${number}` }),
  'GET /api/analyses/:id': ({ analysis }) => ({ url: `/api/analyses/${analysis}` }),
  'GET /api/analyses/:id/trace': ({ analysis }) => ({ url: `/api/analyses/${analysis}/trace` }),
  'GET /api/library/:id': ({ entry }) => ({ url: `/api/library/${entry}` }),
  'GET /api/deliveries/:source/:id': ({ delivery }) => ({ url: `/api/deliveries/github/${delivery}` }),
  'POST /api/analyses/:id/ask': ({ analysis }) => ({
    url: `/api/analyses/${analysis}/ask`,
    payload: { question: 'why?' },
  }),
  'POST /api/builds/:id/ask': ({ build }) => ({
    url: `/api/builds/${build}/ask`,
    payload: { question: 'why?' },
  }),
  'GET /api/threads/:id': ({ thread }) => ({ url: `/api/threads/${thread}` }),
  'GET /api/reviews/:id': ({ review }) => ({ url: `/api/reviews/${review}` }),
  'POST /api/builds/:id/experiments': ({ build }) => ({
    url: `/api/builds/${build}/experiments`,
    payload: EXPERIMENT,
  }),
  'POST /api/reviews/:id/claim': ({ review }) => ({ url: `/api/reviews/${review}/claim` }),
  'POST /api/reviews/:id/release': ({ review }) => ({ url: `/api/reviews/${review}/release` }),
  'POST /api/reviews/:id/decision': ({ review }) => ({
    url: `/api/reviews/${review}/decision`,
    payload: { type: 'reject', reason: 'no', version: 99 },
  }),
  'POST /api/reviews/:id/undo': ({ review }) => ({ url: `/api/reviews/${review}/undo` }),
  'GET /api/reviews/:id/same': ({ review }) => ({ url: `/api/reviews/${review}/same` }),
  'POST /api/reviews/:id/skip': ({ review }) => ({ url: `/api/reviews/${review}/skip` }),
  'POST /api/reviews/:id/take-over': ({ review }) => ({ url: `/api/reviews/${review}/take-over` }),
  'POST /api/analyses/:id/review': ({ analysis }) => ({ url: `/api/analyses/${analysis}/review` }),
  'POST /api/library/:id/withdraw': ({ entry }) => ({
    url: `/api/library/${entry}/withdraw`,
    payload: { reason: 'no' },
  }),
  'POST /api/library/:id/stays': ({ entry }) => ({ url: `/api/library/${entry}/stays` }),
  'POST /api/rules/:id/withdraw': ({ rule }) => ({
    url: `/api/rules/${rule}/withdraw`,
    payload: { reason: 'no' },
  }),
  'POST /api/reviews/:id/answer': ({ question }) => ({
    url: `/api/reviews/${question}/answer`,
    payload: { answer: 'because' },
  }),
  'GET /api/notification-rules/:id': ({ notificationRule }) => ({
    url: `/api/notification-rules/${notificationRule}`,
  }),
  'POST /api/notification-rules/:id': ({ notificationRule, repository }) => ({
    url: `/api/notification-rules/${notificationRule}`,
    payload: { ...NOTIFICATION_RULE, query: `repo:${repository}`, version: 1 },
  }),
  'POST /api/notification-rules/:id/test': ({ notificationRule }) => ({
    url: `/api/notification-rules/${notificationRule}/test`,
  }),
  ...PAGE_ROUTES,
  // The last: what they name is gone after them.
  'DELETE /api/notification-rules/:id': ({ notificationRule }) => ({
    url: `/api/notification-rules/${notificationRule}`,
  }),
  'POST /api/repositories/:id/ask': ({ repository }) => ({
    url: `/api/repositories/${encodeURIComponent(repository)}/ask`,
    payload: { question: 'what is it?' },
  }),
  'GET /api/repository-threads/:id': toRepositoryThread,
  'DELETE /api/repository-threads/:id': toRepositoryThread,
  'DELETE /api/threads/:id': ({ thread }) => ({ url: `/api/threads/${thread}` }),
};
/** Documents are of the whole house, and tokens are for administrators, who are held to nothing. */
const NOT_OF_A_PROJECT = /^\w+ \/api\/(?:knowledge|tokens)\//;

function ask(token: string, route: string, of: Project) {
  const [method] = route.split(' ') as ['GET' | 'POST' | 'DELETE'];
  const wanted = ID_ROUTES[route]?.(of);
  if (wanted === undefined) throw new Error(`no row for ${route}`);
  const payload = wanted.payload ?? (method === 'POST' ? {} : undefined);
  return app.inject({
    method,
    url: wanted.url,
    headers: { authorization: `Bearer ${token}` },
    ...(payload && { payload }),
  });
}

it('T18: this test covers every route with an id in its address', () => {
  const named = Object.keys(ACCESS_MATRIX).filter(
    (route) => /\/:|by-number/.test(route) && !NOT_OF_A_PROJECT.test(route),
  );
  expect(Object.keys(ID_ROUTES).toSorted()).toEqual(named.toSorted());
});

describe.each(Object.keys(ID_ROUTES))('T18: the route %s', (route) => {
  it('answers for another project as for something that does not exist', async () => {
    const foreign = await ask(tokens.reviewer, route, theirs);
    const nothing = await ask(tokens.reviewer, route, { ...theirs, ...nowhere });
    expect([foreign.statusCode, nothing.statusCode]).toEqual([404, 404]);
    expect(readAnswerText(foreign)).toBe(readAnswerText(nothing));
    expect(foreign.body).not.toContain(THEIRS);
  });

  it('answers for its own project, and for every project without a scope', async () => {
    const own = await ask(tokens.reviewer, route, ours);
    expect([route, own.statusCode]).not.toEqual([route, 404]);
    expect((await ask(TOKENS.admin, route, theirs)).statusCode).not.toBe(404);
  });
});

const nowhere = {
  build: createId('bld'),
  number: '9',
  analysis: createId('ana'),
  review: createId('rev'),
  question: createId('rev'),
  entry: createId('lib'),
  rule: createId('rul'),
  notificationRule: createId('ntr'),
  thread: createId('thr'),
  repositoryThread: createId('thr'),
  delivery: 'delivery-none',
};

const RULE = {
  pattern: 'cart lost it',
  sample: 'the cart lost it',
  category: 'CODE_ERROR',
  rootCause: 'r',
  fixRecommendation: 'f',
};
const LIST = { name: 'list_failures', arguments: { repository: THEIRS } };

const UNTIL = new Date(Date.now() + 60_000).toISOString();

/** Each route that takes something in and names nothing by an id: how it is asked about another project. */
const POSTS: Readonly<Record<string, object>> = {
  'POST /api/builds': {
    metadata: { repository: THEIRS, pipeline: 'ci', number: 1, status: 'passed' },
    logs: [],
  },
  'POST /api/deployments': { repository: THEIRS, environment: 'production', version: 'v1' },
  'POST /api/causes': { repository: THEIRS, fingerprint: 'fp', version: 1, change: { what: 'acknowledged' } },
  'POST /insights/test': { repository: THEIRS, name: 'adds', days: 7 },
  'POST /api/flaky-tests/quarantine': { repository: THEIRS, name: 'adds', days: 7 },
  'POST /causes': { repository: THEIRS, fingerprint: 'fp', version: 1, what: 'acknowledged' },
  'POST /api/reviews/next': { repository: THEIRS },
  'POST /api/rules': { ...RULE, repository: THEIRS },
  'POST /api/rules/try': { ...RULE, repository: THEIRS },
  'POST /library/rules': { ...RULE, repository: THEIRS, act: 'store' },
  'POST /mcp': { jsonrpc: '2.0', id: 1, method: 'tools/call', params: LIST },
  'POST /causes/bulk': { pick: `1 ${encodeURIComponent(THEIRS)} fp-8`, what: 'acknowledged' },
  'POST /causes/undo': { at: new Date(0).toISOString() },
  get 'POST /review/bulk'() {
    return { pick: `${theirs.review} 1`, type: 'reject' };
  },
  get 'POST /review/bulk/undo'() {
    return { ids: theirs.review };
  },
  'POST /me': { theme: 'dark' },
  'POST /paste': { log: 'The secret DEPLOY_TOKEN is not set' },
  'POST /api/notification-rules': { ...NOTIFICATION_RULE, query: `repo:${THEIRS}` },
  'POST /api/notification-rules/preview': { ...NOTIFICATION_RULE, query: `repo:${THEIRS}` },
  'POST /api/notification-owners': { owner: '@a', slack: 'C0123456789' },
  'POST /notifications/new': {
    ...NOTIFICATION_RULE,
    everyMinutes: '15',
    timeZone: 'UTC',
    query: `repo:${THEIRS}`,
    act: 'save',
  },
  'POST /ask': { question: 'what is it?', repository: THEIRS },
  'POST /notifications/owners': { owner: '@a', slack: 'C0123456789' },
};

describe('T18: each route without an id', () => {
  const asked = Object.entries(ACCESS_MATRIX).filter(
    ([route, role]) => !/\/:|by-number/.test(route) && !/open|signature|admin/.test(role),
  );
  // A stream that does not end has a test of its own: test/console/live.int.test.ts.
  const ends = ([route]: readonly [string, string]) => route !== 'GET /events';
  const [gets, unnamed] = ['GET ', 'POST '].map((method) =>
    asked.filter(ends).flatMap(([route]) => (route.startsWith(method) ? [route] : [])),
  );
  // A new rule is saved under the id "new".
  const posts = [...(unnamed ?? []), 'POST /notifications/new'];
  const answerTo = async (token: string, route: string, query = '') => {
    const [method, url] = route.split(' ') as ['GET' | 'POST', string];
    const headers = { authorization: `Bearer ${token}`, accept: '*/*, application/json, text/event-stream' };
    return await app.inject({
      method,
      url: `${url}${query}`,
      headers,
      ...(method === 'POST' && { payload: POSTS[route] ?? {} }),
    });
  };
  /** Which ids of the other project it tells; what was asked for is written back in forms. */
  const tells = (body: string, { number: _number, ...ids }: Project) =>
    Object.values(ids).filter((id) => body.includes(id));

  it('is covered by this test', () => {
    expect(asked.filter(ends)).toHaveLength((gets?.length ?? 0) + (unnamed?.length ?? 0));
    expect(posts.toSorted()).toEqual(Object.keys(POSTS).toSorted());
  });

  it.each(gets ?? [])('%s omits the data of other projects', async (route) => {
    for (const query of ['', '?withdrawn=true', '?withdrawn=1', '?show=withdrawn', '?q=since:900w'])
      expect(tells((await answerTo(tokens.reviewer, route, query)).body, theirs)).toEqual([]);
    const asking = await answerTo(tokens.reviewer, route, `?repository=${THEIRS}`);
    expect(tells(asking.body, theirs).filter((id) => id !== THEIRS)).toEqual([]);
  });

  it.each([
    '/api/builds',
    '/api/failures',
    '/api/flaky-tests',
    '/api/library?withdrawn=true',
    '/api/reviews',
    '/api/reviews/groups',
    '/api/rules?withdrawn=true',
    '/builds',
    '/library?show=withdrawn',
    '/library/rules?withdrawn=1',
    '/review',
    '/tests',
    '/search?q=since:900w',
  ])('GET %s shows both projects to a token without a scope', async (url) => {
    const { body } = await answerTo(TOKENS.admin, `GET ${url}`);
    expect([OURS, THEIRS].map((mark) => body.includes(mark))).toEqual([true, true]);
  });

  it.each(posts)('%s neither reveals nor changes data of other projects', async (route) => {
    const { body } = await answerTo(tokens.reviewer, route);
    expect(tells(body, theirs).filter((id) => id !== THEIRS)).toEqual([]);
    const stored = await stores.rules.list(
      { limit: 9, offset: 0 },
      { repositories: [THEIRS], withdrawn: true },
    );
    expect(stored.map(({ id }) => id)).toEqual([theirs.rule]);
    expect(await stores.builds.list({ repository: THEIRS, pipeline: 'ci' }, { limit: 9, offset: 0 })).toEqual(
      [],
    );
    expect([await stores.notificationRules.list(), await stores.notificationRules.owners()]).toEqual([
      [],
      [],
    ]);
    expect((await stores.health.repository({ repository: THEIRS, until: UNTIL, days: 9 }, 9)).marks).toEqual(
      [],
    );
    const review = await stores.reviews.find(theirs.review);
    expect([review?.decision, review?.claimedBy ?? null]).toEqual([null, null]);
  });
});

describe('T18: tokens', () => {
  it('for an owner give access to all repositories of that owner', async () => {
    const status = async (id: string) =>
      (await app.inject({ url: `/api/builds/${id}`, headers: { authorization: `Bearer ${tokens.owner}` } }))
        .statusCode;
    expect([await status(ours.build), await status(theirs.build)]).toEqual([200, 404]);
  });
});

describe('T18: trying out a rule', () => {
  const secret = 'vault answered for tenant nightingale';
  const trial = {
    pattern: 'tenant nightingale',
    sample: secret,
    category: 'INFRA_ERROR',
    rootCause: 'r',
    fixRecommendation: 'f',
  };

  beforeAll(async () => {
    const { build } = await stores.builds.upsert(
      sampleBuild({ repository: THEIRS, number: '77', status: 'passed' }),
    );
    await database.query('insert into green_templates (build_id, log, body) values ($1, $2, $3)', [
      build.id,
      'console',
      { version: 1, lines: [`before ${secret} after`] },
    ]);
  });

  it.each([null, THEIRS, 'other/*'])(
    'reveals nothing about passed builds of other projects (for %s)',
    async (repository) => {
      const answer = async (token: string) =>
        await app.inject({
          method: 'POST',
          url: '/api/rules/try',
          headers: { authorization: `Bearer ${token}` },
          payload: { ...trial, repository },
        });
      expect((await answer(tokens.reviewer)).body).not.toMatch(/before|77/);
      if (repository !== 'other/*')
        expect((await answer(TOKENS.admin)).json().refused).toContain('green build 77');
    },
  );
});

it('T18: a CI token uploads builds only for its own repositories', async () => {
  const status = async (repository: string) => {
    const payload = { metadata: { repository, pipeline: 'ci', number: 1, status: 'passed' }, logs: [] };
    const answer = await app.inject({
      method: 'POST',
      url: '/api/builds',
      headers: { authorization: `Bearer ${tokens.reviewer}` },
      payload,
    });
    return [answer.statusCode, answer.json().error?.code];
  };
  expect(await status(THEIRS)).toEqual([403, 'forbidden']);
  expect(await status(OURS)).not.toEqual([403, 'forbidden']);
});
