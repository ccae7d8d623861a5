import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildHttp } from '../../src/api/server.ts';
import type { App } from '../../src/app/served-app.ts';
import { createApp } from '../../src/app.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { parseConfig } from '../../src/config/schema.ts';
import { createRecordingLogger, type LogLine } from '../support/http-deps.ts';
import { installDatabase } from '../support/installed-database.ts';
import { type OpenAiServer, startOpenAiServer } from '../support/openai-server.ts';
import { DEFAULTS, playOn } from './graph-llm-stage.ts';

/** Joined at run time so that no scanner takes the tests for a leak. */
const PLANTED = ['ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('');
/** Nothing gives it away but the name beside it, once. */
const NAMED = ['Zk7', 'qW2xRt9LmB4vYc8'].join('');
/** The service's own keys: nothing in the logs calls them secret. */
const MODEL_KEY = 'the-model-key-of-this-installation';
const TOKEN = 'the-token-of-an-administrator-here';
const SECRETS = [PLANTED, NAMED, MODEL_KEY, TOKEN];

const base64 = (text: string) => Buffer.from(text).toString('base64');
const SETUP = [`export DEPLOY_TOKEN=${NAMED}`, `Authenticating with ${PLANTED}`, 'npm ci'].join('\n');
const TEST = [
  '> jest --ci',
  'FAIL test/cart.test.js',
  `  ● cart › sends the order with ${NAMED}`,
  '',
  `    Expected: "https://ci@shop.example.com?key=${encodeURIComponent(PLANTED)}&again=${NAMED}"`,
  `    Received: "${base64(`ci:${PLANTED}`)} ${base64(NAMED)} ${MODEL_KEY}"`,
  '',
  `      at Object.toBe (test/cart.test.js:26:38) ${base64(`x${TOKEN}`)} ${Buffer.from(NAMED).toString('hex')}`,
  '',
  `Error: 401 for ${PLANTED.slice(0, 20)}`,
  `${PLANTED.slice(20)} ${TOKEN}`,
  'Tests:       1 failed, 24 passed, 25 total',
].join('\n');
const REPORT = [
  '<testsuite name="cart"><testcase name="sends the order" classname="cart">',
  `<failure message="refused ${NAMED}">Error: ${PLANTED} ${base64(`yy${NAMED}`)}</failure>`,
  `</testcase><system-out>${MODEL_KEY}</system-out></testsuite>`,
].join('\n');

let folder = '';
let model: OpenAiServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-masking-'));
  model = await startOpenAiServer({ apiKey: MODEL_KEY });
});
afterAll(async () => {
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

/** Uploads the build, waits for its analysis, and returns everything that is kept, sent, said or answered. */
async function readEverything(driver: 'rules' | 'llm'): Promise<Readonly<Record<string, string>>> {
  const dataDir = join(folder, driver);
  const { config: database } = await installDatabase(dataDir);
  const preset = createEmbeddedPreset(dataDir, join(import.meta.dirname, '../../knowledge'));
  const config = parseConfig({
    ...preset,
    database,
    auth: { tokens: [{ name: 'admin', token: TOKEN, roles: ['admin'] }] },
    analyst: { driver, llm: { ...preset.analyst.llm, baseUrl: model.baseUrl, apiKey: MODEL_KEY } },
    triage: { ...preset.triage, thresholds: { autoNotify: 0, humanReview: 0, selfCorrect: 0 } },
  });
  const said: LogLine[] = [];
  const app = await createApp(config, createRecordingLogger(said));
  playOn(model, DEFAULTS);
  const http = await buildHttp(app);
  try {
    await app.work();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const logs = [
      { name: 'setup.log', text: SETUP },
      { name: 'test.log', text: TEST },
    ];
    const payload = {
      metadata: { repository: 'shop/api', pipeline: 'ci', number: 1 },
      logs,
      reports: [{ name: 'junit.xml', text: REPORT }],
    };
    const { buildId } = (await http.inject({ method: 'POST', url: '/api/builds', headers, payload })).json();
    const answers = await listAnalyses(http, headers, buildId);
    return {
      'the answer': answers,
      'the requests to the model': JSON.stringify(model.requests.map(({ body }) => body)),
      'what was logged': JSON.stringify(said),
      'the archive': await readArchived(app, buildId),
      ...(await readTables(app)),
    };
  } finally {
    await http.close();
    await app.close({ drainMs: 1_000 });
  }
}

const Answered = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(z.unknown()),
});

async function listAnalyses(
  http: Awaited<ReturnType<typeof buildHttp>>,
  headers: Record<string, string>,
  buildId: string,
): Promise<string> {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await http.inject({ url: `/api/builds/${buildId}/analyses`, headers });
    const { triage, analyses } = Answered.parse(answer.json());
    if (triage?.state === 'done' && analyses.length > 0) return answer.body;
    if (triage?.state === 'failed') throw new Error('the triage failed');
    await sleep(100);
  }
  throw new Error('the build was never answered');
}

async function readArchived(app: App, buildId: string): Promise<string> {
  const sources = await app.archive.list(buildId);
  const texts = await Promise.all(sources.map(({ name }) => app.archive.read(buildId, name)));
  expect(texts).toHaveLength(3);
  return texts.join('\n');
}

/** Every column of every row of every table, as text. */
async function readTables(app: App): Promise<Record<string, string>> {
  const tables = await app.database.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const texts: Record<string, string> = {};
  for (const { name } of tables) {
    const rows = await app.database.query<{ row: string }>(`select t::text as row from ${name} t`);
    texts[name] = rows.map(({ row }) => row).join('\n');
  }
  return texts;
}

/** How a secret could be in a text; base64 without what its neighbours decide. */
function listSpellings(secret: string): string[] {
  const shifted = ['', 'x', 'xx'].map((before) =>
    base64(before + secret).slice(before === '' ? 0 : before.length + 1, -4),
  );
  const safe = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = Buffer.from(secret).toString('hex');
  return [
    secret,
    ...shifted,
    ...safe,
    hex,
    hex.toUpperCase(),
    encodeURIComponent(secret),
    secret.slice(20),
    Buffer.from(base64(secret)).toString('hex'),
  ].filter((text) => text.length >= 8);
}

describe.each(['rules', 'llm'] as const)('with the analyst %s', (driver) => {
  it('no unmasked secret reaches the database, the archive, a model, a log line or an answer', async () => {
    const places = await readEverything(driver);

    const leaks = Object.entries(places).flatMap(([place, text]) =>
      SECRETS.flatMap((secret) =>
        listSpellings(secret)
          .filter((spelling) => text.includes(spelling))
          .map((spelling) => `${place}: ${spelling}`),
      ),
    );
    expect(leaks).toEqual([]);
    expect(places['the archive']).toContain('export DEPLOY_TOKEN=***');
    expect(places['the answer']).toContain('***');
    expect(Object.keys(places).length).toBeGreaterThan(15);
    if (driver === 'llm') expect(places['the requests to the model']).toContain('***');
  });
});
