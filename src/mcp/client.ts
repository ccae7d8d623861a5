import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { JSONRPCErrorResponseSchema } from '@modelcontextprotocol/core';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { RELEASE } from '../domain/trust.ts';
import { readText } from '../lib/http-body.ts';
import { parseJson } from '../lib/text.ts';
import type { Logger } from '../ports/telemetry.ts';
import { createMcpServer, createOffer, SERVER_NAME } from './server.ts';
import type { McpDeps } from './tool.ts';

export interface RemoteOptions {
  readonly url: string;
  readonly token: string;
  /** True to request `submit_feedback` too, for a token that may review. */
  readonly feedback: boolean;
}

const TIMEOUT_MS = 60_000;
/**
 * The maximum size of a response, in bytes. An answer has at most eight kilobytes; a list of tools has a few
 * more.
 */
const MAX_BYTES = 1024 * 1024;
const Refusal = z.object({ error: z.object({ message: z.string() }) });

/** Connects to the tools of this process. */
export async function connectHere(deps: McpDeps, logger: Logger): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await createMcpServer(createOffer(deps), logger).connect(theirs);
  const client = createNewClient('legacy');
  await client.connect(ours);
  return client;
}

/**
 * Connects to a running service. Throws TriageError with the service's own message if it refuses, and
 * `upstream-failed` if there is no answer.
 */
export async function connectService({ url, token, feedback }: RemoteOptions): Promise<Client> {
  const path = feedback ? '/mcp?allow=feedback' : '/mcp';
  if (!URL.canParse(path, url))
    throw new TriageError(
      'invalid-config',
      `${url} is not a valid URL; use one such as http://127.0.0.1:4600`,
    );
  const transport = new StreamableHTTPClientTransport(new URL(path, url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch: async (address, init) => await ask(address, init, url),
  });
  // A service of an older release serves the former protocol only.
  const client = createNewClient('auto');
  await client.connect(transport).catch((error: unknown) => {
    // While it asks for the protocol, the client wraps errors in its own.
    throw error instanceof Error && error.cause instanceof TriageError ? error.cause : error;
  });
  return client;
}

function createNewClient(mode: 'auto' | 'legacy'): Client {
  return new Client({ name: `${SERVER_NAME}-cli`, version: RELEASE }, { versionNegotiation: { mode } });
}

async function ask(address: string | URL, init: RequestInit | undefined, url: string): Promise<Response> {
  const signals = [AbortSignal.timeout(TIMEOUT_MS), ...(init?.signal == null ? [] : [init.signal])];
  // The token must not be sent to the target of a redirect.
  const response = await fetch(address, {
    ...init,
    redirect: 'error',
    signal: AbortSignal.any(signals),
  }).catch((cause: unknown) => {
    const message = `Cannot reach Faultline at ${url} (${getErrorMessage(cause)}). Start it with: faultline serve`;
    throw new TriageError('upstream-failed', message, { cause });
  });
  const text = await readText(response.body, MAX_BYTES);
  if (text === null) throw new TriageError('too-large', `The response of ${url} is too large.`);
  if (!response.ok && response.status !== 405 && !isProtocolError(text))
    throw createRefusedError(response.status, text);
  const { status, headers } = response;
  return new Response(text === '' || status === 202 ? null : text, {
    status,
    headers: { 'content-type': headers.get('content-type') ?? 'application/json' },
  });
}

/** Tells whether a response is an error of the protocol, which its client reads itself. */
function isProtocolError(text: string): boolean {
  return JSONRPCErrorResponseSchema.safeParse(parseJson(text)).success;
}

function createRefusedError(status: number, text: string): TriageError {
  const code =
    status === 401
      ? 'unauthenticated'
      : status === 403
        ? 'forbidden'
        : status === 429
          ? 'rate-limited'
          : 'upstream-failed';
  const refusal = Refusal.safeParse(parseJson(text));
  return new TriageError(
    code,
    refusal.success ? refusal.data.error.message : `The service answered ${status}.`,
  );
}
