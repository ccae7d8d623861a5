import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { JobQueue } from '../../../src/ports/job-queue.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { detachableQueue, type WaitOutside } from '../../../src/service/triage/queue.ts';
import { createCrashIsolation } from '../../../src/service/triage/worker.ts';

type Handler = Parameters<JobQueue['work']>[0];

/** A queue that is driven by hand: `deliver` resolves when the job's slot is free again. */
function handQueue() {
  const enqueued: string[] = [];
  let handler: Handler | undefined;
  const queue: JobQueue = {
    driver: 'by hand',
    enqueue: async (jobId) => void enqueued.push(jobId),
    work: async (given) => {
      handler = given;
    },
    depth: async () => 0,
    stop: async () => undefined,
  };
  const deliver = async (jobId: string) => await handler?.(jobId, new AbortController().signal);
  return { queue, enqueued, deliver };
}

/** Each job waits for GitHub until it is let go, then says that it ended. */
async function waitingJobs() {
  const { queue, enqueued, deliver } = handQueue();
  const detachable = detachableQueue(queue, silentLogger);
  const gates = new Map<string, () => void>();
  const events: string[] = [];
  const job = async (jobId: string, signal: AbortSignal, outside: WaitOutside) => {
    try {
      await outside('github', async () => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        gates.set(jobId, resolve);
        signal.addEventListener('abort', () => reject(signal.reason));
        await promise;
      });
      events.push(`${jobId} ended`);
    } catch (error) {
      events.push(`${jobId}: ${signal.aborted ? 'aborted' : String(error)}`);
    }
  };
  await detachable.work(job, { concurrency: 2 });
  return { detachable, enqueued, deliver, gates, events };
}

it('frees the slot of a job that waits, and lets it go on', async () => {
  const { detachable, deliver, gates, events } = await waitingJobs();
  await deliver('a');
  expect(events).toEqual([]);
  expect(await detachable.depth()).toBe(1);
  gates.get('a')?.();
  await sleep(1);
  expect(events).toEqual(['a ended']);
  expect(await detachable.depth()).toBe(0);
});

it('lets only some wait for one provider, and notifies of the next when one of them goes on', async () => {
  const { enqueued, deliver, gates, events } = await waitingJobs();
  for (const jobId of ['a', 'b', 'c', 'd', 'e', 'f']) await deliver(jobId);
  expect(events).toEqual(['e: aborted', 'f: aborted']);
  gates.get('b')?.();
  await sleep(1);
  expect(enqueued).toEqual(['e']);
});

it('ends at once what waits when it stops, and leaves no job without an end', async () => {
  const { detachable, deliver, events } = await waitingJobs();
  await deliver('a');
  const startedAt = performance.now();
  await detachable.stop({ timeoutMs: 20_000 });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(events).toEqual(['a: aborted']);
});

it('gives what came back as long as the others when it stops, then ends it', async () => {
  const { queue, deliver } = handQueue();
  const detachable = detachableQueue(queue, silentLogger);
  const events: string[] = [];
  await detachable.work(
    async (_job, signal, outside) => {
      await outside('github', async () => undefined);
      await sleep(10_000, undefined, { signal }).catch(() => events.push('aborted'));
    },
    { concurrency: 1 },
  );
  await deliver('a');
  await detachable.stop({ timeoutMs: 50 });
  expect(events).toEqual(['aborted']);
});

it('takes a place again before work goes on that stepped out of it', async () => {
  const { together } = createCrashIsolation(1);
  const events: string[] = [];
  const out = Promise.withResolvers<void>();
  const first = together(async (stepOut) => {
    await stepOut(() => out.promise);
    events.push('first goes on');
  });
  const second = together(async () => {
    out.resolve();
    await sleep(5);
    events.push('second ends');
  });
  await Promise.all([first, second]);
  expect(events).toEqual(['second ends', 'first goes on']);
});
