import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diagnose } from '../../src/cli/setup/doctor.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../support/loopback-server.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-doctor-'));
const PASSWORD = 'Wintermute-is-the-password-7';
const HOUR_MS = 3_600_000;
let refusing: LoopbackServer;
let closed = 0;
beforeAll(async () => {
  // Refuses as each provider does, by path; its clock is ten minutes behind.
  refusing = await startLoopback((request, response) => {
    const path = request.url ?? '';
    if (path.startsWith('/jenkins'))
      return sendJson(response, 403, {}, { date: new Date(Date.now() - HOUR_MS / 6).toUTCString() });
    if (path.startsWith('/scopes'))
      return sendJson(response, 200, rateLimit(4_000), { 'x-oauth-scopes': 'gist, read:user' });
    if (path.startsWith('/used-up')) return sendJson(response, 200, rateLimit(0));
    if (path.startsWith('/other')) return sendJson(response, 200, { hello: 'world' });
    if (path.startsWith('/well')) return sendJson(response, 200, rateLimit(4_999), { 'x-jenkins': '2.528' });
    if (path.startsWith('/searxng')) return sendJson(response, 403, {});
    sendJson(response, 401, {
      error: { message: 'Incorrect API key provided', code: 'invalid_api_key' },
      status: 401,
    });
  });
  closed = await findClosedPort();
});
afterAll(async () => {
  await refusing.close();
  rmSync(FOLDER, { recursive: true, force: true });
});

const rateLimit = (remaining: number) => ({
  resources: { core: { limit: 5_000, remaining, reset: Math.floor((Date.now() + HOUR_MS) / 1000) } },
});

/** Everything that the machine's own environment might set, so that a test sees the same everywhere. */
const CLEAN = {
  OPENAI_API_KEY: '',
  OPENAI_BASE_URL: '',
  FAULTLINE_GITHUB_TOKEN: '',
  FAULTLINE_CLONES: '',
  FAULTLINE_TOKENS: '',
};

const nothingThere = () => `127.0.0.1:${closed}`;

/** A server installation in which everything is wrong that can be. */
function createBrokenSettings(): Record<string, string> {
  return {
    ...CLEAN,
    FAULTLINE_HOST: '0.0.0.0',
    FAULTLINE_PUBLIC_URL: 'http://localhost:4600',
    FAULTLINE_DATABASE_URL: `postgres://faultline:${PASSWORD}@${nothingThere()}/faultline`,
    FAULTLINE_REDIS_URL: `redis://:${PASSWORD}@${nothingThere()}`,
    FAULTLINE_MONGODB_URL: `mongodb://faultline:${PASSWORD}@${nothingThere()}`,
    FAULTLINE_PINECONE_INDEX: 'faultline',
    PINECONE_API_KEY: 'pcsk_wrong',
    FAULTLINE_PINECONE_URL: refusing.url,
    FAULTLINE_GITHUB_URL: `${refusing.url}/github`,
    FAULTLINE_GITHUB_TOKEN: 'ghp_revokedrevokedrevokedrevokedrevoked1',
    FAULTLINE_JENKINS_URL: `${refusing.url}/jenkins`,
    FAULTLINE_JENKINS_USER: 'ci',
    FAULTLINE_JENKINS_TOKEN: 'wrong-token',
    FAULTLINE_WEB_SEARCH: 'searxng',
    FAULTLINE_WEB_SEARCH_URL: `${refusing.url}/searxng`,
    FAULTLINE_ANALYST: 'llm',
    OPENAI_BASE_URL: `${refusing.url}/v1`,
    OPENAI_API_KEY: 'sk-wrong',
    FAULTLINE_EMBEDDER: 'openai',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${nothingThere()}`,
    FAULTLINE_CLONES: `shop/api=${FOLDER}/missing,shop/web=${FOLDER}`,
    FAULTLINE_GITHUB_WEBHOOK_SECRET: 'changeme',
    FAULTLINE_JENKINS_WEBHOOK_SECRET: 'k3#Zq9!x',
    FAULTLINE_TOKENS: 'ci:ingest:your-token-goes-here',
  };
}

describe('E5: doctor', () => {
  it('finds all of 17 problems at once, with advice for each', async () => {
    const findings = await diagnose(FOLDER, createBrokenSettings());

    const wrong = findings.filter(({ state }) => state === 'wrong');
    expect(wrong.map(({ name }) => name).sort()).toEqual(
      [
        'analyst',
        'clone shop/api',
        'clone shop/web',
        'database',
        'embedder',
        'github',
        'github webhook',
        'jenkins',
        'jenkins clock',
        'jenkins webhook',
        'mongodb',
        'pinecone',
        'public address',
        'redis',
        'tokens',
        'traces to otlp',
        'web search',
      ].sort(),
    );
    expect(wrong.filter(({ remedy = '' }) => remedy.length < 15)).toEqual([]);
    const text = JSON.stringify(findings);
    expect(text).not.toMatch(/Wintermute|ghp_revoked|sk-wrong|pcsk_wrong|k3#Zq9/);
    console.info(
      `17 things wrong, ${wrong.length} found, ${wrong.filter(({ remedy }) => remedy !== undefined).length} with what to do`,
    );
  });

  it.each([
    ['a setting that is no number', () => ({ FAULTLINE_PORT: 'abc' }), 'configuration', /FAULTLINE_PORT/],
    [
      'a server without its addresses',
      () => ({
        FAULTLINE_PRESET: 'server',
        FAULTLINE_DATABASE_URL: '',
        FAULTLINE_JOB_QUEUE: 'bullmq',
      }),
      'configuration',
      /FAULTLINE_DATABASE_URL[\s\S]*FAULTLINE_REDIS_URL/,
    ],
    ['a token that may read no logs', () => github('/scopes'), 'github', /gist/],
    ['calls that are used up', () => github('/used-up'), 'github', /used up until/],
    ['an address that is not GitHub', () => github('/other'), 'github', /not the GitHub API/],
    [
      'an address that is not Jenkins',
      () => ({ FAULTLINE_JENKINS_URL: `${refusing.url}/other` }),
      'jenkins',
      /not Jenkins/,
    ],
  ])('finds %s', async (_what, environment, name, says) => {
    const findings = await diagnose(FOLDER, {
      ...createBrokenSettings(),
      ...missing(),
      ...environment(),
    });
    const found = findings.find((finding) => finding.name === name && finding.state === 'wrong');
    expect(found?.says).toMatch(says);
    expect(found?.remedy?.length).toBeGreaterThan(15);
  });

  it('finds a path that is not a data directory', async () => {
    const file = join(FOLDER, 'file');
    writeFileSync(file, '');
    const findings = await diagnose(file, { ...createBrokenSettings(), ...missing() });
    expect(findings.find(({ name }) => name === 'data directory')).toMatchObject({
      state: 'wrong',
      says: expect.stringContaining('a file is in the way'),
    });
  });

  it('reports no problem if everything responds correctly', async () => {
    const well = { FAULTLINE_JENKINS_URL: `${refusing.url}/well`, ...github('/well') };
    const findings = await diagnose(FOLDER, { ...createBrokenSettings(), ...missing(), ...well });
    const states = Object.fromEntries(findings.map(({ name, state }) => [name, state]));
    expect(states).toMatchObject({ node: 'ok', git: 'ok', github: 'ok', jenkins: 'ok' });
    expect(findings.find(({ name }) => name === 'github')?.says).toBe('4999 of 5000 calls left this hour');
  });
});

const github = (path: string) => ({ FAULTLINE_GITHUB_URL: `${refusing.url}${path}` });
/** What is not looked at here takes its time to be found missing. */
const missing = () => ({
  FAULTLINE_REDIS_URL: '',
  FAULTLINE_MONGODB_URL: '',
  FAULTLINE_PINECONE_INDEX: '',
  FAULTLINE_ANALYST: 'rules',
  FAULTLINE_EMBEDDER: 'hashing',
});

function findClosedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 1));
    });
  });
}
