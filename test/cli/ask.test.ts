import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openServerClient } from '../../src/cli/ask/ask-clients.ts';
import { sendJson, startLoopback } from '../support/loopback-server.ts';
import { runFaultline } from './faultline.ts';

const CART = resolve(import.meta.dirname, '../fixtures/failures/cart-discount-rounding/log.txt');
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-ask-log-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
const never = new AbortController().signal;

describe('faultline ask', () => {
  it('answers about a log without a database, as Key<tab>value lines, and says where that is kept', async () => {
    const { code, stdout, stderr } = await runFaultline(['ask', CART, 'how did it fail?', '--data', folder]);
    expect(code).toBe(0);
    for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^[A-Z][a-z]+\t./);
    expect(stdout).toMatch(/^Shape\tjourney$/m);
    expect(stdout).toMatch(/^Cites\t\[E\d+\] log\.txt:\d+/m);
    expect(stdout).toMatch(/^Thread\tthr_/m);
    expect(stderr).toContain(`Stored in ${folder}/sessions/thr_`);
  });

  it('continues the session about a log while its content is the same', async () => {
    const log = join(folder, 'build.log');
    await copyFile(CART, log);
    const sessions = join(folder, 'kept');
    const ask = async (...args: string[]) =>
      await runFaultline(['ask', log, ...args, '--session-dir', sessions]);
    await ask('how did it fail?');
    expect((await ask('did it fail before?', '--resume', '--json')).stdout).toContain('"position":2');
    const [file = ''] = await readdir(sessions);
    const session: unknown = JSON.parse(await readFile(join(sessions, file), 'utf8'));
    expect(session).toMatchObject({
      target: { kind: 'log', path: log },
      stack: expect.arrayContaining(['jest']),
      learned: [expect.stringContaining('how did it fail? →')],
      turns: [{ position: 1 }, { position: 2 }],
    });

    await writeFile(log, 'Error: another build\nnpm error code 1\n');
    const changed = await ask('why?', '--resume', '--json');
    expect(changed.stderr).toContain('No conversation about this yet');
    expect((await ask('why?', '--thread', file.replace('.json', ''))).stderr).toContain('has changed since');

    await writeFile(join(sessions, file), JSON.stringify({ ...Object(session), version: 99 }));
    const refused = await ask('why?', '--resume');
    expect(refused.stderr).toContain('has version 99 of the session format; this release reads version 1');
    expect(refused.code).toBe(3);
  });

  it('answers if the data directory cannot be written, and says that nothing is stored', async () => {
    const blocked = join(folder, 'a-file');
    await writeFile(blocked, '');
    const { code, stderr } = await runFaultline(['ask', CART, 'why?', '--data', blocked]);
    expect(code).toBe(0);
    expect(stderr).toContain('Not stored: the data directory cannot be written.');
  });

  it('prints only one JSON object with --json', async () => {
    const { code, stdout, stderr } = await runFaultline(['ask', CART, 'why?', '--json', '--data', folder]);
    expect([code, stderr]).toEqual([0, '']);
    const Answer = z.object({
      ok: z.literal(true),
      kept: z.literal(true),
      text: z.string().min(1),
      citations: z.array(z.object({ id: z.string() })),
    });
    expect(Answer.parse(JSON.parse(stdout)).citations.length).toBeGreaterThan(0);
  });

  it('fails without a question if there is no terminal, and for a thread or session that does not exist', async () => {
    expect(await runFaultline(['ask', 'ana_1'])).toMatchObject({ code: 2, stdout: '' });
    expect((await runFaultline(['ask', CART, 'why?', '--thread', 'thr_1', '--data', folder])).code).toBe(3);
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
