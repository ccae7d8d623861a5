import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LoopbackServer, sendJson, startLoopback } from '../support/loopback-server.ts';
import { sampleAnalysis } from '../support/sample-analysis.ts';
import { createRunner, type Runner, type Step } from './runner.ts';

const TOKEN = 'flt_0123456789';
const DONE = { state: 'done', error: null };

let runner: Runner;
beforeAll(async () => {
  runner = await createRunner();
});
afterAll(() => runner.close());

let server: LoopbackServer;
let received: string[];
/** What the server answers next, in order; the last one stays. */
let uploads: [number, unknown, Record<string, string>?][];
let answers: [number, unknown, Record<string, string>?][];
beforeEach(async () => {
  received = [];
  uploads = [[202, { buildId: 'bld_1', jobId: 'job_1', links: {} }]];
  answers = [[200, { buildId: 'bld_1', triage: DONE, analyses: [sampleAnalysis()] }]];
  server = await startLoopback((request, response) => void answer(request, response));
});
afterEach(() => server.close());

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const plan = request.method === 'POST' ? uploads : answers;
  if (request.method === 'POST') received.push(Buffer.concat(chunks).toString('latin1'));
  const [status, body, headers] = (plan.length > 1 ? plan.shift() : plan[0]) ?? [500, {}];
  sendJson(response, status, body, headers);
}

function run(step: Step = {}) {
  const given = { 'server-url': `${server.url}/`, token: TOKEN, log: 'build.log', ...step.with };
  return runner.run({ files: { 'build.log': 'FAIL cart total\n' }, ...step, with: given });
}

describe('a step with a server', () => {
  test('uploads the facts of the run, and reports the answer', async () => {
    const event = { pull_request: { number: 7, head: { sha: 'b'.repeat(40), ref: 'cart-tax' } } };
    const { exitCode, outputs, summary, commands } = await run({ event, env: { GITHUB_RUN_ATTEMPT: '2' } });

    expect(exitCode).toBe(0);
    const metadata: unknown = JSON.parse(
      /name="metadata"\r\n\r\n(.*)\r\n/.exec(received[0] ?? '')?.[1] ?? '',
    );
    expect(metadata).toEqual({
      repository: 'shop/api',
      pipeline: 'ci / test',
      number: '812',
      attempt: 2,
      status: 'failed',
      job: 'test',
      branch: 'cart-tax',
      commit: 'b'.repeat(40),
      author: 'ada',
      pullRequest: 7,
      url: 'https://github.example.com/shop/api/actions/runs/289782451',
      startedAt: null,
      finishedAt: null,
    });
    expect(received[0]).toContain('name="log"; filename="build.log.gz"');
    expect(outputs).toMatchObject({
      category: 'TEST_FAILURE',
      confidence: '0.91',
      url: `${server.url}/analyses/ana_9f2c`,
    });
    expect(summary).toContain(`[Open in Faultline](${server.url}/analyses/ana_9f2c)`);
    expect(commands).toEqual([
      expect.objectContaining({ name: 'error', properties: expect.objectContaining({ line: '41' }) }),
    ]);
  });

  test('uploads a passed job with its reports, and does not wait', async () => {
    const files = {
      'build.log': 'ok\n',
      'reports/junit.xml': '<testsuite name="cart"><testcase name="total"/></testsuite>',
    };
    const { exitCode, log, summary, outputs } = await run({
      files,
      with: { 'job-status': 'success', reports: 'reports/*.xml', 'fail-on': 'unanswered' },
    });

    expect(exitCode).toBe(0);
    expect(received[0]).toContain('"status":"passed"');
    expect(received[0]).toContain('name="report"; filename="reports/junit.xml.gz"');
    expect(log).toContain('The job passed. The build was uploaded with 2 files.');
    expect([summary, outputs]).toEqual(['', {}]);
  });

  test('warns if a passing build cannot be uploaded', async () => {
    uploads = [[403, { error: { message: 'This token may not upload.' } }]];
    const { exitCode, commands } = await run({ with: { 'job-status': 'success', 'fail-on': 'unanswered' } });

    expect(exitCode).toBe(0);
    expect(commands).toEqual([
      expect.objectContaining({
        name: 'warning',
        message: expect.stringContaining('This token may not upload.'),
      }),
    ]);
  });

  test('waits while the triage runs', async () => {
    answers.unshift([200, { buildId: 'bld_1', triage: { state: 'running', error: null }, analyses: [] }]);

    expect((await run()).outputs.category).toBe('TEST_FAILURE');
  });

  test('stops waiting at its limit, and prints where the answer will be', async () => {
    answers = [[200, { buildId: 'bld_1', triage: { state: 'queued', error: null }, analyses: [] }]];
    const { exitCode, outputs, commands, summary } = await run({ with: { wait: '1' } });

    expect(exitCode).toBe(0);
    expect(outputs).toMatchObject({ category: '', url: `${server.url}/builds/bld_1` });
    expect(commands).toEqual([expect.objectContaining({ name: 'notice', message: 'No answer within 1 s.' })]);
    expect(summary).toContain(`(${server.url}/builds/bld_1)`);
  });

  test('needs no permission to read if it does not wait', async () => {
    const { exitCode } = await run({ with: { wait: '0' } });

    expect(exitCode).toBe(0);
    expect(server.requests.map(({ method }) => method)).toEqual(['POST']);
  });

  test('retries after a temporary error', async () => {
    uploads.unshift([
      503,
      { error: { code: 'storage-failed', message: 'Not now.' } },
      { 'retry-after': '1' },
    ]);

    expect((await run()).outputs.category).toBe('TEST_FAILURE');
    expect(received.length).toBe(2);
  });

  test.each([
    [401, 'Unknown token.', 'Unknown token.'],
    [403, 'Not for you.', 'needs the roles ingest and read'],
    [409, 'Uploaded before.', 'add the matrix'],
    [413, 'Too large.', 'Too large.'],
  ])(
    'reports a refusal with status %i once, with the message of the server',
    async (status, message, said) => {
      uploads = [[status, { error: { code: 'x', message } }]];
      const { exitCode, commands } = await run();

      expect(exitCode).toBe(0);
      expect(commands).toEqual([
        { name: 'warning', properties: { title: 'Faultline' }, message: expect.stringContaining(said) },
      ]);
      expect(received.length).toBe(1);
    },
  );

  test('sends the token only to the server, whatever the server answers', async () => {
    uploads = [[400, { error: { code: 'x', message: `Bad ${TOKEN}\n::error::spoofed` } }]];
    const refused = await run();
    const elsewhere = await startLoopback((_request, response) => sendJson(response, 200, {}));
    uploads = [[307, {}, { location: `${elsewhere.url}/api/builds` }]];
    const moved = await run({ with: { wait: '0' } });
    await elsewhere.close();

    expect(elsewhere.requests).toEqual([]);
    for (const result of [refused, moved]) expect(JSON.stringify(result)).not.toContain(TOKEN);
    expect(refused.commands.map(({ name }) => name)).toEqual(['warning']);
  });

  test('shows at most ten causes as annotations, and every text of a server as plain text', async () => {
    const hostile = '<script>alert(1)</script>\n::error::spoofed @everyone <!-- faultline -->';
    const main = sampleAnalysis();
    const analyses = Array.from({ length: 30 }, (_, at) => ({
      ...main,
      id: `ana_${at}`,
      answer: { ...main.answer, title: hostile, rootCause: hostile },
    }));
    answers = [[200, { buildId: 'bld_1', triage: DONE, analyses }]];
    const { commands, summary, outputs } = await run();

    expect(commands.length).toBe(10);
    expect(summary).not.toMatch(/<script|<!--|@everyone/);
    expect(summary).toContain('… and 10 more causes.');
    expect(JSON.parse(outputs.json ?? '').length).toBe(20);
    expect(Buffer.byteLength(summary)).toBeLessThan(1024 * 1024);
  });

  test('reports a server that is not Faultline', async () => {
    uploads = [[200, { hello: 'world' }]];

    expect((await run()).commands[0]?.message).toContain(
      'is not a Faultline version that this action supports',
    );
  });
});
