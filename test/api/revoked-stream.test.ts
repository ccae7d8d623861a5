import { PassThrough } from 'node:stream';
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { enforceAccess } from '../../src/api/access.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { Principal } from '../../src/domain/review.ts';

test.each([
  ['is revoked', new TriageError('unauthenticated', 'The token was revoked.'), true],
  ['loses the role', { name: 'ada', roles: ['ingest'] } satisfies Principal, true],
  [
    'cannot be looked up',
    new TriageError('storage-failed', 'The database does not answer.', { retryable: true }),
    false,
  ],
])('an event stream ends only if its token is no longer valid: the token %s', async (_how, later, ends) => {
  let answer: Principal | TriageError = { name: 'ada', roles: ['read'] };
  const find = async () => {
    if (answer instanceof TriageError) throw answer;
    return answer;
  };
  const app = fastify();
  const holders = {
    find,
    show: () => Promise.reject(new Error('no')),
    findByDigest: async () => null,
    forget: () => undefined,
  };
  enforceAccess(app, { holders, sessions: { find }, count: async () => undefined, lookAgainMs: 20 });
  app.get('/events', { config: { access: { role: 'read' } } }, (_request, reply) => {
    const stream = new PassThrough();
    stream.write(': begins\n\n');
    return reply.header('content-type', 'text/event-stream; charset=utf-8').send(stream);
  });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const gone = new AbortController();
    const response = await fetch(`${address}/events`, {
      headers: { authorization: 'Bearer x' },
      signal: gone.signal,
    });
    answer = later;
    const timer = setTimeout(() => gone.abort('goes on'), 500);
    const end = await response.text().then(
      () => 'ended',
      (error: unknown) => (error === 'goes on' ? 'goes on' : 'ended'),
    );
    clearTimeout(timer);
    expect(end).toBe(ends ? 'ended' : 'goes on');
  } finally {
    app.server.closeAllConnections();
    await app.close();
  }
});
