import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CapturedFailure } from '../support/captured-failures.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');

/** An agent's client, as its maker ships it. */
export async function agentOverHttp(address: string, token: string, query = ''): Promise<Client> {
  const headers = { authorization: `Bearer ${token}` };
  return await connected(
    new StreamableHTTPClientTransport(new URL(`/mcp${query}`, address), {
      requestInit: { headers },
    }) as Transport,
  );
}

/** The same, with a server that it starts itself. */
export async function agentOverStdio(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...environment };
  return await connected(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', ...args],
      env,
      stderr: 'ignore',
    }),
  );
}

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1.0.0' });
  await client.connect(transport);
  return client;
}

/** The text of an answer; `failed` where the tool says so. */
export async function call(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<{ text: string; failed: boolean }> {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const parts = Array.isArray(content) ? content : [];
  return {
    text: parts.map((part) => (part.type === 'text' ? String(part.text) : '')).join('\n'),
    failed: isError === true,
  };
}

export interface Search {
  readonly calls: number;
  readonly bytes: number;
  readonly found: boolean;
  readonly text: string;
}

/** What an agent does that knows only where it failed: lists, explains, reads the evidence; it stops as soon as the cause is there. */
export async function findCause(client: Client, repository: string, truth: CapturedFailure): Promise<Search> {
  const asked: string[] = [];
  const ask = async (name: string, args: Record<string, unknown>) => {
    asked.push((await call(client, name, args)).text);
    return asked.at(-1) ?? '';
  };
  const id = /\b(?:ana|bld)_\w+/.exec(await ask('list_failures', { repository }))?.[0] ?? 'none';
  for (const tool of ['get_failure', 'get_evidence']) {
    if (tellsCause(asked.join('\n'), truth)) break;
    await ask(tool, { id });
  }
  const text = asked.join('\n');
  return {
    calls: asked.length,
    bytes: asked.reduce((sum, one) => sum + Buffer.byteLength(one), 0),
    found: tellsCause(text, truth),
    text,
  };
}

/** The expected category, and with its number one of the lines that prove the cause. */
function tellsCause(text: string, { category, alsoOk, mustCite, log }: CapturedFailure): boolean {
  const lines = log.split('\n');
  const proven = mustCite.some(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index).some((number) => {
      const words = saidOn(lines[number - 1] ?? '');
      return (
        words.length > 3 &&
        text.split('\n').some((row) => row.startsWith(`${number}  `) && row.includes(words))
      );
    }),
  );
  return proven && [category, ...alsoOk].some((one) => text.includes(one));
}

/** The beginning of what a person sees of a line: no time, no colours, and of a redrawn one what was there last. */
function saidOn(row: string): string {
  const shown =
    row
      .replace(/^\S+Z /, '')
      .split('\r')
      .findLast((part) => part.trim() !== '') ?? '';
  return shown
    .replaceAll(/\u001b\[[\d;]*[mK]/g, '')
    .trim()
    .slice(0, 25);
}
