import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import type { TriageJob } from '../../src/domain/triage.ts';
import { createEmptyHttpDeps, TOKENS } from '../support/http-deps.ts';
import { sampleAnalysis } from '../support/sample-analysis.ts';
import { addTokens, createInstallation } from './world.ts';

const TASKS = 'io.modelcontextprotocol/tasks';
const VERSION = '2026-07-28';
const job: TriageJob = {
  buildId: 'bld_1',
  state: 'running',
  attempts: 1,
  retries: 0,
  requested: 1,
  fetched: 1,
  error: null,
  traceparent: null,
  createdAt: '2026-10-12T14:01:02.000Z',
  updatedAt: '2026-10-12T14:01:05.000Z',
};
let state: { job: TriageJob; analyzed: boolean } = { job, analyzed: false };
let app: FastifyInstance;

beforeAll(async () => {
  const { stores, archive } = createInstallation({
    triages: { findByBuild: async () => state.job },
    analyses: { listByBuild: async () => (state.analyzed ? [sampleAnalysis()] : []) },
  });
  const all = addTokens(stores);
  const deps = createEmptyHttpDeps({ stores: all });
  app = await buildHttp({ ...deps, archive: { ...deps.archive, ...archive } });
});
afterAll(() => app.close());

/** Sends one request as a client of the protocol of 2026-07-28, which declares the extension or not. */
async function send(method: string, params: Record<string, unknown>, extensions: object = { [TASKS]: {} }) {
  const name = params.taskId ?? params.name;
  const answer = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      authorization: `Bearer ${TOKENS.admin}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': String(name) }),
    },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': VERSION,
          'io.modelcontextprotocol/clientInfo': { name: 'agent', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': { extensions },
        },
      },
    },
  });
  return answer.json();
}
const getFailure = { name: 'get_failure', arguments: { id: 'bld_1' } };

describe('a call for a build that is being analyzed', () => {
  it('is announced by the server as an extension', async () => {
    const { result } = await send('server/discover', {});

    expect(result.capabilities.extensions).toEqual({ [TASKS]: {} });
  });

  it('returns a task, whose state is that of the build and whose result is the answer', async () => {
    state = { job, analyzed: false };
    const { result: task } = await send('tools/call', getFailure);
    expect(task).toMatchObject({ resultType: 'task', taskId: 'bld_1', status: 'working', ttlMs: null });
    const { result: later } = await send('tasks/get', { taskId: task.taskId });
    expect(later).toMatchObject({ resultType: 'complete', status: 'working', createdAt: job.createdAt });

    state = { job: { ...job, state: 'done' }, analyzed: true };
    const { result: done } = await send('tasks/get', { taskId: task.taskId });
    const { result: direct } = await send('tools/call', getFailure);

    expect(done.status).toBe('completed');
    expect(done.result.content).toEqual(direct.content);
    expect(direct.resultType).toBe('complete');
  });

  it('completes with the error of the tool if the analysis failed', async () => {
    state = { job: { ...job, state: 'failed', error: 'the log is empty' }, analyzed: false };
    const { result } = await send('tasks/get', { taskId: 'bld_1' });

    expect(result).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(result.result.content[0].text).toContain('the log is empty');
  });

  it('goes on if a client cancels its task, because others may wait for it', async () => {
    state = { job, analyzed: false };
    expect((await send('tasks/cancel', { taskId: 'bld_1' })).result).toMatchObject({
      resultType: 'complete',
    });
    expect((await send('tasks/get', { taskId: 'bld_1' })).result.status).toBe('working');
  });

  it('is answered by the tool if the client does not declare the extension', async () => {
    state = { job, analyzed: false };
    const { result } = await send('tools/call', getFailure, {});
    const { error } = await send('tasks/get', { taskId: 'bld_1' }, {});

    expect([result.resultType, result.isError]).toEqual(['complete', true]);
    expect(error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    });
  });

  it.each(['bld_none', 'ana_9f2c', 'github:812'])('has no task %s', async (taskId) => {
    expect((await send('tasks/get', { taskId })).error).toEqual({
      code: -32602,
      message: `There is no task ${taskId}.`,
    });
  });
});
