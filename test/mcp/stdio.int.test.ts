import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFaultlineProcess } from '../cli/faultline.ts';
import { readCapturedFailure } from '../support/captured-failures.ts';
import { startLoopback } from '../support/loopback-server.ts';
import { call, connectAgentOverStdio } from './agent.ts';

const HELLO = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'agent', version: '1' },
};
const folder = () => mkdtempSync(join(tmpdir(), 'faultline-mcp-'));

describe('faultline mcp', () => {
  it('explains a pasted log without an installation, and offers nothing else', async () => {
    const client = await connectAgentOverStdio(['--data', folder()]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['explain_log']);
    const { text } = await call(client, 'explain_log', {
      log: readCapturedFailure('cart-discount-rounding').log,
    });
    expect(text).toContain('Test failure · wrong value');
    expect(text).toMatch(/^30 {2}.*43\.43/m);
    await client.close();
  });

  it('writes only the protocol to standard output, and ends when the agent closes its input', async () => {
    const messages = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    ];
    const input = `${messages.map((message) => JSON.stringify(message)).join('\n')}\nthis is no message\n`;
    const held = await runFaultlineProcess(['mcp', '--data', folder()], { input });
    expect(held.code).toBe(0);
    const answers = held.stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(answers).toContainEqual(
      expect.objectContaining({
        jsonrpc: '2.0',
        id: 1,
        result: expect.objectContaining({ serverInfo: expect.objectContaining({ name: 'faultline' }) }),
      }),
    );
    expect(held.stderr).toContain('only pasted logs can be explained; read-only');
    expect(held.stderr).not.toContain('    at ');
  });

  it('reports as a tool error that the service is down or refuses', async () => {
    const away = await connectAgentOverStdio(['--url', 'http://127.0.0.1:9', '--token', 'x']);
    const answer = await call(away, 'list_failures');
    expect(answer.failed).toBe(true);
    expect(answer.text).toMatch(
      /^Cannot reach Faultline at http:\/\/127\.0\.0\.1:9 .*faultline serve Next: Tell the person/,
    );
    await away.close();

    const server = await startLoopback((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { code: 'unauthenticated', message: 'The token is invalid.' } }));
    });
    const refused = await connectAgentOverStdio(['--url', server.url, '--token', 'x']);
    expect(await call(refused, 'list_failures')).toEqual({
      text: 'The token is invalid. Next: Tell the person: the token is not accepted.',
      failed: true,
    });
    await refused.close();
    await server.close();
  });
});
