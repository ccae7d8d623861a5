import { once } from 'node:events';
import { request } from 'node:http';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { expect, test, vi } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { createEmptyHttpDeps, createRecordingLogger, type LogLine } from '../support/http-deps.ts';

const config = { access: { open: 'for this test' } } as const;

/** Routes whose clients disconnect before they get an answer. */
function addUnansweredRoute(app: FastifyInstance): void {
  app.post('/stream', { config, schema: { hide: true } }, (_request, reply) => {
    void reply.header('content-type', 'text/event-stream').send(new PassThrough());
  });
  for (const [path, error] of [
    ['/stopped', new TriageError('cancelled', 'The answer was stopped.')],
    ['/broken', new Error('a fault of ours')],
  ] as const)
    app.post(path, { config, schema: { hide: true } }, async (_request, reply) => {
      await once(reply.raw, 'close');
      throw error;
    });
}

test.each([
  ['/stream', 'info', 'the client disconnected'],
  ['/stopped', 'info', 'the client disconnected'],
  ['/broken', 'error', 'request failed'],
])('a client that disconnects from %s is logged at level %s', async (path, level, message) => {
  const log: LogLine[] = [];
  const app = await buildHttp(
    createEmptyHttpDeps({ logger: createRecordingLogger(log), routes: [addUnansweredRoute] }),
  );
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { 'content-type': 'application/json' };
  const asking = request(`${address}${path}`, { method: 'POST', headers }).on('error', () => undefined);
  asking.end('{}');
  await sleep(100);
  asking.destroy();

  await vi.waitFor(() =>
    expect(log.filter(({ fields }) => 'code' in fields)).toEqual([
      expect.objectContaining({ level, message }),
    ]),
  );
  await app.close();
});
