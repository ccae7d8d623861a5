import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { Notice } from '../../src/domain/notice.ts';
import { type NoticesDeps, noticeChannel, syncNotifications } from '../../src/notifications/sync-notifications.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { headOf, situationOf } from './sample-situation.ts';

const notice: Notice = {
  ...{ key: 'chat:shop/api', channel: 'chat', repository: 'shop/api', about: { type: 'build', buildId: 'bld_1' } },
  ...{ wanted: 1, shown: 0, lease: 1, attempts: 1, retries: 0, reference: null, hash: null, error: null },
};

it('a call that a stop cuts off may have got through: what comes next looks for it', async () => {
  const due = [notice];
  const released: number[] = [];
  const notices: NoticesDeps['notices'] = {
    ...{ take: async () => due.pop() ?? null, isCurrent: async () => true, situation: async () => situationOf(headOf()) },
    ...{ finish: async () => true, fail: async () => undefined },
    release: async (_notice, _error, delayMs) => void released.push(delayMs),
  };
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const channel = noticeChannel({
    rule: { channel: 'chat', placeOf: () => null },
    render: () => ({ text: 'red' }),
    door: {
      show: async (_content, { signal }) => {
        begun();
        await once(signal, 'abort');
        throw signal.reason;
      },
    },
  });
  const masker = { mask: async (text: string) => ({ text, count: 0 }) };
  const times = { timeLimitMs: 60_000, intervalMs: 60_000, stopGraceMs: 10 };
  const worker = syncNotifications({ notices, channels: [channel], masker, logger: silentLogger, ...times });
  await isBegun;
  await worker.stop();
  // Without a delay the try would not count, and the next one would be taken for the first.
  expect(released).toEqual([1]);
});
