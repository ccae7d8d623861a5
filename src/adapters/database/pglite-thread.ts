import { once } from 'node:events';
import { extname } from 'node:path';
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';

/** The embedded database in a thread of its own, so that no statement holds up the event loop of the service. */
export interface PgliteThread {
  /** A connection for pg's client. All of them lead to one session, so there must be one at a time. */
  connect(): Duplex;
  /** Ends the database in order, and then the thread. */
  close(): Promise<void>;
}

type Settle = (reply: Uint8Array | Error) => void;

/** Opens the database in the directory, making it where the directory is empty. Throws what PGlite throws. */
export async function startPgliteThread(dataDir: string): Promise<PgliteThread> {
  const worker = new Worker(new URL(`./pglite-worker${extname(import.meta.url)}`, import.meta.url), { workerData: { dataDir } });
  const exited = new Promise<void>((settle) => worker.once('exit', () => settle()));
  const ended = () => new Error('The thread of the embedded database has ended');
  await Promise.race([once(worker, 'message'), exited.then(() => Promise.reject(ended()))]);
  const waiting: Settle[] = [];
  let broken: Error | null = null;
  const fail = (error: Error) => {
    broken ??= error;
    for (const settle of waiting.splice(0)) settle(broken);
  };
  worker.on('message', (reply: Uint8Array) => {
    waiting.shift()?.(reply);
    if (waiting.length === 0) worker.unref();
  });
  worker.on('error', fail);
  exited.then(() => fail(ended()));
  // A database that nobody waits for keeps no process alive.
  worker.unref();
  const send = (request: Uint8Array, settle: Settle) => {
    if (broken !== null) {
      settle(broken);
      return;
    }
    worker.ref();
    waiting.push(settle);
    worker.postMessage(request);
  };
  return {
    connect: () => new PgliteConnection(send),
    // Of a thread that has ended by itself nothing is left to wait for.
    close: async () => {
      worker.ref();
      worker.postMessage('close');
      await exited;
    },
  };
}

const TERMINATE = 'X'.charCodeAt(0);

/** What pg's client takes for a socket. The messages of one statement are written together, so they make one way to the thread and back. */
class PgliteConnection extends Duplex {
  readonly #send: (request: Uint8Array, settle: Settle) => void;

  constructor(send: (request: Uint8Array, settle: Settle) => void) {
    super();
    this.#send = send;
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#exchange(chunk, done);
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#exchange(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  #exchange(request: Uint8Array, done: (error?: Error | null) => void): void {
    // The session outlives the client that says goodbye: the next one goes on with it.
    if (request[0] === TERMINATE) {
      this.push(null);
      done();
      return;
    }
    this.#send(request, (reply) => {
      if (reply instanceof Error) done(reply);
      else {
        this.push(reply);
        done();
      }
    });
  }
}
