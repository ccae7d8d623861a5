import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import type { WorkItem } from '../../../src/domain/work.ts';
import { sampleAnalysis } from '../../stores/samples.ts';
import { createTriageJobs } from '../../support/triage-jobs.ts';
import type { StoresWorld } from './world.ts';

export function testTriagesAndAnalysesContract(world: StoresWorld): void {
  describe('triage jobs', () => {
    const LEASE_MS = 60_000;
    const jobs = () => createTriageJobs(world.stores);

    async function requestTriage() {
      const { id } = await world.build({ number: createId('bld') });
      return { id, ...(await world.stores.triages.request(id)) };
    }

    it('are requested once', async () => {
      const { id } = await world.build();

      const requests = await Promise.all([1, 2, 3].map(() => world.stores.triages.request(id)));

      for (const job of requests) {
        expect(job).toMatchObject({
          buildId: id,
          state: 'queued',
          attempts: 0,
          retries: 0,
          error: null,
        });
      }
      expect(requests.map((job) => job.requested).toSorted()).toEqual([1, 2, 3]);
      const found = await world.stores.triages.findByBuild(id);
      expect(found).toMatchObject({ buildId: id, requested: 3, fetched: 0 });
      expect(await jobs().find(id)).toMatchObject({ ...found, lease: 0 });
    });

    async function leaseJob(jobId: string) {
      const job = await jobs().lease(jobId, LEASE_MS);
      if (job === null) throw new Error('the lease is given');
      return job;
    }

    it.each(['done', 'failed'] as const)(
      'are requested again for a build whose triage was %s, with attempts reset',
      async (state) => {
        const { id, buildId } = await requestTriage();
        await jobs().release(await leaseJob(id), 'GitHub did not answer', 1);
        await delay(20);
        await jobs().lease(id, 1);
        await delay(20);
        const job = await leaseJob(id);
        expect(job).toMatchObject({ attempts: 2, retries: 1 });
        expect(await jobs().finish(job, state, state === 'failed' ? 'no log' : null)).toBe('ended');

        expect(await world.stores.triages.request(buildId)).toMatchObject({
          state: 'queued',
          attempts: 0,
          retries: 0,
          error: null,
        });

        expect((await jobs().pending(1000)).map((found) => found.id)).toContain(id);
        const again = await leaseJob(id);
        expect(again).toMatchObject({ lease: 4, attempts: 1, retries: 0 });
        expect(await jobs().finish(again, 'done', null)).toBe('ended');
      },
    );

    it('run once more if the build changed while they ran', async () => {
      const { id, buildId } = await requestTriage();
      const job = await leaseJob(id);

      expect(await world.stores.triages.request(buildId)).toMatchObject({
        state: 'running',
      });
      expect(await jobs().lease(id, LEASE_MS)).toBeNull();
      expect(await jobs().finish(job, 'failed', 'no log yet')).toBe('requeued');

      expect(await jobs().find(id)).toMatchObject({
        state: 'queued',
        attempts: 0,
        error: null,
      });
      expect(await jobs().finish(await leaseJob(id), 'done', null)).toBe('ended');
    });

    it.each(['release', 'reclaim', 'expiry'])(
      'reset their attempts if the build changed before their %s',
      async (end) => {
        const { id, buildId } = await requestTriage();
        await jobs().release(await leaseJob(id), 'GitHub did not answer', 1);
        await delay(20);
        const job = await jobs().lease(id, end === 'expiry' ? 1 : LEASE_MS);
        if (job === null) throw new Error('the lease is given');
        await world.stores.triages.request(buildId);

        if (end === 'release') await jobs().release(job, 'GitHub did not answer', 60_000);
        if (end === 'reclaim') await jobs().reclaim();
        if (end === 'expiry') await delay(20);

        expect(await leaseJob(id)).toMatchObject({ attempts: 1, retries: 0 });
      },
    );

    it('know how far the stored logs cover the pending parts', async () => {
      const { id, buildId, ...job } = await requestTriage();
      const later = await world.stores.triages.request(buildId);

      await world.stores.triages.markFetched({ ...job, buildId });
      expect(await jobs().find(id)).toMatchObject({ requested: 2, fetched: 1 });
      await world.stores.triages.markFetched(later);
      await world.stores.triages.markFetched({ ...job, buildId });
      expect(await jobs().find(id)).toMatchObject({ requested: 2, fetched: 2 });
    });

    it('are leased to one of several workers', async () => {
      const { id } = await requestTriage();

      const leases = await Promise.all([1, 2, 3].map(() => jobs().lease(id, LEASE_MS)));

      expect(leases.filter((lease) => lease !== null)).toMatchObject([
        { id, held: true, lease: 1, attempts: 1 },
      ]);
    });

    it('of a dead process become available again', async () => {
      const { id } = await requestTriage();
      const held = await jobs().lease(id, LEASE_MS);

      expect(await jobs().reclaim()).toBeGreaterThanOrEqual(1);

      expect(await jobs().lease(id, LEASE_MS)).toMatchObject({
        id,
        lease: (held?.lease ?? 0) + 1,
      });
    });

    it('no longer count crashed attempts once a step is finished', async () => {
      const { id } = await requestTriage();
      const first = await jobs().lease(id, LEASE_MS);
      await jobs().reclaim();
      const second = await jobs().lease(id, LEASE_MS);
      expect(second?.attempts).toBe(2);

      if (first !== null) await jobs().progressed(first);
      expect((await jobs().find(id))?.attempts).toBe(2);
      if (second !== null) await jobs().progressed(second);

      expect((await jobs().find(id))?.attempts).toBe(1);
    });

    it('with an expired lease go to the next worker, and reject all writes of the former one', async () => {
      const { id } = await requestTriage();
      const stale = await jobs().lease(id, 1);
      await delay(20);
      expect((await jobs().pending(1000)).map((job) => job.id)).toContain(id);
      const held = await jobs().lease(id, LEASE_MS);
      if (stale === null || held === null) throw new Error('both leases are given');

      expect(held.lease).toBe(2);
      expect(await jobs().renew(stale, LEASE_MS)).toBe(false);
      expect(await jobs().finish(stale, 'failed', 'late')).toBe('refused');
      await jobs().release(stale, 'late', 60_000);
      expect(await jobs().find(id)).toMatchObject({ state: 'running', lease: 2, error: null });
      expect(await jobs().renew(held, LEASE_MS)).toBe(true);
      expect(await jobs().finish(held, 'done', null)).toBe('ended');
      expect(await jobs().finish(held, 'failed', 'twice')).toBe('refused');
    });

    it('are never leased once done or permanently failed', async () => {
      for (const state of ['done', 'failed'] as const) {
        const { id } = await requestTriage();
        const job = await jobs().lease(id, LEASE_MS);
        if (job === null) throw new Error('the lease is given');
        await jobs().finish(job, state, state === 'failed' ? 'no log' : null);

        expect(await jobs().lease(id, LEASE_MS)).toBeNull();
        expect((await jobs().pending(1000)).map((found) => found.id)).not.toContain(id);
      }
    });

    it('that are released become pending again, with the reason', async () => {
      const { id } = await requestTriage();
      const job = await jobs().lease(id, LEASE_MS);
      if (job === null) throw new Error('the lease is given');
      expect((await jobs().pending(1000)).map((found) => found.id)).not.toContain(id);

      await jobs().release(job, 'the process stops', 0);

      expect(await jobs().find(id)).toMatchObject({
        state: 'queued',
        error: 'the process stops',
        attempts: 0,
        retries: 0,
      });
      expect((await jobs().pending(1000)).map((found) => found.id)).toContain(id);
      expect(await jobs().lease(id, LEASE_MS)).toMatchObject({ attempts: 1, retries: 0 });
      expect(await jobs().find(id)).toMatchObject({ state: 'running', error: null });
    });

    it('stay untouched during the delay of a release, which counts separately from crashed attempts', async () => {
      const { id } = await requestTriage();
      await jobs().lease(id, 1);
      await delay(20);

      await jobs().release(await leaseJob(id), 'GitHub did not answer', 300);

      expect(await jobs().find(id)).toMatchObject({ state: 'queued', attempts: 1, retries: 1 });
      expect((await jobs().pending(1000)).map((found) => found.id)).not.toContain(id);
      expect(await jobs().lease(id, LEASE_MS)).toBeNull();
      await delay(350);
      expect((await jobs().pending(1000)).map((found) => found.id)).toContain(id);
      expect(await leaseJob(id)).toMatchObject({ attempts: 2, retries: 1 });
    });

    it('run before the end of their delay if there is a change', async () => {
      const { id, buildId } = await requestTriage();
      await jobs().release(await leaseJob(id), 'GitHub did not answer', 60_000);
      expect(await jobs().lease(id, LEASE_MS)).toBeNull();

      expect(await world.stores.triages.request(buildId)).toMatchObject({
        state: 'queued',
        retries: 0,
      });

      expect(await leaseJob(id)).toMatchObject({ attempts: 1, retries: 0 });
    });

    it('are held by the newest lease only, and only while they run', async () => {
      const { id } = await requestTriage();
      const stale = await jobs().lease(id, 1);
      if (stale === null) throw new Error('the lease is given');
      const holds = (job: WorkItem) => world.db.transaction((sql) => jobs().holds(job, sql));
      await delay(20);
      expect(await holds(stale)).toBe(true);

      const held = await leaseJob(id);

      expect([await holds(stale), await holds(held)]).toEqual([false, true]);
      await jobs().finish(held, 'done', null);
      expect(await holds(held)).toBe(false);
    });

    it('cannot be taken between the check of their holder and the end of that transaction', async () => {
      const { id } = await requestTriage();
      const expired = await jobs().lease(id, 1);
      if (expired === null) throw new Error('the lease is given');
      await delay(20);
      const order: string[] = [];
      const asked = Promise.withResolvers<void>();

      const writing = world.db.transaction(async (sql) => {
        expect(await jobs().holds(expired, sql)).toBe(true);
        order.push('asked');
        asked.resolve();
        await delay(100);
        await sql.query('select 1');
        order.push('written');
      });
      await Promise.race([asked.promise, writing]);
      const taken = await jobs().lease(id, LEASE_MS);
      if (taken !== null) order.push('taken');
      await writing;

      // Where there is one connection, the taker waits for the transaction; elsewhere it finds nothing.
      expect(order.slice(0, 2)).toEqual(['asked', 'written']);
      expect(taken ?? (await jobs().lease(id, LEASE_MS))).toMatchObject({ lease: 2 });
    });

    it('of a dead process are all taken back, and its later writes are refused', async () => {
      const { id } = await requestTriage();
      const lost = await jobs().lease(id, LEASE_MS);
      if (lost === null) throw new Error('the lease is given');

      expect(await jobs().reclaim()).toBeGreaterThanOrEqual(1);

      expect(await jobs().finish(lost, 'done', null)).toBe('refused');
      expect(await jobs().lease(id, LEASE_MS)).toMatchObject({ lease: 2 });
      expect(await jobs().renew(lost, LEASE_MS)).toBe(false);
    });

    it('are finished in the transaction of the caller', async () => {
      const { id } = await requestTriage();
      const job = await jobs().lease(id, LEASE_MS);
      if (job === null) throw new Error('the lease is given');

      const failing = world.db.transaction(async (sql) => {
        await world.stores.work.finish(job, { outcome: 'done' }, sql);
        throw new Error('no');
      });

      await expect(failing).rejects.toThrow('no');
      expect(await jobs().find(id)).toMatchObject({ state: 'running' });
    });

    it('open one triage for each failure group and conclude it', async () => {
      const { id } = await world.build();

      const opened = await Promise.all(
        ['aa', 'aa', 'bb'].map((fingerprint) => world.stores.triages.open(id, fingerprint)),
      );
      await world.db.transaction((sql) => world.stores.triages.conclude(opened[0]?.id ?? '', 'ana_1', sql));

      expect(opened[0]).toEqual({
        id: opened[0]?.id,
        buildId: id,
        fingerprint: 'aa',
        state: 'open',
        analysisId: null,
      });
      expect(opened[1]?.id).toBe(opened[0]?.id);
      const stored = await Promise.all(
        ['aa', 'bb'].map((fingerprint) => world.stores.triages.open(id, fingerprint)),
      );
      expect(stored).toEqual([{ ...opened[0], state: 'concluded', analysisId: 'ana_1' }, opened[2]]);
    });
  });

  describe('analyses', () => {
    it('are stored once for each triage', async () => {
      const { id: buildId } = await world.build();
      const { id: triageId } = await world.stores.triages.open(buildId, 'aa');
      const candidates = [1, 2, 3].map(() => sampleAnalysis({ buildId, triageId, fingerprint: 'aa' }));

      const results = await Promise.all(
        candidates.map((analysis) => world.stores.analyses.insertOnce(analysis)),
      );

      const [winner] = results.filter((result) => result.created);
      expect(results.filter((result) => result.created)).toHaveLength(1);
      expect(results.map((result) => result.analysis.id)).toEqual([1, 2, 3].map(() => winner?.analysis.id));
      expect(candidates).toContainEqual(winner?.analysis);
      expect(await world.stores.analyses.listByBuild(buildId)).toEqual([winner?.analysis]);
      expect(await world.stores.analyses.find(winner?.analysis.id ?? '')).toEqual(winner?.analysis);
      expect(await world.stores.analyses.find('ana_none')).toBeNull();
    });
  });
}
