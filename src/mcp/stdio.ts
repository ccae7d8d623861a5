import { type Readable, Transform, type Writable } from 'node:stream';
import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import { ProtocolErrorCode, type RequestMethod, type Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio as serveTransport } from '@modelcontextprotocol/server/stdio';
import { ZodError } from 'zod';
import { parseJson } from '../lib/text.ts';
import type { Logger } from '../ports/telemetry.ts';
import { createNewServer, createRefusal } from './server.ts';

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
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
] as const satisfies RequestMethod[];

/** The maximum size of a message, in bytes. The largest message is an escaped pasted log. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** The time limit of a call, in milliseconds. No tool takes that long. */
const CALL_MS = 60_000;

/**
 * Serves one agent over standard input and output, until the agent closes the connection or `signal` aborts.
 * The agent's first message says which protocol it speaks: that of 2026-07-28, or the former one.
 */
export async function serveStdio(
  backend: Backend,
  { input, output, logger, signal }: StdioOptions,
): Promise<void> {
  const refuse = (code: ProtocolErrorCode, message: string) => {
    logger.warn({ reason: message }, 'a message of the agent was not understood');
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`);
  };
  const lines = input.pipe(
    createLineFilter(() => refuse(ProtocolErrorCode.ParseError, 'A line is not JSON.')),
  );
  const ended = Promise.withResolvers<void>();
  for (const event of ['end', 'close', 'error'] as const) lines.once(event, () => ended.resolve());
  // The agent disconnected, so no one reads the output.
  output.once('error', () => ended.resolve());
  signal.addEventListener('abort', () => ended.resolve(), { once: true });
  const served = serveTransport(() => createForwardingServer(backend), {
    transport: new StdioServerTransport(lines, output, { maxBufferSize: MAX_MESSAGE_BYTES }),
    onerror: (error) => {
      if (error instanceof ZodError)
        refuse(ProtocolErrorCode.InvalidRequest, 'A line is not a JSON-RPC 2.0 message.');
      else logger.warn({ error }, 'a message of the agent could not be answered');
    },
  });
  await ended.promise;
  await served.close();
}

/** Creates a server that passes every request on to the provider of the tools. */
function createForwardingServer(backend: Backend): Server {
  const server = createNewServer();
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
    const options = { signal: mcpReq.signal, timeout: CALL_MS };
    return await backend((client) => client.callTool({ name, arguments: args }, options)).catch(
      (error: unknown) => {
        if (error instanceof ProtocolError) throw error;
        return createRefusal(error);
      },
    );
  });
  for (const method of PASSED_ON) {
    server.setRequestHandler(method, async ({ params }, { mcpReq }) => {
      const options = { signal: mcpReq.signal, timeout: CALL_MS };
      return await backend((client) => client.request({ method, params: params ?? {} }, options));
    });
  }
  return server;
}

/**
 * Creates a filter that lets only lines of JSON through and calls `refuse` for each other one, because the
 * protocol's transport skips those in silence. It ends with an error at a line that is too long.
 */
function createLineFilter(refuse: () => void): Transform {
  let rest = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = Buffer.concat([rest, chunk]).toString('latin1').split('\n');
      rest = Buffer.from(lines.pop() ?? '', 'latin1');
      for (const line of lines) {
        const bytes = Buffer.from(line, 'latin1');
        if (line.trim() === '') continue;
        if (parseJson(bytes.toString()) === undefined) refuse();
        else this.push(Buffer.concat([bytes, Buffer.from('\n')]));
      }
      done(rest.length > MAX_MESSAGE_BYTES ? new Error('A line is longer than 4 MB.') : null);
    },
  });
}
