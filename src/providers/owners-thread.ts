import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { TriageError } from '../domain/errors.ts';
import { limitTime } from '../lib/resilience.ts';
import type { CodeOwners, CodeOwnersForm } from './code-owners.ts';

/** The files of a repository, and its CODEOWNERS file. */
export interface OwnersQuestion {
  /** The key of the file, which changes with its content. The file of a known key is not read again. */
  readonly key: string;
  readonly lines: readonly string[];
  readonly form: CodeOwnersForm;
  readonly paths: readonly string[];
}

export interface OwnersAnswer extends Pick<CodeOwners, 'problems'> {
  /** The owners of each path, in order; null if it has none. */
  readonly owned: readonly ReturnType<CodeOwners['findOwners']>[];
}

/**
 * A function that answers a question. Throws `timeout` if that takes too long, and the reason of the signal
 * if it is aborted.
 */
export type OwnersThread = (question: OwnersQuestion, signal: AbortSignal) => Promise<OwnersAnswer>;

/** The time limit of one question in a started thread, in milliseconds. */
const LIMIT_MS = 2_000;
/** The time limit for starting a thread, in milliseconds. A slow start says nothing about the file. */
const START_MS = 10_000;
const MAX_HEAP_MB = 512;

/**
 * Creates a thread that answers one question after the other. It starts with the first question and does not
 * keep the process alive.
 */
export function createOwnersThread(): OwnersThread {
  let thread: OwnersWorker | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (question: OwnersQuestion, signal: AbortSignal): Promise<OwnersAnswer> => {
    signal.throwIfAborted();
    thread ??= start();
    const asked = thread;
    try {
      await limitTime({ limitMs: START_MS, signal }, () => asked.ready);
      return await limitTime({ limitMs: LIMIT_MS, signal }, () => answer(asked.worker, question));
    } catch (error) {
      thread = null;
      void asked.worker.terminate();
      signal.throwIfAborted();
      if (error instanceof TriageError) throw error;
      throw new TriageError('timeout', `CODEOWNERS was not read and matched within ${LIMIT_MS} ms.`, {
        cause: error,
      });
    } finally {
      asked.worker.unref();
    }
  };
  return (question, signal) => {
    const next = last.then(() => ask(question, signal));
    last = next.catch(() => undefined);
    return next;
  };
}

interface OwnersWorker {
  readonly worker: Worker;
  /** Settles once the thread listens; rejected if it cannot. */
  readonly ready: Promise<unknown>;
}

function start(): OwnersWorker {
  const entry = new URL(`./owners-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
  // A caller that waits receives the error as well. Without a caller the worker is simply started again
  // later.
  worker.on('error', () => undefined);
  const ready = once(worker, 'message');
  ready.catch(() => undefined);
  return { worker, ready };
}

async function answer(worker: Worker, question: OwnersQuestion): Promise<OwnersAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<OwnersAnswer>();
  const hear = (message: OwnersAnswer | { readonly failed: string }) =>
    'failed' in message ? fail(message.failed) : resolve(message);
  const fail = (why: string) => reject(new TriageError('internal', `CODEOWNERS could not be read: ${why}.`));
  const stop = (error: Error) => fail(error.message);
  const leave = () => fail('its thread ended');
  worker.ref();
  worker.on('message', hear).on('error', stop).on('exit', leave);
  worker.postMessage(question);
  try {
    return await promise;
  } finally {
    worker.off('message', hear).off('error', stop).off('exit', leave);
  }
}
