import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openServerClient } from '../../src/cli/ask/ask-clients.ts';
import { sendJson, startLoopback } from '../support/loopback-server.ts';
import { runFaultline } from './faultline.ts';

const CART = resolve(import.meta.dirname, '../fixtures/failures/cart-discount-rounding/log.txt');
const never = new AbortController().signal;

describe('faultline ask', () => {
  it('answers about a log without a database, as Key<tab>value lines, and says that nothing is stored', async () => {
    const { code, stdout, stderr } = await runFaultline(['ask', CART, 'how did it fail?']);
    expect(code).toBe(0);
    for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^[A-Z][a-z]+\t./);
    expect(stdout).toMatch(/^Shape\tjourney$/m);
    expect(stdout).toMatch(/^Cites\t\[E\d+\] log\.txt:\d+/m);
    expect(stdout).not.toContain('Thread');
    expect(stderr).toContain('Not stored');
  });

  it('prints only one JSON object with --json', async () => {
    const { code, stdout, stderr } = await runFaultline(['ask', CART, 'why?', '--json']);
    expect([code, stderr]).toEqual([0, '']);
    const Answer = z.object({
      ok: z.literal(true),
      kept: z.literal(false),
      text: z.string().min(1),
      citations: z.array(z.object({ id: z.string() })),
    });
    expect(Answer.parse(JSON.parse(stdout)).citations.length).toBeGreaterThan(0);
  });

  it('is a usage error without a question if there is no terminal, and with a thread if none is stored', async () => {
    expect(await runFaultline(['ask', 'ana_1'])).toMatchObject({ code: 2, stdout: '' });
    expect((await runFaultline(['ask', CART, 'why?', '--thread', 'thr_1'])).code).toBe(2);
    expect((await runFaultline(['ask', '-', 'why?', '--resume'])).code).toBe(2);
  });

  it('reads standard input', async () => {
    const { code, stdout } = await runFaultline(['ask', '-', 'what do I do?', '--json'], {
      input: 'make: *** [all] Error 1\nError: boom\n',
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, shape: 'explanation' });
  });
});

describe('the answer of a service', () => {
  it('is read event by event, wherever the pieces are cut', async () => {
    const stream =
      ': begins\n\nevent: text\ndata: {"text":"Sö "}\n\nevent: text\ndata: {"text":"it is","restart":true}\n\n: still here\n\nevent: error\ndata: {"code":"timeout","message":"No answer within 1 s.","retryable":true}\n\nevent: done\ndata: {}\n\n';
    const server = await startLoopback((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const bytes = Buffer.from(stream);
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    const told: object[] = [];
    const client = openServerClient('github:812', { url: server.url, token: 'x' });
    await expect(
      client.ask('why?', undefined, { onText: (piece) => void told.push(piece) }, never),
    ).rejects.toMatchObject({
      code: 'timeout',
      message: 'No answer within 1 s.',
    });
    expect(told).toEqual([{ text: 'Sö ' }, { text: 'it is', restart: true }]);
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/builds/github%3A812/ask',
      headers: { accept: 'text/event-stream' },
    });
    await server.close();
  });

  it('reports a refusal in the words of the service, and an interruption as an error', async () => {
    const server = await startLoopback((request, response) => {
      if (request.url?.includes('ana_cut'))
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': begins\n\n');
      else
        sendJson(response, 409, { error: { code: 'conflict', message: 'This build has no analysis yet.' } });
    });
    const ask = (id: string) =>
      openServerClient(id, { url: server.url, token: 'x' }).ask('why?', undefined, {}, never);
    await expect(ask('ana_1')).rejects.toMatchObject({
      code: 'conflict',
      message: 'This build has no analysis yet.',
    });
    await expect(ask('ana_cut')).rejects.toMatchObject({ code: 'upstream-failed' });
    await server.close();
    await expect(ask('ana_1')).rejects.toThrow('Start it with: faultline serve');
  });
});
