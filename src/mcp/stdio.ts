import type { Readable, Writable } from 'node:stream';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { ZodError, type z } from 'zod';
import { getErrorMessage } from '../domain/errors.ts';
import type { Logger } from '../ports/telemetry.ts';
import { createNewServer, createRefusal } from './server.ts';
import { RpcError } from './tool.ts';

/**
 * The current provider of the tools: this process, or a service. Throws TriageError if none can be reached.
 */
export type Backend = <Value>(work: (client: Client) => Promise<Value>) => Promise<Value>;

export interface StdioOptions {
  readonly input: Readable;
  /** The stream to which only messages of the protocol are written. */
  readonly output: Writable;
  readonly logger: Logger;
  /** The signal that ends it. */
  readonly signal: AbortSignal;
}

/** Requests that are passed on unchanged to the provider of the tools. */
const PASSED_ON = [
  ListToolsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
  ListPromptsRequestSchema,
  GetPromptRequestSchema,
];
type Passed = z.output<(typeof PASSED_ON)[number]>;

/** The maximum size of a message, in bytes. The largest message is an escaped pasted log. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** The time limit of a call, in milliseconds. No tool takes that long. */
const CALL_MS = 60_000;

/**
 * Serves one agent over standard input and output, until the agent closes the connection or `signal` aborts.
 */
export async function serveStdio(
  backend: Backend,
  { input, output, logger, signal }: StdioOptions,
): Promise<void> {
  const server = createNewServer();
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params: { name, arguments: args = {} } }, extra) => {
      const call = async (client: Client) =>
        await client.callTool({ name, arguments: args }, undefined, {
          signal: extra.signal,
          timeout: CALL_MS,
        });
      return await forward(backend, call).catch((error: unknown) => {
        if (error instanceof RpcError) throw error;
        return createRefusal(error);
      });
    },
  );
  for (const schema of PASSED_ON) {
    server.setRequestHandler(schema, async ({ method, params }: Passed, extra) =>
      forward(backend, async (client) => {
        return await client.request({ method, params }, ResultSchema, {
          signal: extra.signal,
          timeout: CALL_MS,
        });
      }),
    );
  }
  server.onerror = (error) => {
    logger.warn({ reason: getErrorMessage(error) }, 'a message of the agent was not understood');
    const code =
      error instanceof SyntaxError
        ? ErrorCode.ParseError
        : error instanceof ZodError
          ? ErrorCode.InvalidRequest
          : null;
    if (code === null) return;
    const message =
      code === ErrorCode.ParseError ? 'A line is not JSON.' : 'A line is not a JSON-RPC 2.0 message.';
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`);
  };
  const ended = Promise.withResolvers<void>();
  server.onclose = () => ended.resolve();
  for (const event of ['end', 'close'] as const) input.once(event, () => ended.resolve());
  // The agent disconnected, so no one reads the output.
  output.once('error', () => ended.resolve());
  signal.addEventListener('abort', () => ended.resolve(), { once: true });
  await server.connect(new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES }));
  await ended.promise;
  await server.close();
}

/**
 * Returns the answer of the provider of the tools, or its error. The code that the protocol's client puts
 * before the message of an error is removed.
 */
async function forward<Value>(backend: Backend, work: (client: Client) => Promise<Value>): Promise<Value> {
  try {
    return await backend(work);
  } catch (error) {
    if (error instanceof McpError)
      throw new RpcError(error.code, error.message.replace(/^MCP error -?\d+: /, ''));
    throw error;
  }
}
