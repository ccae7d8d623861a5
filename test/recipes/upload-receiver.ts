import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LoopbackServer, startLoopback } from '../support/loopback-server.ts';

/** What a recipe sent: where, with which credential, and all of it as text. */
export interface Sent {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
  /** Of an upload, as multipart or JSON, or Jenkins' event; null of what is asked of TeamCity. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** A server in place of Faultline, and of TeamCity, that keeps what it is sent. */
export interface UploadReceiver {
  readonly url: string;
  /** Gives what came since it was asked last. */
  take(): Sent[];
  /** Answers paths of TeamCity; the others are uploads. */
  pages: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/** The path of the script that recipes fetch. */
export const SCRIPT = '/faultline-upload';
const UPLOADER = join(import.meta.dirname, '../../src/api/faultline-upload.sh');

export async function startUploadReceiver(): Promise<UploadReceiver> {
  const sent: Sent[] = [];
  const server: LoopbackServer = await startLoopback(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { url: path = '', headers } = request;
    const metadata = await readMetadata(path, body, headers['content-type'] ?? '');
    const besides = Object.entries(headers).filter(([name]) => name !== 'authorization');
    sent.push({
      path,
      authorization: headers.authorization ?? '',
      body: `${JSON.stringify(besides)}\n${body}`,
      metadata,
    });
    const page = path === SCRIPT ? readFileSync(UPLOADER) : receiver.pages.get(path);
    if (metadata !== null) response.writeHead(202).end('{"buildId":"bld_1","jobId":"job_1"}');
    else response.writeHead(page === undefined ? 404 : 200).end(page);
  });
  const receiver: UploadReceiver = {
    url: server.url,
    take: () => sent.splice(0),
    pages: new Map(),
    close: server.close,
  };
  return receiver;
}

async function readMetadata(
  path: string,
  body: Buffer<ArrayBuffer>,
  type: string,
): Promise<Record<string, unknown> | null> {
  if (path === '/webhooks/jenkins') return JSON.parse(body.toString());
  if (path !== '/api/builds') return null;
  if (type.startsWith('application/json')) return JSON.parse(body.toString()).metadata;
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const metadata = form.get('metadata');
  return JSON.parse(typeof metadata === 'string' ? metadata : ((await metadata?.text()) ?? ''));
}
