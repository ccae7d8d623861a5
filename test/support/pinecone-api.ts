import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson, startLoopback } from './loopback-server.ts';
import { createOperations, expectRefusal, type Reply } from './pinecone-operations.ts';
import { API_VERSION } from './pinecone-schema.ts';
import { createPineconeSpaces, type Spaces } from './pinecone-spaces.ts';

/** The reaction to the next request of the data plane, or to all of them. */
export type PineconeScript =
  | { readonly do: 'answer' }
  | {
      readonly do: 'status';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    }
  | { readonly do: 'body'; readonly body: string }
  | { readonly do: 'hang' }
  | { readonly do: 'reset' };

export interface PineconeIndexOptions {
  readonly dimension?: number;
  readonly metric?: string;
  readonly ready?: boolean;
  /** The host of the index according to the control plane. The server's own address if absent. */
  readonly host?: string;
}

export interface PineconeApi {
  /** The URL of the control plane. The data plane has the same one. */
  readonly url: string;
  readonly requests: Awaited<ReturnType<typeof startLoopback>>['requests'];
  /** The reasons for every request that the real service would refuse. Tests usually expect none. */
  readonly refusals: readonly string[];
  readonly spaces: Spaces;
  /**
   * Sets the reactions to the next requests, one for each. The last one is repeated. With `everything`, also
   * those of the control plane.
   */
  script(scripts: readonly PineconeScript[], everything?: boolean): void;
  setIndex(options: PineconeIndexOptions | null): void;
  close(): Promise<void>;
}

export const PINECONE_KEY = 'pcsk_test_0123456789';
export const PINECONE_INDEX = 'faultline-test';
const MAX_BODY = 2 * 1024 * 1024;
const MAX_ADDRESS = 8_000;

/**
 * Starts a small Pinecone server over real HTTP. It refuses what the real one refuses, and makes a write
 * visible after `lagMs`.
 */
export async function startPineconeApi(
  options: PineconeIndexOptions & { readonly lagMs?: number; readonly lsn?: boolean } = {},
) {
  const refusals: string[] = [];
  const spaces = createPineconeSpaces(options.lagMs ?? 0);
  let index: PineconeIndexOptions | null = options;
  let scripts: readonly PineconeScript[] = [{ do: 'answer' }];
  let controlToo = false;
  const server = await startLoopback((request, response) => {
    void answer(request, response).catch((error: unknown) =>
      send(response, expectRefusal(500, String(error))),
    );
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const control = request.url?.startsWith('/indexes') ?? false;
    const body = await readAll(request);
    if (!control || controlToo) {
      const [script = { do: 'answer' as const }, ...later] = scripts;
      if (later.length > 0) scripts = later;
      if (playsTo(script, response)) return;
    }
    send(response, control ? (catchRefusal(request, body) ?? describe(request)) : replyToData(request, body));
  }

  function replyToData(request: IncomingMessage, body: Buffer): Reply {
    if (index === null) return expectRefusal(404, 'no such index');
    return catchRefusal(request, body) ?? serve(request, body.toString('utf8'), index.dimension ?? 512);
  }

  function send(response: ServerResponse, { status, body, headers, refusal }: Reply): void {
    if (refusal !== undefined) refusals.push(refusal);
    sendJson(response, status, body, headers);
  }

  function describe(request: IncomingMessage): Reply {
    if (request.method !== 'GET' || request.url !== `/indexes/${PINECONE_INDEX}` || index === null) {
      return {
        status: 404,
        body: { status: 404, error: { code: 'NOT_FOUND', message: 'Resource not found' } },
      };
    }
    const { dimension = 512, metric = 'cosine', ready = true, host = server.url } = index;
    const body = {
      name: PINECONE_INDEX,
      host,
      status: { ready, state: ready ? 'Ready' : 'Initializing' },
      deployment: { deployment_type: 'managed', cloud: 'aws', region: 'us-east-1' },
      schema: { fields: { values: { type: 'dense_vector', dimension, metric } } },
      deletion_protection: 'disabled',
      tags: null,
    };
    return { status: 200, body };
  }

  function serve(request: IncomingMessage, text: string, dimension: number): Reply {
    const { pathname, searchParams } = new URL(request.url ?? '/', server.url);
    const answers = createOperations(spaces, dimension)[`${request.method} ${pathname}`];
    if (answers === undefined) return expectRefusal(404, `${request.method} ${pathname}`);
    const ids = searchParams.has('ids') ? { ids: searchParams.getAll('ids') } : {};
    const asked: unknown =
      request.method === 'GET' ? { ...Object.fromEntries(searchParams), ...ids } : JSON.parse(text);
    const reply = answers(asked);
    return options.lsn === false ? { status: reply.status, body: reply.body } : reply;
  }

  return {
    url: server.url,
    requests: server.requests,
    refusals,
    spaces,
    script: (next, everything = false) => {
      scripts = next;
      controlToo = everything;
    },
    setIndex: (next) => {
      index = next;
    },
    close: () => server.close(),
  } satisfies PineconeApi;
}

function catchRefusal({ headers, url = '' }: IncomingMessage, body: Buffer): Reply | null {
  if (headers['api-key'] !== PINECONE_KEY) return { status: 401, body: 'Invalid API Key' };
  if (headers['x-pinecone-api-version'] !== API_VERSION)
    return expectRefusal(400, 'wrong X-Pinecone-Api-Version');
  return body.length > MAX_BODY || url.length > MAX_ADDRESS
    ? expectRefusal(413, 'message length too large')
    : null;
}

/** Tells whether the script completed the response. */
function playsTo(script: PineconeScript, response: ServerResponse): boolean {
  switch (script.do) {
    case 'answer':
      return false;
    case 'hang':
      return true;
    case 'reset':
      response.destroy();
      return true;
    case 'body':
      response.writeHead(200, { 'content-type': 'application/json' }).end(script.body);
      return true;
    case 'status':
      response.writeHead(script.status, { 'content-type': 'application/json', ...script.headers });
      response.end(script.body ?? JSON.stringify({ code: 8, message: 'scripted', details: [] }));
      return true;
  }
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
