import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { NoticePublisher } from '../../src/channels/channel.ts';
import { createNoticeHandler } from '../../src/channels/handlers.ts';
import type { WorkItem } from '../../src/domain/work.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { startWorker } from '../../src/work/worker.ts';
import { createHead, createSituation } from '../notifications/sample-situation.ts';

const entry: WorkItem = {
  topic: 'notice:chat',
  key: 'chat:shop/api',
  buildId: 'bld_1',
  version: 1,
  settled: 0,
  held: true,
  outcome: null,
  result: null,
  payload: { repository: 'shop/api', about: { type: 'build', buildId: 'bld_1' } },
  lease: 1,
  attempts: 1,
  retries: 0,
  error: null,
  groupKey: null,
  dueAt: '2026-01-05T10:00:00.000Z',
  changedAt: '2026-01-05T10:00:00.000Z',
};

it('after a call that a stop interrupted, the next attempt searches for its result', async () => {
  const due = [entry];
  const released: number[] = [];
  const work = {
    due: async () => ['notice:chat'],
    take: async () => due.splice(0),
    isCurrent: async () => true,
    finish: async () => true,
    renew: async () => true,
    holds: async () => true,
    progressed: async () => undefined,
    release: async (_entry: WorkItem, _error: string | null, delayMs: number) => void released.push(delayMs),
  };
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const publisher: NoticePublisher = {
    render: () => ({ text: 'red' }),
    send: async (_content, { signal }) => {
      begun();
      await once(signal, 'abort');
      throw signal.reason;
    },
  };
  const notices = { situation: async () => createSituation(createHead()) };
  const masker = { mask: async (text: string) => ({ text, count: 0 }) };
  const handlers = [createNoticeHandler('chat', publisher, { work, notices, timeLimitMs: 60_000 })];
  const worker = startWorker({
    work,
    handlers,
    masker,
    logger: silentLogger,
    intervalMs: 60_000,
  });
  await isBegun;
  await worker.stop(10);
  // Without a delay the attempt would not count, and the next one would be taken for the first.
  expect(released).toEqual([1]);
});
