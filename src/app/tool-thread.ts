import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Category } from '../domain/category.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { ToolCall, ToolOutcome } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { Toolbox, ToolDescription } from '../ports/toolbox.ts';
import type { PlaceOrder } from './place-tools.ts';

/** A message to the thread: a call, or the number of a call to stop. */
export type ToToolThread =
  | {
      readonly id: number;
      readonly call: ToolCall;
      readonly subject: TriageSubject;
      readonly category: Category;
    }
  | { readonly abort: number };

/** A message from the thread: its tools, once, or the outcome of a call. */
export type FromToolThread =
  | { readonly tools: readonly ToolDescription[] }
  | { readonly broken: string }
  | { readonly id: number; readonly outcome: ToolOutcome }
  | { readonly id: number; readonly failed: string };

export interface ToolThreadOptions {
  /** The module that the thread runs. Tests replace it. */
  readonly entry?: URL;
  /** The time in which a stopped call must end before its thread is ended, in milliseconds. */
  readonly graceMs?: number;
}

/** The maximum heap of the thread: 5,000 documents of 50,000 lines would need more and are refused. */
const MAX_HEAP_MB = 1_024;
const GRACE_MS = 5_000;

export type ThreadToolbox = Toolbox & { close(): Promise<void> };

/**
 * Opens tools that run in a thread of their own, so that no file and no pattern holds up other requests. A
 * thread that ends or does not stop is replaced, and its calls fail. Throws `invalid-config` if the tools
 * cannot be opened.
 */
export async function openToolThread(
  order: PlaceOrder,
  options: ToolThreadOptions = {},
): Promise<ThreadToolbox> {
  let thread = startThread(order, options);
  const tools = await thread.tools;
  return {
    offered: (category) => tools.filter(({ categories }) => categories.includes(category)),
    describe: (name) => tools.find((tool) => tool.name === name) ?? null,
    run: async (call, subject, category, signal) => {
      if (thread.hasEnded()) thread = startThread(order, options);
      return await thread.run(call, subject, category, signal);
    },
    close: async () => thread.close(),
  };
}

interface Waiting {
  readonly end: (outcome: ToolOutcome | TriageError) => void;
  readonly fail: (why: string) => void;
}

function startThread(order: PlaceOrder, { entry, graceMs = GRACE_MS }: ToolThreadOptions) {
  const worker = new Worker(entry ?? new URL(`./tool-worker${extname(import.meta.url)}`, import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const waiting = new Map<number, Waiting>();
  /** Calls that were stopped and that the thread still works on. */
  const stopped = new Set<number>();
  const opening = Promise.withResolvers<readonly ToolDescription[]>();
  // The tools of a thread that replaces another one are not awaited.
  opening.promise.catch(() => undefined);
  let hasEnded = false;
  let next = 0;
  const endAll = (why: string) => {
    hasEnded = true;
    opening.reject(new TriageError('invalid-config', `The tools could not be opened: ${why}`));
    for (const { fail } of waiting.values()) fail(why);
    void worker.terminate();
  };
  worker.on('message', (message: FromToolThread) => {
    if ('tools' in message) opening.resolve(message.tools);
    else if ('broken' in message) endAll(message.broken);
    else {
      stopped.delete(message.id);
      if ('outcome' in message) waiting.get(message.id)?.end(message.outcome);
      else waiting.get(message.id)?.fail(message.failed);
    }
    if (waiting.size === 0) worker.unref();
  });
  worker.on('error', (error) => endAll(describeCrash(error)));
  worker.on('exit', () => endAll('its thread ended'));
  const run = (call: ToolCall, subject: TriageSubject, category: Category, signal: AbortSignal) =>
    new Promise<ToolOutcome>((resolve, reject) => {
      if (signal.aborted) return reject(createStoppedError(signal));
      const startedAt = performance.now();
      const id = next++;
      const end = (settled: ToolOutcome | TriageError) => {
        waiting.delete(id);
        signal.removeEventListener('abort', abort);
        if (settled instanceof TriageError) reject(settled);
        else resolve(settled);
      };
      const fail = (why: string) =>
        end(createFailedOutcome(call, why, Math.round(performance.now() - startedAt)));
      const abort = () => {
        stopped.add(id);
        worker.postMessage({ abort: id } satisfies ToToolThread);
        setTimeout(() => stopped.has(id) && void worker.terminate(), graceMs).unref();
        end(createStoppedError(signal));
      };
      waiting.set(id, { end, fail });
      signal.addEventListener('abort', abort);
      worker.ref();
      worker.postMessage({ id, call, subject, category } satisfies ToToolThread);
    });
  return {
    tools: opening.promise,
    hasEnded: () => hasEnded,
    run,
    close: async () => void (await worker.terminate()),
  };
}

function createFailedOutcome(call: ToolCall, why: string, milliseconds: number): ToolOutcome {
  const summary = `${call.tool} could not answer: ${why}`;
  return { call, status: 'failed', findings: [], summary, milliseconds, attempts: 1 };
}

function describeCrash(error: unknown): string {
  const isFull = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isFull ? `it needed more than ${MAX_HEAP_MB} MB of memory` : getErrorMessage(error);
}

function createStoppedError(signal: AbortSignal): TriageError {
  return new TriageError('cancelled', 'The run was canceled during a tool call.', { cause: signal.reason });
}
