import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { SourceKind, SourceText } from '../domain/build.ts';
import { getErrorMessage, TriageError, type TriageErrorCode } from '../domain/errors.ts';
import { type BuildReading, readCauses } from './causes/read-causes.ts';
import { decodeSources } from './decode/archive.ts';
import { detectFileType } from './decode/decode.ts';
import { type Surveyed, surveyFiles } from './inventory/inventory.ts';
import { type ArtifactRoom, openArtifact } from './inventory/open-artifact.ts';
import { createMasker, type Masked, type Masker, type MaskerOptions } from './mask/mask.ts';
import type { LogInPieces, ReadableSource } from './read-log.ts';
import type { ReadOptions } from './read-sources.ts';
import { type ReportResults, readResults } from './reports/report.ts';
import type { LineIndexState } from './scan/scan-log.ts';

/**
 * Masks and reads logs in threads, so that a large log does not block other work. Small logs are processed on
 * the calling thread.
 */
export interface LogThreads {
  /** The masker, like {@link Masker}, except that `maskAll` of more than 32 KB runs in a thread. */
  readonly masker: Masker;
  /** Decodes like {@link decodeSources}. Compressed bytes, and more than 32 KB, are decoded in a thread. */
  decode(
    name: string,
    bytes: Uint8Array,
    kind: SourceKind,
    limits: { readonly maxBytes: number },
  ): Promise<SourceText[]>;
  /**
   * Opens an artifact like {@link openArtifact}. A compressed artifact, or one of more than 32 KB, is opened
   * in a thread.
   */
  openArtifact(name: string, bytes: Uint8Array, room: ArtifactRoom): Promise<SourceText[]>;
  /** Surveys files like {@link surveyFiles}; more than 32 KB are surveyed in a thread. */
  survey(sources: readonly SourceText[], signal?: AbortSignal): Promise<Surveyed<SourceText>>;
  /** Reads the test results of reports, and remarks on them; more than 32 KB are read in a thread. */
  readReports(sources: readonly SourceText[]): Promise<readonly ReportResults[]>;
  /**
   * Reads sources like {@link readCauses}. Throws TriageError: 'cancelled' if the signal aborts, 'timeout',
   * 'too-large' if memory runs out.
   */
  read(sources: readonly ReadableSource[], options: ReadOptions, signal?: AbortSignal): Promise<BuildReading>;
  /**
   * Builds everything that masking and reading a small log needs. Otherwise the first log would block the
   * event loop while it is built.
   */
  warmUp(): void;
  /** Stops all threads. Running and waiting jobs fail with 'cancelled'. */
  close(): Promise<void>;
}

export interface LogThreadsOptions {
  readonly masking?: MaskerOptions;
  /** The maximum number of threads. Each is started when it is first needed. */
  readonly size?: number;
  /** The maximum number of characters of a job that is not worth a thread. */
  readonly small?: number;
  /** The time limit of one job in milliseconds. */
  readonly timeoutMs?: number;
  /** The module that the threads run. Tests replace it. */
  readonly entry?: URL;
}

/** A source without its text, or a log in a file that all threads can read from. */
export type SentSource =
  | Omit<SourceText, 'text'>
  | (Pick<LogInPieces, 'name' | 'kind' | 'notes'> & {
      readonly file: number;
      readonly scan: { readonly index: LineIndexState; readonly hits: readonly (readonly number[])[] } | null;
    });

/** A part of one of a job's texts, on its way to a thread or back. */
interface TextPart<Part> {
  readonly text: number;
  readonly part: Part;
}

/** The task of a thread for the texts of a job. */
type Order =
  | { readonly job: 'mask'; readonly texts: number }
  | {
      readonly job: 'decode';
      readonly texts: number;
      readonly name: string;
      readonly kind: SourceKind;
      readonly maxBytes: number;
    }
  | { readonly job: 'artifact'; readonly texts: number; readonly name: string; readonly room: ArtifactRoom }
  | { readonly job: 'survey'; readonly texts: number; readonly sources: readonly Omit<SourceText, 'text'>[] }
  | { readonly job: 'reports'; readonly texts: number; readonly names: readonly string[] }
  | {
      readonly job: 'read';
      readonly texts: number;
      readonly sources: readonly SentSource[];
      readonly options: ReadOptions;
    };

/** A message to a thread: a part of a text, or after all texts the order. */
export type ToThread = TextPart<string | Uint8Array> | Order;

/** The result of a job, without its texts. */
interface Results {
  /** The results of masking, without the texts. Only texts in which something was hidden are sent back. */
  readonly mask: readonly Omit<Masked, 'text'>[];
  readonly decode: readonly Omit<SourceText, 'text'>[];
  /** The files of an artifact, without their texts, and the remaining room. */
  readonly artifact: { readonly files: readonly Omit<SourceText, 'text'>[]; readonly room: ArtifactRoom };
  /** The survey, in which files are indexes into the sources. */
  readonly survey: Surveyed<number>;
  readonly reports: readonly ReportResults[];
  readonly read: BuildReading;
}

/** A message from a thread: a part of a text, or after all texts the result. */
export type FromThread =
  | TextPart<string>
  | { readonly result: Results[Order['job']] }
  | { readonly failed: string; readonly code: TriageErrorCode; readonly details: TriageError['details'] };

/**
 * The default of `small`, and the number of characters that are sent at once. Reading that many takes at most
 * 15 ms.
 */
const SMALL = 32 * 1024;
export const PART = 1 << 20;
const SIZE = 2;
const TIMEOUT_MS = 600_000;
const MAX_WAITING = 100;
/**
 * The maximum heap of a thread. The largest log, 256 MB by default, is in memory as text, masked, and with
 * its findings.
 */
const MAX_HEAP_MB = 2_048;

interface Job {
  readonly texts: readonly (string | Uint8Array)[];
  readonly order: Order;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: TriageError) => void;
}

/** The texts that were sent back, by their index, and the result. */
interface Answer {
  readonly texts: readonly string[];
  readonly result: unknown;
}

/** Creates the threads, but starts none. Idle threads do not keep the process alive. */
export function createLogThreads(options: LogThreadsOptions = {}): LogThreads {
  const {
    masking = {},
    size = Math.min(SIZE, availableParallelism()),
    small = SMALL,
    timeoutMs = TIMEOUT_MS,
  } = options;
  const entry = options.entry ?? new URL(`./log-worker${extname(import.meta.url)}`, import.meta.url);
  const start = () =>
    new Worker(entry, { workerData: masking, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
  const { run, close } = createPool(start, size, timeoutMs);
  const atOnce = createMasker(masking);
  const isSmallText = (bytes: Uint8Array) => bytes.length <= small && detectFileType(bytes).kind === 'text';
  return {
    masker: {
      ...atOnce,
      maskAll: async (texts, names) => {
        if (names !== undefined || countCharacters(texts) <= small) return atOnce.maskAll(texts, names);
        const { texts: masked, result } = await run({ job: 'mask', texts: texts.length }, texts);
        return texts.map((text, at): Masked => ({ count: 0, ...result[at], text: masked[at] ?? text }));
      },
    },
    decode: async (name, bytes, kind, limits) => {
      if (isSmallText(bytes)) return decodeSources(name, bytes, kind, limits);
      const { texts, result } = await run(
        { job: 'decode', texts: 1, name, kind, maxBytes: limits.maxBytes },
        [bytes],
      );
      return result.map((source, at) => ({ ...source, text: texts[at] ?? '' }));
    },
    openArtifact: async (name, bytes, room) => {
      if (isSmallText(bytes)) return openArtifact(name, bytes, room);
      const { texts, result } = await run({ job: 'artifact', texts: 1, name, room }, [bytes]);
      room.files = result.room.files;
      room.bytes = result.room.bytes;
      room.pictures = result.room.pictures;
      return result.files.map((file, at) => ({ ...file, text: texts[at] ?? '' }));
    },
    survey: async (sources, signal) => {
      const texts = sources.map(({ text }) => text);
      if (sources.length < 2 || countCharacters(texts) <= small) return surveyFiles(sources);
      const sent = sources.map(({ text: _text, ...source }) => source);
      const { result } = await run({ job: 'survey', texts: texts.length, sources: sent }, texts, signal);
      return { ...result, read: result.read.flatMap((place) => sources[place] ?? []) };
    },
    readReports: async (sources) => {
      const texts = sources.map(({ text }) => text);
      if (countCharacters(texts) <= small) return sources.map(({ name, text }) => readResults(name, text));
      return (
        await run({ job: 'reports', texts: texts.length, names: sources.map(({ name }) => name) }, texts)
      ).result;
    },
    read: async (sources, options, signal) => {
      const texts = sources.map((source) => ('text' in source ? source.text : ''));
      const sent = sources.flatMap((source) => toSentSource(source) ?? []);
      const isSmall = countCharacters(texts) <= small && sent.every((source) => !('file' in source));
      if (sent.length < sources.length || isSmall) return readCauses(sources, options);
      return (await run({ job: 'read', texts: texts.length, sources: sent, options }, texts, signal)).result;
    },
    warmUp: () => {
      void atOnce.mask('token\u200b\n');
      readCauses([{ name: 'log', kind: 'log', text: 'error: failed\n', notes: [] }], { budgetTokens: 100 });
    },
    close,
  };
}

type Run = <Name extends Order['job']>(
  order: Extract<Order, { readonly job: Name }>,
  texts: Job['texts'],
  signal?: AbortSignal,
) => Promise<{ readonly texts: readonly string[]; readonly result: Results[Name] }>;

/** Creates a pool that runs at most `size` jobs at once. The others wait. */
function createPool(
  start: () => Worker,
  size: number,
  timeoutMs: number,
): { readonly run: Run; readonly close: () => Promise<void> } {
  const idle: Worker[] = [];
  const busy = new Map<Worker, (error: TriageError) => void>();
  const waiting: Job[] = [];
  let isClosed = false;
  const started = () => {
    const worker = start();
    // The caller of the running job also receives the error, and a failed idle thread is not used again.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1);
    });
    return worker;
  };
  const next = () => {
    const job = busy.size < size ? waiting.shift() : undefined;
    if (job !== undefined) void give(idle.pop() ?? started(), job).finally(next);
  };
  /** Runs a job in a thread. Never rejects; the job receives the error. */
  const give = async (worker: Worker, job: Job): Promise<void> => {
    worker.ref();
    try {
      const answer = await sendJob(worker, job, timeoutMs, (stop) => busy.set(worker, stop));
      worker.unref();
      idle.push(worker);
      job.resolve(answer);
    } catch (error) {
      void worker.terminate();
      job.reject(
        error instanceof TriageError
          ? error
          : new TriageError('internal', getErrorMessage(error), { cause: error }),
      );
    } finally {
      busy.delete(worker);
    }
  };
  const run = (order: Order, texts: Job['texts'], signal?: AbortSignal) =>
    new Promise<Answer>((resolve, reject) => {
      if (isClosed || signal?.aborted) return reject(createCancelledError(signal?.reason));
      if (waiting.length >= MAX_WAITING) {
        const why = `${MAX_WAITING} logs wait to be read already. Try again in a moment.`;
        return reject(new TriageError('rate-limited', why, { retryable: true, retryAfterMs: 5_000 }));
      }
      waiting.push({ texts, order, signal, resolve, reject });
      next();
    });
  const close = async () => {
    isClosed = true;
    for (const job of waiting.splice(0)) job.reject(createCancelledError());
    for (const stop of busy.values()) stop(createCancelledError());
    await Promise.all(idle.splice(0).map((worker) => worker.terminate()));
  };
  return { run: run as Run, close };
}

/** Sends a job to a thread, and resolves when it is done. */
function sendJob(
  worker: Worker,
  job: Job,
  timeoutMs: number,
  stoppable: (stop: (error: TriageError) => void) => void,
): Promise<Answer> {
  const parts: string[][] = [];
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      worker.off('message', hear).off('error', fail).off('exit', leave);
      job.signal?.removeEventListener('abort', abort);
      settle();
    };
    const stop = (error: TriageError) => end(() => reject(error));
    const hear = (message: FromThread) => {
      if ('failed' in message)
        return stop(new TriageError(message.code, message.failed, { details: message.details }));
      if ('part' in message) {
        parts[message.text] ??= [];
        parts[message.text]?.push(message.part);
      } else end(() => resolve({ texts: parts.map((all) => all.join('')), result: message.result }));
    };
    const fail = (error: Error) => stop(createCrashedError(error));
    const leave = (code: number) => stop(createCrashedError(new Error(`exit code ${code}`)));
    const abort = () => stop(createCancelledError(job.signal?.reason));
    const timer = setTimeout(
      () => stop(new TriageError('timeout', `A log was not read within ${timeoutMs / 1000} s.`)),
      timeoutMs,
    );
    worker.on('message', hear).on('error', fail).on('exit', leave);
    job.signal?.addEventListener('abort', abort);
    stoppable(stop);
    if (job.signal?.aborted) abort();
    else sendAll(worker, job).catch(fail);
  });
}

/**
 * Sends the texts part by part. Messages between threads are copied, and a large copy would block the event
 * loop.
 */
async function sendAll(worker: Worker, { texts, order }: Job): Promise<void> {
  for (const [text, whole] of texts.entries()) {
    for (let at = 0; at < whole.length; at += PART) {
      // The bytes are copied here once, because the copy can be transferred.
      const part =
        typeof whole === 'string'
          ? whole.slice(at, at + PART)
          : new Uint8Array(whole.subarray(at, at + PART));
      worker.postMessage({ text, part } satisfies ToThread, typeof part === 'string' ? [] : [part.buffer]);
      await nextTurn();
    }
  }
  worker.postMessage(order);
}

/**
 * Returns the source as it is sent to a thread. Returns null for a log whose bytes other threads cannot read.
 */
function toSentSource(source: ReadableSource): SentSource | null {
  const { name, notes } = source;
  if ('text' in source) return { name, kind: source.kind, notes };
  const { file, scan } = source;
  return file === undefined
    ? null
    : {
        name,
        kind: 'log',
        notes,
        file,
        scan: scan === undefined ? null : { index: scan.index.toState(), hits: scan.hits },
      };
}

function countCharacters(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

function createCrashedError(error: Error): TriageError {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new TriageError(
        'too-large',
        `Reading the logs took more than ${MAX_HEAP_MB} MB of memory. Upload less of them.`,
        { cause: error },
      )
    : new TriageError('internal', `The thread that reads logs ended: ${getErrorMessage(error)}`, {
        cause: error,
      });
}

function createCancelledError(cause?: unknown): TriageError {
  return new TriageError('cancelled', 'Reading the logs was canceled.', { cause });
}
