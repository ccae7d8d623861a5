import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NewBuild } from '../../../src/domain/build.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { Notice } from '../../../src/domain/notice.ts';
import type { NoticeRule, NoticeStore } from '../../../src/ports/notices.ts';
import { createNoticeStore } from '../../../src/stores/outbox.ts';
import type { StoresWorld } from './world.ts';

const LEASE_MS = 60_000;

/** A channel of its own, so that no other test takes what is due. It speaks of failed builds, and keeps up with the others. */
function ruleOf(channel: string, pullRequest = 7): NoticeRule {
  return {
    channel,
    placeOf: ({ repository, status }) => ({
      key: `${channel}:${repository}#${pullRequest}`,
      about: { type: 'pull-request', repository, pullRequest },
      opens: status === 'failed',
    }),
  };
}

export function noticesContract(world: StoresWorld): void {
  describe('notices', () => {
    function channel() {
      const name = newId('thr');
      const notices = createNoticeStore(world.db, [ruleOf(name)]);
      const changed = async (change: Partial<NewBuild> = {}, delayMs = 0) => {
        const build = await world.build({ number: newId('bld'), ...change });
        return await notices.changed({ buildId: build.id, delayMs });
      };
      return { name, notices, changed, key: `${name}:${world.repository}#7` };
    }
    async function taken(notices: NoticeStore, name: string, leaseMs = LEASE_MS): Promise<Notice> {
      const notice = await notices.take([name], leaseMs);
      if (notice === null) throw new Error('a notice is due');
      return notice;
    }
    const shown = { reference: '41', hash: 'h', pauseMs: 0 };

    it('are one for each place, whatever changes', async () => {
      const { name, notices, changed, key } = channel();
      expect(await changed()).toBe(true);
      expect(await changed()).toBe(true);
      expect(await notices.find(key)).toMatchObject({ channel: name, wanted: 2, shown: 0, lease: 0, reference: null, hash: null });
      expect(await notices.take(['nobody'], LEASE_MS)).toBeNull();
      const takers = await Promise.all([1, 2, 3].map(() => notices.take([name], LEASE_MS)));
      expect(takers.filter((one) => one !== null)).toMatchObject([{ key, lease: 1, attempts: 1 }]);
    });

    it('are opened only by what is reason enough, and then kept in step with the rest', async () => {
      const { notices, changed, key } = channel();
      expect(await changed({ status: 'passed' })).toBe(false);
      expect(await notices.find(key)).toBeNull();
      await changed();
      expect(await changed({ status: 'passed' })).toBe(true);
      expect(await notices.find(key)).toMatchObject({ wanted: 2 });
    });

    it('are wanted or not together with what changed', async () => {
      const { notices, key } = channel();
      const build = await world.build({ number: newId('bld') });
      const undone = world.db.transaction(async (sql) => {
        await notices.changed({ buildId: build.id, delayMs: 0 }, sql);
        throw new Error('what changed is not saved');
      });
      await expect(undone).rejects.toThrow();
      expect(await notices.find(key)).toBeNull();
      expect(await createNoticeStore(world.db).changed({ buildId: build.id, delayMs: 0 })).toBe(false);
    });

    it('are not due before their delay, and a later change does not hurry them', async () => {
      const { name, notices, changed } = channel();
      await changed({}, LEASE_MS);
      await changed({}, 0);
      expect(await notices.take([name], LEASE_MS)).toBeNull();
    });

    it('are due again when something changes after they were shown', async () => {
      const { name, notices, changed, key } = channel();
      await changed();
      expect(await notices.finish(await taken(notices, name), shown)).toBe(true);
      expect(await notices.take([name], LEASE_MS)).toBeNull();
      await changed();
      const again = await taken(notices, name);
      expect(again).toMatchObject({ key, wanted: 2, shown: 1, reference: '41', hash: 'h' });
      await changed();
      expect(await notices.isCurrent(again)).toBe(false);
      expect(await notices.finish(again, { ...shown, pauseMs: LEASE_MS })).toBe(true);
      expect(await notices.find(key)).toMatchObject({ wanted: 3, shown: 2 });
      expect(await notices.take([name], LEASE_MS), 'left alone after an edit').toBeNull();
    });

    it('refuse the word of a holder whose lease another has taken over (T05)', async () => {
      const { name, notices, changed, key } = channel();
      await changed();
      const stale = await taken(notices, name, 1);
      expect(await notices.isCurrent(stale)).toBe(true);
      await delay(20);
      const held = await taken(notices, name);
      expect(await notices.isCurrent(stale)).toBe(false);
      expect(await notices.finish(stale, { ...shown, reference: 'stale' })).toBe(false);
      await notices.release(stale, 'late', LEASE_MS);
      await notices.fail(stale, 'late');
      expect(await notices.find(key)).toMatchObject({ lease: 2, shown: 0, error: null, reference: null });
      expect(await notices.finish(held, shown)).toBe(true);
    });

    it('are left alone for as long as they are given back for, and uncounted where the process stopped', async () => {
      const { name, notices, changed, key } = channel();
      await changed();
      await notices.release(await taken(notices, name), null, 0);
      expect(await taken(notices, name)).toMatchObject({ attempts: 1, retries: 0, lease: 2 });
      expect(await notices.reclaim()).toBeGreaterThanOrEqual(1);
      await notices.release(await taken(notices, name), 'it answered 503', LEASE_MS);
      expect(await notices.find(key)).toMatchObject({ retries: 1, error: 'it answered 503' });
      expect(await notices.take([name], LEASE_MS)).toBeNull();
    });

    it('that cannot be shown are tried again with the next change', async () => {
      const { name, notices, changed, key } = channel();
      await changed();
      await notices.fail(await taken(notices, name), 'it answered 401');
      expect(await notices.take([name], LEASE_MS)).toBeNull();
      expect((await notices.listFailed(200)).map((one) => one.key)).toContain(key);
      await changed();
      await notices.finish(await taken(notices, name), shown);
      expect(await notices.find(key)).toMatchObject({ error: null, shown: 2 });
    });
  });
}
