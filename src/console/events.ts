import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { protect } from './headers.ts';

/** Proxies end connections that are silent for long. */
const HEARTBEAT_MS = 15_000;
/** When a browser comes again after a broken connection. */
const RETRY_MS = 3_000;

/** Tells one event; text of several lines goes as several lines of data. With an id a reader that comes again goes on after it. */
export type Emit = (event: string, text: string, id?: string) => void;

/** Answers with server-sent events until `work` ends or the reader goes away, which aborts its signal. */
export function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (emit: Emit, signal: AbortSignal) => Promise<void>,
): FastifyReply {
  const stream = new PassThrough();
  const gone = new AbortController();
  const write = (text: string) => void (stream.writable && stream.write(text));
  const emit: Emit = (event, text, id) => {
    const data = text.split('\n').map((line) => `data: ${line}\n`);
    write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\n${data.join('')}\n`);
  };
  const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS);
  stream.on('error', () => undefined); // a broken connection is the reader going away
  stream.on('close', () => {
    clearInterval(heartbeat);
    gone.abort();
  });
  write(`retry: ${RETRY_MS}\n\n`);
  protect(reply);
  reply.header('content-type', 'text/event-stream; charset=utf-8').header('x-accel-buffering', 'no');
  work(emit, gone.signal)
    .catch((error: unknown) => {
      if (!gone.signal.aborted) request.log.warn({ error }, 'a stream of events broke off');
    })
    .finally(() => stream.end());
  return reply.send(stream);
}
