import type { Readable, Writable } from 'node:stream';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '../domain/errors.ts';
import type { Logger } from '../ports/logger.ts';
import { INSTRUCTIONS, refusal, SERVER_NAME, SERVER_VERSION } from './server.ts';

/** Whoever has the tools now: this process, or a service. Throws TriageError where nobody can be asked. */
export type Backend = <Value>(work: (client: Client) => Promise<Value>) => Promise<Value>;

export interface StdioOptions {
  readonly input: Readable;
  /** Only the protocol is written here. */
  readonly output: Writable;
  readonly logger: Logger;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** A message holds a pasted log at most, escaped. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Longer than any tool takes. */
const CALL_MS = 60_000;

/** Serves one agent over standard input and output, until the agent closes its end or `signal` says so. */
export async function serveStdio(backend: Backend, { input, output, logger, signal }: StdioOptions): Promise<void> {
  const server = new Server(
    { name: SERVER_NAME, version: SERVER_VERSION, title: 'Faultline' },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, async (_request, extra) =>
    backend(async (client) => await client.listTools(undefined, { signal: extra.signal, timeout: CALL_MS })),
  );
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, extra) => {
    try {
      return await backend(async (client) => {
        return await client.callTool({ name, arguments: args }, undefined, { signal: extra.signal, timeout: CALL_MS });
      });
    } catch (error) {
      return refusal(error);
    }
  });
  server.onerror = (error) => logger.warn({ reason: messageOf(error) }, 'a message of the agent was not understood');
  const ended = Promise.withResolvers<void>();
  server.onclose = () => ended.resolve();
  for (const event of ['end', 'close'] as const) input.once(event, () => ended.resolve());
  // The agent is gone: nobody reads what is written.
  output.once('error', () => ended.resolve());
  signal.addEventListener('abort', () => ended.resolve(), { once: true });
  await server.connect(new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES }));
  await ended.promise;
  await server.close();
}
