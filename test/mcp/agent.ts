import { resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { CapturedFailure } from '../support/captured-failures.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
/** The protocols that are served: that of 2026-07-28 without a handshake, and the former one with it. */
export const PROTOCOLS = ['2026-07-28', '2025-11-25'] as const;
export type ProtocolVersion = (typeof PROTOCOLS)[number];

/** An agent's client, as its maker ships it. */
export async function connectAgentOverHttp(
  address: string,
  token: string,
  query = '',
  version: ProtocolVersion = '2026-07-28',
): Promise<Client> {
  const headers = { authorization: `Bearer ${token}` };
  const url = new URL(`/mcp${query}`, address);
  return await connectClient(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), version);
}

/** The same, with a server that it starts itself. */
export async function connectAgentOverStdio(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  version: ProtocolVersion = '2026-07-28',
): Promise<Client> {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...environment };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    env,
    stderr: 'ignore',
  });
  return await connectClient(transport, version);
}

async function connectClient(transport: Transport, version: ProtocolVersion): Promise<Client> {
  // Without a pin, a client that fell back to the former protocol would pass as well.
  const mode = version === '2026-07-28' ? { pin: version } : 'legacy';
  const client = new Client({ name: 'agent', version: '1.0.0' }, { versionNegotiation: { mode } });
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
      const words = readRow(lines[number - 1] ?? '');
      return (
        words.length > 3 &&
        text.split('\n').some((row) => row.startsWith(`${number}  `) && row.includes(words))
      );
    }),
  );
  return proven && [category, ...alsoOk].some((one) => text.includes(one));
}

/** The beginning of what a person sees of a line: no time, no colours, and of a redrawn one what was there last. */
function readRow(row: string): string {
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
