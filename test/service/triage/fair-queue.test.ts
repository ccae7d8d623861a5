import { expect, it } from 'vitest';
import type { JobQueue } from '../../../src/ports/job-queue.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { fairQueue } from '../../../src/service/triage/queue.ts';
import type { Turn } from '../../../src/stores/triages.ts';

type Job = Pick<Turn, 'id' | 'repository'> & Partial<Turn>;

/** A queue whose rings are made by hand, before these jobs. `rang` are rings that were made for jobs that gave way. */
async function worldOf(jobs: readonly Job[], unseen: readonly Job[] = []) {
  const ran: string[] = [];
  const rang: string[] = [];
  let handle: Parameters<JobQueue['work']>[0] = async () => undefined;
  const queue: JobQueue = {
    driver: 'by hand',
    enqueue: async (jobId, { priority } = {}) => void rang.push(priority === 'high' ? `${jobId} at once` : jobId),
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
  await fairQueue(queue, { turns, logger: silentLogger }).work(async (jobId) => void ran.push(jobId), { concurrency: 1 });
  return { ran, rang, ring: (jobId: string) => handle(jobId, new AbortController().signal), turns };
}

const NOISY = { repository: 'acme/noisy' };
const QUIET = { repository: 'acme/quiet' };

it('runs the job that rang where nobody else waits', async () => {
  const { ran, rang, ring } = await worldOf([{ id: 'a', ...NOISY, working: 7 }]);

  await ring('a');

  expect([ran, rang]).toEqual([['a'], []]);
});

it('lets a repository with less in work go first, and rings anew for the one that gave way', async () => {
  const { ran, rang, ring } = await worldOf([
    { id: 'a', ...NOISY, working: 1 },
    { id: 'b', ...QUIET },
  ]);

  await ring('a');

  expect([ran, rang]).toEqual([['b'], ['a']]);
});

it('takes turns where both have as much in work, also for a job that is not among those seen', async () => {
  const { ran, ring } = await worldOf(
    [
      { id: 'a1', ...NOISY },
      { id: 'b1', ...QUIET },
    ],
    [
      { id: 'a2', ...NOISY },
      { id: 'a3', ...NOISY },
    ],
  );

  for (const id of ['a1', 'a2', 'a3']) await ring(id);

  expect(ran).toEqual(['a1', 'b1', 'a3']);
});

it('lets an urgent job give way to urgent ones only', async () => {
  const { ran, ring } = await worldOf([
    { id: 'a', ...NOISY, working: 3, urgent: true },
    { id: 'b', ...QUIET },
  ]);

  await ring('a');

  expect(ran).toEqual(['a']);
});

it('runs what rang where whose turn it is cannot be asked, or the job is unknown', async () => {
  const { ran, ring, turns } = await worldOf([
    { id: 'a', ...NOISY },
    { id: 'b', ...QUIET },
  ]);
  await ring('unknown');
  turns.next = async () => {
    throw new Error('the database is away');
  };
  turns.place = async () => {
    throw new Error('the database is away');
  };

  await ring('never seen');

  expect(ran).toEqual(['unknown', 'never seen']);
});

it('lets an urgent job that gave way to another urgent one stay urgent', async () => {
  const { ran, rang, ring } = await worldOf([
    { id: 'a', ...NOISY, working: 1, urgent: true },
    { id: 'b', ...QUIET, urgent: true },
  ]);

  await ring('a');

  expect([ran, rang]).toEqual([['b'], ['a at once']]);
});
