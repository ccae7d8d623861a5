import { expect, it } from 'vitest';
import type { JobQueue } from '../../../src/ports/job-queue.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { fairQueue } from '../../../src/service/triage/queue.ts';
import type { Turn } from '../../../src/stores/triages.ts';

type Job = Pick<Turn, 'id' | 'repository'> & Partial<Turn>;

/** A queue whose notifications are made by hand, before these jobs. `requeued` are notifications that were made for jobs that gave way. */
async function worldOf(jobs: readonly Job[], unseen: readonly Job[] = []) {
  const ran: string[] = [];
  const requeued: string[] = [];
  let handle: Parameters<JobQueue['work']>[0] = async () => undefined;
  const queue: JobQueue = {
    driver: 'by hand',
    enqueue: async (jobId, { priority } = {}) =>
      void requeued.push(priority === 'high' ? `${jobId} at once` : jobId),
    work: async (handler) => {
      handle = handler;
    },
    depth: async () => 0,
    stop: async () => undefined,
  };
  const all = [...jobs, ...unseen].map((job) => ({ urgent: false, working: 0, ...job }));
  const turns = {
    next: async () => all.slice(0, jobs.length),
    place: async (id: string) => all.find((job) => job.id === id) ?? null,
  };
  await fairQueue(queue, { turns, logger: silentLogger }).work(async (jobId) => void ran.push(jobId), {
    concurrency: 1,
  });
  return { ran, requeued, deliver: (jobId: string) => handle(jobId, new AbortController().signal), turns };
}

const NOISY = { repository: 'acme/noisy' };
const QUIET = { repository: 'acme/quiet' };

it('runs the job that was queued where nobody else waits', async () => {
  const { ran, requeued, deliver } = await worldOf([{ id: 'a', ...NOISY, working: 7 }]);

  await deliver('a');

  expect([ran, requeued]).toEqual([['a'], []]);
});

it('lets a repository with less in work go first, and notifies anew for the one that gave way', async () => {
  const { ran, requeued, deliver } = await worldOf([
    { id: 'a', ...NOISY, working: 1 },
    { id: 'b', ...QUIET },
  ]);

  await deliver('a');

  expect([ran, requeued]).toEqual([['b'], ['a']]);
});

it('takes turns where both have as much in work, also for a job that is not among those seen', async () => {
  const { ran, deliver } = await worldOf(
    [
      { id: 'a1', ...NOISY },
      { id: 'b1', ...QUIET },
    ],
    [
      { id: 'a2', ...NOISY },
      { id: 'a3', ...NOISY },
    ],
  );

  for (const id of ['a1', 'a2', 'a3']) await deliver(id);

  expect(ran).toEqual(['a1', 'b1', 'a3']);
});

it('lets an urgent job give way to urgent ones only', async () => {
  const { ran, deliver } = await worldOf([
    { id: 'a', ...NOISY, working: 3, urgent: true },
    { id: 'b', ...QUIET },
  ]);

  await deliver('a');

  expect(ran).toEqual(['a']);
});

it('runs the queued job where nobody can say whose turn it is, or the job is unknown', async () => {
  const { ran, deliver, turns } = await worldOf([
    { id: 'a', ...NOISY },
    { id: 'b', ...QUIET },
  ]);
  await deliver('unknown');
  turns.next = async () => {
    throw new Error('the database is away');
  };
  turns.place = async () => {
    throw new Error('the database is away');
  };

  await deliver('never seen');

  expect(ran).toEqual(['unknown', 'never seen']);
});

it('lets an urgent job that gave way to another urgent one stay urgent', async () => {
  const { ran, requeued, deliver } = await worldOf([
    { id: 'a', ...NOISY, working: 1, urgent: true },
    { id: 'b', ...QUIET, urgent: true },
  ]);

  await deliver('a');

  expect([ran, requeued]).toEqual([['b'], ['a at once']]);
});
