import { PassThrough, type Readable } from 'node:stream';
import { messageOf, TriageError } from '../domain/errors.ts';

/** Proxies end connections that are silent for long. */
const HEARTBEAT_MS = 15_000;

export type Emit = (event: string, data: object) => void;

/**
 * Runs work that tells events, as a stream of server-sent events: a comment at once and every 15 s, the events, on failure `error`, and
 * `done` at the end. Where the reader goes away the work's signal is aborted.
 */
export function eventStream(work: (emit: Emit, signal: AbortSignal) => Promise<void>, onError: (error: unknown) => void): Readable {
  const stream = new PassThrough();
  const gone = new AbortController();
  const write = (text: string) => void (stream.writable && stream.write(text));
  const emit: Emit = (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS);
  stream.on('close', () => {
    clearInterval(heartbeat);
    gone.abort(new TriageError('cancelled', 'The client disconnected.'));
  });
  stream.on('error', () => undefined); // a broken connection is the reader going away
  write(': begins\n\n');
  work(emit, gone.signal)
    .catch((error: unknown) => {
      if (gone.signal.aborted) return;
      onError(error);
      emit('error', toldOf(error));
    })
    .finally(() => {
      emit('done', {});
      stream.end();
    });
  return stream;
}

/** What was not thrown on purpose, and a driver's words, are for the log. */
function toldOf(error: unknown): { code: string; message: string; retryable: boolean } {
  const known = error instanceof TriageError && !(error.code === 'storage-failed' && error.cause !== undefined);
  const code = error instanceof TriageError ? error.code : 'internal';
  const message = known ? messageOf(error) : 'Something went wrong. See the server log.';
  return { code, message, retryable: error instanceof TriageError && error.retryable };
}
