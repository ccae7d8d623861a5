import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobQueue, QueueAdmin } from '../../src/ports/job-queue.ts';

/** Tries before a notification is given up: few, or a test would last minutes. */
export const ATTEMPTS = 2;

export interface JobQueueUnderTest {
  /** Gives a notification up after `ATTEMPTS` tries. */
  readonly queue: JobQueue & QueueAdmin;
  /** Another queue on the same backend, as after a restart of the process. */
  restart(): Promise<JobQueue & QueueAdmin>;
  dispose(): Promise<void>;
}

/** How often a queue looks by itself whether something was queued. `never`: not while a test lasts, so that only notifications wake a worker. */
export type Polling = 'usual' | 'never';

/** What every job queue promises. */
export function jobQueueContract(
  name: string,
  openQueue: (polling: Polling) => Promise<JobQueueUnderTest>,
): void {
  describe(`job queue: ${name}`, () => {
    let under: JobQueueUnderTest;
    let queue: JobQueue & QueueAdmin;

    async function open(polling: Polling): Promise<void> {
      under = await openQueue(polling);
      queue = under.queue;
    }
    async function close(): Promise<void> {
      await queue.stop({ timeoutMs: 5000 });
      await under.dispose();
    }
    beforeEach(() => open('usual'));
    afterEach(close);

    async function withoutPolling(): Promise<void> {
      await close();
      await open('never');
    }

    async function until(condition: () => boolean | Promise<boolean>, limitMs = 15_000): Promise<void> {
      const end = Date.now() + limitMs;
      while (!(await condition())) {
        if (Date.now() > end) throw new Error('it did not happen in time');
        await delay(10);
      }
    }

    it('hands a notification to the handler, whether it came before or after the worker', async () => {
      const seen: string[] = [];
      await queue.enqueue('before');
      await queue.work(async (jobId) => void seen.push(jobId), { concurrency: 1 });
      await queue.enqueue('after');

      await until(() => seen.length === 2);
      expect(seen.toSorted()).toEqual(['after', 'before']);
      await until(async () => (await queue.depth()) === 0);
    });

    it('notifies once for a job that still waits, and again after it was handled', async () => {
      const seen: string[] = [];
      for (let time = 0; time < 3; time += 1) await queue.enqueue('job');
      expect(await queue.depth()).toBe(1);
      await queue.work(async (jobId) => void seen.push(jobId), { concurrency: 2 });
      await until(async () => (await queue.depth()) === 0);
      expect(seen).toEqual(['job']);

      await queue.enqueue('job');

      await until(() => seen.length === 2);
    });

    it('handles a notification that came during a run after it, once', async () => {
      const seen: string[] = [];
      let finish = () => {};
      await queue.work(
        async (jobId) => {
          seen.push(jobId);
          if (seen.length === 1) {
            await new Promise<void>((resolve) => {
              finish = resolve;
            });
          }
        },
        { concurrency: 1 },
      );
      await queue.enqueue('job');
      await until(() => seen.length === 1);

      for (let time = 0; time < 3; time += 1) await queue.enqueue('job');
      finish();

      await until(async () => (await queue.depth()) === 0);
      expect(seen).toEqual(['job', 'job']);
    });

    it('hands out what is urgent before what was queued earlier', async () => {
      const seen: string[] = [];
      for (const job of ['first', 'second', 'third']) await queue.enqueue(job);
      await queue.enqueue('urgent', { priority: 'high' });
      await queue.enqueue('urgent too', { priority: 'high' });
      await queue.work(async (jobId) => void seen.push(jobId), { concurrency: 1 });

      await until(() => seen.length === 5);
      expect(seen).toEqual(['urgent', 'urgent too', 'first', 'second', 'third']);
    });

    it('runs at most `concurrency` handlers at once, and that many', async () => {
      let running = 0;
      let most = 0;
      let done = 0;
      await queue.work(
        async () => {
          running += 1;
          most = Math.max(most, running);
          await delay(30);
          running -= 1;
          done += 1;
        },
        { concurrency: 2 },
      );
      for (let job = 0; job < 8; job += 1) await queue.enqueue(`job-${job}`);

      await until(() => done === 8);
      expect(most).toBe(2);
    });

    it('wakes its worker by the notification, not by a poll', async () => {
      await withoutPolling();
      const seen: string[] = [];
      await queue.work(async (jobId) => void seen.push(jobId), { concurrency: 2 });
      const jobs = Array.from({ length: 5 }, (_, job) => `job-${job}`);
      for (const [index, job] of jobs.entries()) {
        // Long enough for the workers to find nothing and to lie down.
        await delay(50);
        await queue.enqueue(job);
        await until(() => seen.length === index + 1);
      }

      expect(seen).toEqual(jobs);
    });

    it('does not wait for a poll between jobs that are already there', async () => {
      await withoutPolling();
      let done = 0;
      for (let job = 0; job < 20; job += 1) await queue.enqueue(`job-${job}`);
      await queue.work(
        async () => {
          done += 1;
        },
        { concurrency: 1 },
      );

      await until(() => done === 20);
      await until(async () => (await queue.depth()) === 0);
    });

    it('calls a handler that throws again, later', async () => {
      const calls: number[] = [];
      await queue.work(
        async () => {
          calls.push(Date.now());
          if (calls.length < 2) throw new Error('not yet');
        },
        { concurrency: 1 },
      );
      await queue.enqueue('job');

      await until(() => calls.length === 2);
      expect((calls[1] ?? 0) - (calls[0] ?? 0)).toBeGreaterThan(400);
      await until(async () => (await queue.depth()) === 0);
    });

    it('lists a notification that was given up, and notifies anew of it on request', async () => {
      let broken = true;
      let calls = 0;
      await queue.work(
        async () => {
          calls += 1;
          if (broken) throw new Error('the handler is broken');
        },
        { concurrency: 1 },
      );
      await queue.enqueue('job');
      await until(async () => (await queue.messages(10)).some(({ state }) => state === 'later'));
      expect(await queue.dead(10)).toEqual([]);
      await until(async () => (await queue.dead(10)).length === 1);
      expect(calls).toBe(ATTEMPTS);
      expect(await queue.dead(10)).toMatchObject([
        { jobId: 'job', state: 'dead', error: 'the handler is broken' },
      ]);
      expect(await queue.depth()).toBe(0);

      broken = false;
      expect(await queue.requeue('another')).toBe(false);
      expect(await queue.requeue('job')).toBe(true);

      await until(() => calls === ATTEMPTS + 1);
      expect(await queue.dead(10)).toEqual([]);
    });

    it('lists what runs before what waits', async () => {
      let finish = () => {};
      await queue.enqueue('waiting');
      await queue.enqueue('running', { priority: 'high' });
      await queue.work(
        async (jobId) => {
          if (jobId === 'running') {
            await new Promise<void>((resolve) => {
              finish = resolve;
            });
          }
        },
        { concurrency: 1 },
      );
      await until(async () => (await queue.messages(10))[0]?.state === 'running');

      const notified = await queue.messages(10);
      expect(notified.map(({ jobId, state, tries, error }) => [jobId, state, tries, error])).toEqual([
        ['running', 'running', 0, null],
        ['waiting', 'waiting', 0, null],
      ]);
      expect(await queue.messages(1)).toHaveLength(1);
      finish();
      await until(async () => (await queue.depth()) === 0);
    });

    it('counts a running job', async () => {
      let finish = () => {};
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      let started = false;
      await queue.work(
        async () => {
          started = true;
          await finished;
        },
        { concurrency: 1 },
      );
      await queue.enqueue('job');
      await until(() => started);

      expect(await queue.depth()).toBe(1);
      finish();
      await until(async () => (await queue.depth()) === 0);
    });

    it('waits for running handlers when it stops, and takes no more', async () => {
      const done: string[] = [];
      let started = 0;
      await queue.work(
        async (jobId) => {
          started += 1;
          await delay(300);
          done.push(jobId);
        },
        { concurrency: 1 },
      );
      await queue.enqueue('first');
      await until(() => started === 1);
      await queue.enqueue('second');

      await queue.stop({ timeoutMs: 5000 });

      expect(done).toEqual(['first']);
      await delay(100);
      expect(started).toBe(1);
    });

    it('aborts a handler that takes too long to stop; the job is handed out again after a restart', async () => {
      const seen: string[] = [];
      let aborted = false;
      await queue.work(
        async (jobId, signal) => {
          seen.push(jobId);
          await delay(60_000, undefined, { signal }).catch((error: unknown) => {
            aborted = signal.aborted;
            throw error;
          });
        },
        { concurrency: 1 },
      );
      await queue.enqueue('job');
      await until(() => seen.length === 1);

      await queue.stop({ timeoutMs: 50 });
      expect(aborted).toBe(true);

      queue = await under.restart();
      await queue.work(async (jobId) => void seen.push(jobId), { concurrency: 1 });
      await until(() => seen.length === 2);
      expect(seen).toEqual(['job', 'job']);
    });

    it('keeps waiting notifications over a restart', async () => {
      await queue.enqueue('job');
      await queue.stop({ timeoutMs: 100 });

      queue = await under.restart();
      const seen: string[] = [];
      await queue.work(async (jobId) => void seen.push(jobId), { concurrency: 1 });

      await until(() => seen.length === 1);
    });
  });
}
