import { type OpenedQueue, openQueueAdmin } from '../app/open-queue-admin.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import type { FailedJob, RingState, Turn } from '../ports/job-queue.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { visibleLine } from '../publish/visible-text.ts';
import { type DataOptions, dataDirectory, readStoreConfig } from './settings.ts';
import { print } from './terminal.ts';

export interface QueueCommandOptions extends DataOptions {
  /** Rows of each kind. */
  readonly limit?: number;
}

const SHOWN = 50;

/** `faultline queue list`: what the database owes and nobody works on, and what rings for it. */
export async function listQueue(options: QueueCommandOptions): Promise<void> {
  const { limit = SHOWN } = options;
  const { driver, owed, rings, broken } = await withQueue(options, async ({ queue, turns }) => ({
    driver: queue.driver,
    owed: await turns.next(limit),
    ...(await heard(() => queue.rings(limit))),
  }));
  if (options.json) return print(JSON.stringify({ ok: true, driver, owed, rings, broken }));
  return print(
    [
      ...section('Pending jobs, in processing order:', owed.map(turnRow), 'No pending jobs.'),
      ...section(
        `Queue messages (${driver}):`,
        rings.map(ringRow),
        broken === null ? 'No queue messages.' : `The queue does not respond: ${broken}`,
      ),
    ].join('\n'),
  );
}

/** `faultline queue dead`: what was given up. */
export async function listDead(options: QueueCommandOptions): Promise<void> {
  const { limit = SHOWN } = options;
  const { failed, rings, broken } = await withQueue(options, async ({ queue, turns }) => ({
    failed: await turns.failed(limit),
    ...(await heard(() => queue.dead(limit))),
  }));
  if (options.json) return print(JSON.stringify({ ok: true, failed, dead: rings, broken }));
  return print(
    [
      ...section('Jobs that failed permanently:', failed.map(failedRow), 'No job failed permanently.'),
      ...section(
        'Queue messages dropped after their last attempt (their jobs stay pending):',
        rings.map(ringRow),
        broken === null ? 'No queue message was dropped.' : `The queue does not respond: ${broken}`,
      ),
    ].join('\n'),
  );
}

/** `faultline queue requeue ID`: the job is owed anew, and rung for. */
export async function requeue(jobId: string, options: QueueCommandOptions): Promise<void> {
  const said = await withQueue(options, async ({ queue, turns }) => {
    const outcome = await turns.oweAnew(jobId);
    if (outcome === null)
      throw new TriageError('not-found', `There is no triage job ${jobId}; \`faultline queue dead\` lists failed jobs.`);
    if (outcome === 'in-work') throw new TriageError('conflict', `${jobId} is being processed now; there is nothing to requeue.`);
    const { broken } = await heard(async () => {
      // What is done need not ring; its dead ring is taken away by being answered.
      if (!(await queue.requeue(jobId)) && outcome === 'owed') await queue.enqueue(jobId, { priority: 'high' });
      return [];
    });
    return { outcome, rang: broken === null };
  });
  if (options.json) return print(JSON.stringify({ ok: true, jobId, ...said }));
  if (said.outcome === 'done') return print(`${jobId} has been triaged in the meantime; there is nothing to do.`);
  return print(
    said.rang
      ? `${jobId} is pending again and was queued.`
      : `${jobId} is pending again. The queue does not respond, so a worker will pick it up on its own.`,
  );
}

async function withQueue<Result>(options: DataOptions, work: (opened: OpenedQueue) => Promise<Result>): Promise<Result> {
  const opened = await openQueueAdmin(readStoreConfig(dataDirectory(options.data)), silentLogger);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** A queue that does not answer is said, not thrown: what is owed stands in the database. */
async function heard(ask: () => Promise<RingState[]>): Promise<{ readonly rings: RingState[]; readonly broken: string | null }> {
  try {
    return { rings: await ask(), broken: null };
  } catch (error) {
    return { rings: [], broken: messageOf(error) };
  }
}

function section(title: string, rows: readonly string[], none: string): string[] {
  return rows.length === 0 ? [none] : [title, ...rows.map((row) => `  ${row}`)];
}

function turnRow({ id, repository, urgent, working }: Turn): string {
  return `${id}  ${urgent ? 'urgent' : 'normal'}  ${visibleLine(repository)}  ${working} in progress`;
}

function failedRow({ id, repository, at, error }: FailedJob): string {
  return `${id}  ${at}  ${visibleLine(repository)}  ${visibleLine(error ?? '')}`.trimEnd();
}

function ringRow({ jobId, state, tries, at, error }: RingState): string {
  const failed = tries === 0 ? '' : `${tries} failed ${tries === 1 ? 'attempt' : 'attempts'}`;
  return `${jobId}  ${state.padEnd(7)}  ${at}  ${failed}  ${visibleLine(error ?? '')}`.trimEnd();
}
