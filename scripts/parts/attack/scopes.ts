/**
 * Requests data of another repository from every operation of the API's description, with a token that is
 * limited to one repository.
 */
import { z } from 'zod';
import { createAuthorization, LOG, readAcceptedId, upload, waitForAnswers } from './shared/builds.ts';
import { reportService, startService } from './shared/service.ts';
import { report } from './shared/tools.ts';

const [OURS, THEIRS] = ['acme/shop', 'other/hidden'];
/** Text that occurs only in the log of the other repository. */
const WORD = 'zanzibar';
const THEIR_LOG = LOG.replaceAll('cart', WORD);
const Operation = z.object({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.unknown())).default([]),
  parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]),
});
type Operation = z.infer<typeof Operation>;
const Description = z.object({ paths: z.record(z.string(), z.record(z.string(), Operation)) });
const Listed = z.object({ items: z.array(z.looseObject({ id: z.string() })) });
const Reviewed = z.object({ id: z.string(), version: z.int() });
const Asked = z.object({ threadId: z.string() });
const Made = z.object({ token: z.string() });
const Stored = z.object({ id: z.string() });

/** The ids of their data, by the part of a path before the id. */
type Belongings = Readonly<Record<string, string>>;

/** The bodies that these operations accept. All others accept an empty one, or none. */
const RULE = {
  pattern: 'cannot find it',
  sample: 'cannot find it',
  category: 'CODE_ERROR',
  rootCause: 'r',
  fixRecommendation: 'f',
};
const NEWS_RULE = { name: 'theirs', query: `repo:${THEIRS}`, channel: 'webhook', destination: 'ops' };
/** Runs that prove nothing. */
const EXPERIMENT = {
  command: ['npm', 'test'],
  narrowed: [],
  tests: [],
  arms: [],
  verdict: 'inconclusive',
  dependsOnOthers: false,
  polluters: [],
  sentence: '',
  notes: [],
  excerpt: '',
};
const bodies = (theirs: Belongings): Readonly<Record<string, readonly object[]>> => ({
  uploadBuild: [
    {
      metadata: { repository: THEIRS, pipeline: 'ci', number: 9, status: 'failed' },
      logs: [{ name: 'a.log', text: LOG }],
    },
  ],
  decideReview: [{ type: 'reject', reason: 'no', version: 1 }],
  guessReview: [{ category: 'CODE_ERROR' }],
  claimNextReview: [{}, { repository: THEIRS }],
  withdrawLibraryEntry: [{ reason: 'no' }],
  withdrawRule: [{ reason: 'no' }],
  createRule: [{ ...RULE, repository: THEIRS }],
  tryRule: [{ ...RULE, repository: THEIRS }],
  answerQuestion: [{ answer: 'because' }],
  askAboutAnalysis: [{ question: 'why?' }],
  askAboutBuild: [{ question: 'why?' }],
  addDocument: [{ source: 'a.md', content: 'dGV4dA==' }],
  changeCause: [{ repository: THEIRS, fingerprint: 'fp', version: 1, change: { what: 'acknowledged' } }],
  quarantineTest: [{ repository: THEIRS, name: 'adds', days: 7 }],
  reportDeployment: [{ repository: THEIRS, environment: 'production', version: 'v1' }],
  reportExperiment: [EXPERIMENT],
  createNotificationRule: [NEWS_RULE],
  changeNotificationRule: [{ ...NEWS_RULE, version: 1 }],
  previewNotificationRule: [NEWS_RULE],
  setNotificationOwner: [{ owner: '@other/team' }],
  createToken: [{ name: 'more', roles: ['read'] }],
  callMcp: [
    ...['get_failure', 'get_evidence'].map((name) => ({ name, arguments: { id: theirs.builds } })),
    ...['get_failure', 'get_evidence'].map((name) => ({ name, arguments: { id: theirs.analyses } })),
    { name: 'list_failures', arguments: {} },
    { name: 'list_failures', arguments: { repository: THEIRS } },
    { name: 'flaky_tests', arguments: { repository: THEIRS } },
    { name: 'search_similar', arguments: { text: 'TypeError: Cannot read properties of undefined' } },
  ].map((params) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })),
});

// Nothing listens on this port, so that no attempt can send anything.
const service = await startService({
  settings: {
    // The verdict of every item is shown: it is decided without a guess.
    FAULTLINE_NOTIFY_WEBHOOKS: 'ops=http://127.0.0.1:9/',
    FAULTLINE_NOTIFY_WEBHOOK_SECRET: `whsec_${btoa('0123456789abcdef01234567')}`,
  },
});
try {
  const theirs = await fillStores();
  const token = Made.parse(
    await call('POST', '/api/tokens', {
      name: 'held',
      roles: ['ingest', 'read', 'review'],
      repositories: [OURS],
    }),
  ).token;
  const { paths } = Description.parse(await call('GET', '/openapi.json'));
  const before = await readEverything(theirs);
  const counts = new Map<number, number>();
  const shown: string[] = [];
  const untried: string[] = [];
  let operations = 0;
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!operation.security.some((scheme) => 'bearer' in scheme)) continue;
      operations += 1;
      for (const { url, body } of createRequests(path, operation, theirs)) {
        const name = `${operation.operationId} ${url} ${body ?? ''}`;
        const { status, text } = await ask(method, url, token, body);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        const marks = [WORD, ...Object.values(theirs), THEIRS].filter(
          (mark) => !`${decodeURIComponent(url)} ${body}`.includes(mark),
        );
        if (marks.some((mark) => text.includes(mark))) shown.push(`${name}: ${status} ${text.slice(0, 500)}`);
        // A refusal for another reason reveals nothing about repositories.
        const isOther = /\{\w+\}/.test(path)
          ? ![403, 404].includes(status)
          : ![200, 403, 404].includes(status);
        if (isOther) untried.push(`${name}: ${status} ${text.slice(0, 500)}`);
      }
    }
  }
  const after = await readEverything(theirs);
  const changed = Object.keys(before).filter((path) => before[path] !== after[path]);
  const answers = [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${count} answered ${status}`);
  const fine = [
    report('operations', `${operations}, ${answers.join(', ')}`, untried.length, untried.join('\n')),
    report('shown', `${shown.length} answers show something of theirs`, shown.length, shown.join('\n')),
    report(
      'changed',
      `${changed.length} of ${Object.keys(before).length} things of theirs`,
      changed.length,
      changed.map((path) => `${path}: ${before[path]} became ${after[path]}`).join('\n'),
    ),
    reportService(service),
  ];
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  await service.stop();
}

/**
 * Creates one build of ours and two of theirs. Of theirs, one was decided and is in the library, and one
 * waits. Also creates a rule and a thread.
 */
async function fillStores(): Promise<Belongings> {
  await waitForAnswers(
    service,
    await readAcceptedId(await upload(service, { repository: OURS, number: 'ours', log: LOG })),
  );
  const [builds, taught] = [await createTheirBuild('theirs'), await createTheirBuild('taught')];
  const decided = await findReview(taught.analysis);
  const version = Reviewed.parse(await call('POST', `/api/reviews/${decided.id}/claim`)).version;
  await call('POST', `/api/reviews/${decided.id}/decision`, { type: 'accept', version });
  await call('POST', '/api/rules', { ...RULE, repository: THEIRS });
  const newsRule = Stored.parse(
    await call('POST', '/api/notification-rules', { ...NEWS_RULE, enabled: false }),
  );
  const first = async (path: string) => Listed.parse(await call('GET', path)).items[0]?.id ?? '';
  return {
    builds: builds.id,
    analyses: builds.analysis,
    reviews: (await findReview(builds.analysis)).id,
    library: await first('/api/library'),
    rules: await first('/api/rules'),
    'notification-rules': newsRule.id,
    threads: Asked.parse(await call('POST', `/api/analyses/${builds.analysis}/ask`, { question: 'why?' }))
      .threadId,
    // Documents are for every reader, and tokens for administrators. Neither belongs to a repository.
    knowledge: 'doc_none',
    tokens: 'tok_none',
    deliveries: 'key:attack:build-theirs',
  };
}

async function createTheirBuild(number: string): Promise<{ readonly id: string; readonly analysis: string }> {
  const id = await readAcceptedId(
    await upload(service, {
      repository: THEIRS,
      number,
      log: number === 'taught' ? LOG.replaceAll('cart', 'basket') : THEIR_LOG,
    }),
  );
  return { id, analysis: (await waitForAnswers(service, id)).analyses[0]?.id ?? '' };
}

async function findReview(analysis: string): Promise<z.infer<typeof Reviewed>> {
  return Reviewed.parse(await call('POST', `/api/analyses/${analysis}/review`));
}

/** Calls the API with a token that has every role. Throws if the call is refused. */
async function call(method: string, path: string, body?: object): Promise<unknown> {
  const { status, text } = await ask(
    method,
    path,
    service.token,
    body === undefined ? undefined : JSON.stringify(body),
  );
  if (status >= 300) throw new Error(`${method} ${path} was answered with ${status}: ${text}`);
  return JSON.parse(text);
}

async function ask(
  method: string,
  path: string,
  token: string,
  body?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers: Record<string, string> = {
    ...createAuthorization({ token }),
    accept: path === '/mcp' ? 'application/json, text/event-stream' : '*/*',
  };
  if (body === undefined) delete headers['content-type'];
  const response = await fetch(service.url + path, {
    method: method.toUpperCase(),
    headers,
    ...(body !== undefined && { body }),
  });
  return { status: response.status, text: await response.text() };
}

/**
 * Returns every request that asks an operation for their data: by its id, and by each filter of the
 * operation.
 */
function createRequests(
  path: string,
  { operationId, parameters }: Operation,
  theirs: Belongings,
): { readonly url: string; readonly body?: string }[] {
  const kind = /^\/api\/([\w-]+)\//.exec(path)?.[1] ?? '';
  const filled = path.replace('{source}', 'upload').replace('{id}', encodeURIComponent(theirs[kind] ?? ''));
  const values: Belongings = {
    repository: THEIRS,
    provider: 'upload',
    number: 'theirs',
    build: theirs.builds ?? '',
    analysis: theirs.analyses ?? '',
    text: 'undefined',
    fingerprint: 'fp',
  };
  const has = (name: string) =>
    parameters.some((parameter) => parameter.in === 'query' && parameter.name === name);
  const filters = Object.entries(values).filter(([name]) => has(name));
  const query = filters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  const required = { findBuildByNumber: ['?provider=upload&number=theirs'], listCauseEvents: [] }[
    operationId
  ] ?? [''];
  const urls = [...required, ...(query === '' ? [] : [`?${query}`])].map((end) => filled + end);
  const sent = bodies(theirs)[operationId]?.map((body) => JSON.stringify(body)) ?? [undefined];
  return urls.flatMap((url) => sent.map((body) => (body === undefined ? { url } : { url, body })));
}

/** Returns what a reader without restrictions sees of their data, by path. */
async function readEverything(theirs: Belongings): Promise<Record<string, string>> {
  const seen = [
    'builds',
    'analyses',
    'reviews',
    'library',
    'threads',
    'notification-rules',
    'deliveries/upload',
  ].map((kind) => `/api/${kind}/${theirs[kind.split('/', 1)[0] ?? '']}`);
  const paths = [...seen, '/api/rules', `/api/builds?repository=${encodeURIComponent(THEIRS)}`];
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, JSON.stringify(await call('GET', path))] as const)),
  );
}
