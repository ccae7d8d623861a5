import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Build } from '../../src/domain/build.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Database } from '../../src/ports/database.ts';
import type { Stores } from '../../src/ports/stores.ts';
import {
  failingTest,
  sampleAnalysis,
  sampleBuild,
  sampleDecision,
  sampleEntry,
  sampleFailure,
  sampleFingerprint,
  sampleGroup,
  sampleReview,
} from '../store/samples.ts';

export interface StoresUnderTest {
  readonly db: Database;
  /** Stores whose clock reads `now.value`. */
  readonly stores: Stores;
  readonly now: { value: number };
  dispose(): Promise<void>;
}

const PAGE = { limit: 50, offset: 0 };

/** What every implementation of the stores promises. */
export function storesContract(name: string, open: () => Promise<StoresUnderTest>): void {
  describe(`stores: ${name}`, () => {
    let under: StoresUnderTest;
    let stores: Stores;
    /** Each test works on a repository of its own. */
    let repository: string;
    let count = 0;

    beforeAll(async () => {
      under = await open();
      stores = under.stores;
    });
    afterAll(async () => under.dispose());
    beforeEach(() => {
      count += 1;
      repository = `acme/shop-${count}`;
      under.now.value = Date.parse('2026-03-01T00:00:00.000Z') + count * 3_600_000;
    });

    async function build(change: Parameters<typeof sampleBuild>[0] = {}): Promise<Build> {
      under.now.value += 1000;
      return (await stores.builds.upsert(sampleBuild({ repository, ...change }))).build;
    }

    async function analysisOf(of: Build, fingerprint: string, change: Parameters<typeof sampleAnalysis>[1] = {}) {
      const triage = await stores.triages.open(of.id, fingerprint);
      const { analysis } = await stores.analyses.insertOnce(sampleAnalysis({ buildId: of.id, triageId: triage.id, fingerprint }, change));
      await under.db.transaction((sql) => stores.triages.conclude(triage.id, analysis.id, sql));
      return analysis;
    }

    async function openReview(change: Parameters<typeof sampleReview>[1] = {}) {
      const analysis = await analysisOf(await build({ number: newId('bld') }), newId('fal'));
      return await stores.reviews.open(sampleReview(analysis, { repository, ...change }));
    }

    describe('deliveries', () => {
      it('keeps a delivery once, also when two come at the same moment', async () => {
        const { id: buildId } = await build();
        const delivery = { source: 'github', deliveryId: newId('dlv'), event: 'workflow_run', bodySha256: 'aa', buildId };

        const kept = await Promise.all([1, 2, 3].map(() => stores.deliveries.insertOnce(delivery)));

        expect(kept.filter(Boolean)).toHaveLength(1);
        expect(await stores.deliveries.find('github', delivery.deliveryId)).toEqual({ event: 'workflow_run', bodySha256: 'aa', buildId });
        expect(await stores.deliveries.find('jenkins', delivery.deliveryId)).toBeNull();
      });

      it('forgets a delivery whose transaction fails', async () => {
        const delivery = { source: 'github', deliveryId: newId('dlv'), event: 'workflow_run', bodySha256: 'aa', buildId: null };

        const failing = under.db.transaction(async (sql) => {
          await stores.deliveries.insertOnce(delivery, sql);
          throw new Error('the sender hung up');
        });

        await expect(failing).rejects.toThrow('the sender hung up');
        expect(await stores.deliveries.insertOnce(delivery)).toBe(true);
      });
    });

    describe('builds', () => {
      it('gives back every field as it was stored', async () => {
        const full = sampleBuild({
          ...{ repository, externalId: '9001', job: 'test', branch: 'main', commit: 'abc123', author: 'ada', pullRequest: 7 },
          ...{ url: 'https://ci.example/57', startedAt: '2026-03-01T01:02:03.004Z', finishedAt: '2026-03-01T01:05:00.000Z' },
        });

        const { build: stored, created } = await stores.builds.upsert(full);

        expect(created).toBe(true);
        expect(stored).toEqual({ ...full, id: stored.id, receivedAt: new Date(under.now.value).toISOString() });
        expect(await stores.builds.find(stored.id)).toEqual(stored);
        expect(await stores.builds.find('bld_none')).toBeNull();
      });

      it('makes one build of two upserts at the same moment', async () => {
        const results = await Promise.all([1, 2, 3].map(() => stores.builds.upsert(sampleBuild({ repository }))));

        expect(new Set(results.map((result) => result.build.id)).size).toBe(1);
        expect(results.filter((result) => result.created)).toHaveLength(1);
      });

      it('lets a known build gain fields but not lose or change them', async () => {
        await build({ branch: 'main', status: 'unknown' });

        const gained = await build({ branch: null, commit: 'abc', status: 'failed' });
        const kept = await build({ branch: 'other', commit: 'def', status: 'passed' });

        expect(gained).toMatchObject({ branch: 'main', commit: 'abc', status: 'failed' });
        expect(kept).toEqual(gained);
      });

      it('makes one build of two events of one run and prefers the real number to a provisional one', async () => {
        const provisional = { externalId: '9001', number: '9001', pipeline: 'test', job: 'test' };
        const real = { externalId: '9001', number: '57', pipeline: 'CI' };

        const [one, two] = await Promise.all([build(provisional), build(real)]);
        const later = await build({ ...provisional, job: 'lint' });

        expect(one.id).toBe(two.id);
        expect(later).toMatchObject({ id: one.id, number: '57', pipeline: 'CI', job: 'test' });
      });

      it('keeps attempts apart and finds the newest by number and by external id', async () => {
        const first = await build({ externalId: '9001' });
        const second = await build({ externalId: '9001', attempt: 2 });

        expect(second.id).not.toBe(first.id);
        expect(await stores.builds.findByNumber({ provider: 'github', number: '57', repository })).toEqual(second);
        expect(await stores.builds.findByExternalId({ provider: 'github', repository, externalId: '9001' })).toEqual(second);
        expect(await stores.builds.findByExternalId({ provider: 'github', repository, externalId: '9001', attempt: 1 })).toEqual(first);
        expect(await stores.builds.findByNumber({ provider: 'jenkins', number: '57', repository })).toBeNull();
      });

      it('finds a number that several pipelines share in the one that reported last', async () => {
        await build({ pipeline: 'CI', number: `${count}999` });
        const last = await build({ pipeline: 'Nightly', number: `${count}999` });

        expect(await stores.builds.findByNumber({ provider: 'github', number: `${count}999` })).toEqual(last);
        expect(await stores.builds.findByNumber({ provider: 'github', number: `${count}999`, pipeline: 'CI' })).toMatchObject({
          pipeline: 'CI',
        });
      });

      it('lists newest first, by filter and page', async () => {
        for (const number of ['1', '2', '3']) await build({ number, status: number === '2' ? 'passed' : 'failed' });

        const numbers = async (...[filter, page]: Parameters<Stores['builds']['list']>) =>
          (await stores.builds.list({ repository, ...filter }, page)).map((found) => found.number);

        expect(await numbers({}, PAGE)).toEqual(['3', '2', '1']);
        expect(await numbers({ status: 'failed', branch: 'main' }, PAGE)).toEqual(['3', '1']);
        expect(await numbers({ number: '2', provider: 'github', pipeline: 'CI' }, PAGE)).toEqual(['2']);
        expect(await numbers({}, { limit: 1, offset: 1 })).toEqual(['2']);
      });

      it('merges test results by test and stores a repeated part once', async () => {
        const { id } = await build();
        const result = (test: string, status: 'passed' | 'failed') => ({ name: test, suite: 'S', file: null, status, durationMs: 1.5 });

        await stores.builds.saveTestResults(id, [result('a', 'failed'), result('b', 'passed')]);
        await stores.builds.saveTestResults(id, [result('a', 'passed')]);
        await stores.builds.saveTestResults(id, [result('a', 'passed')]);
        await stores.builds.saveTestResults(id, []);

        const rows = await under.db.query('select name, status, duration_ms from test_results where build_id = $1 order by name', [id]);
        expect(rows).toEqual([
          { name: 'a', status: 'passed', duration_ms: 1.5 },
          { name: 'b', status: 'passed', duration_ms: 1.5 },
        ]);
      });

      it('changes the status', async () => {
        const { id } = await build({ status: 'unknown' });

        await stores.builds.setStatus(id, 'passed');

        expect(await stores.builds.find(id)).toMatchObject({ status: 'passed' });
      });
    });

    describe('failures', () => {
      it('saves the groups of a build once; the second caller gets the stored ones', async () => {
        const { id } = await build();
        const groups = [
          { ...sampleGroup(id, 'aa'), failures: [sampleFailure(id, 'aa'), sampleFailure(id, 'aa', { message: 'two' })] },
          sampleGroup(id, 'bb', { generic: true }),
        ];

        const others = [sampleGroup(id, 'cc')];

        const [first, second] = await Promise.all([stores.failures.saveGroups(id, groups), stores.failures.saveGroups(id, others)]);

        expect([groups, others]).toContainEqual(first);
        expect(second).toEqual(first);
        expect(await stores.failures.saveGroups(id, [])).toEqual(first);
        expect(await stores.failures.listByBuild(id)).toEqual(first.flatMap((group) => group.failures));
      });

      it('remembers that a build had no failures, and refuses a build that does not exist', async () => {
        const { id } = await build();

        expect(await stores.failures.saveGroups(id, [])).toEqual([]);
        expect(await stores.failures.saveGroups(id, [sampleGroup(id, 'aa')])).toEqual([]);
        await expect(stores.failures.saveGroups('bld_none', [])).rejects.toMatchObject({ code: 'not-found' });
      });

      it('keeps text that PostgreSQL would refuse', async () => {
        const { id } = await build();

        await stores.failures.saveGroups(id, [sampleGroup(id, 'aa', { message: 'a\0b \ud800 c' })]);

        expect((await stores.failures.listByBuild(id))[0]?.message).toBe('a\uFFFDb \uFFFD c');
      });

      it('searches by every filter and shows a category once there is one, a person’s word before the machine’s', async () => {
        const one = await build({ number: '1' });
        const two = await build({ number: '2' });
        await stores.failures.saveGroups(one.id, [
          sampleGroup(one.id, `aa-${count}`, { message: 'Disk 100% full', test: failingTest('test_disk') }),
        ]);
        await stores.failures.saveGroups(two.id, [sampleGroup(two.id, `bb-${count}`, { message: 'connection refused' })]);
        const analysis = await analysisOf(one, `aa-${count}`, { category: 'CODE_ERROR' });
        const numbers = async (filter: Parameters<Stores['failures']['search']>[0]) =>
          (await stores.failures.search({ repository, ...filter }, PAGE)).map((row) => row.number);

        expect(await numbers({})).toEqual(['2', '1']);
        expect(await numbers({ fingerprint: `aa-${count}` })).toEqual(['1']);
        expect(await numbers({ test: 'test_disk' })).toEqual(['1']);
        expect(await numbers({ text: 'full 100% disk' })).toEqual(['1']);
        expect(await numbers({ text: '100%d' })).toEqual([]);
        expect(await numbers({ since: two.receivedAt })).toEqual(['2']);
        expect(await numbers({ category: 'CODE_ERROR' })).toEqual(['1']);
        expect(await stores.failures.search({ repository, test: 'test_disk' }, PAGE)).toMatchObject([
          { pipeline: 'CI', branch: 'main', category: 'CODE_ERROR', analysisId: analysis.id, seenAt: one.receivedAt },
        ]);

        const review = await stores.reviews.open(sampleReview(analysis, { repository }));
        await stores.reviews.decide(review.id, review.version, sampleDecision(review, { type: 'correct', category: 'INFRA_ERROR' }));

        expect(await numbers({ category: 'CODE_ERROR' })).toEqual([]);
        expect(await numbers({ category: 'INFRA_ERROR' })).toEqual(['1']);
      });
    });

    describe('history', () => {
      it('tells of the same test or the same fingerprint in earlier builds of the repository, newest first', async () => {
        const fingerprint = `fp-${count}`;
        const builds = [];
        for (const number of ['1', '2', '3', '4']) builds.push(await build({ number }));
        const [first, second, third, fourth] = builds as [Build, Build, Build, Build];
        await stores.failures.saveGroups(first.id, [sampleGroup(first.id, 'other', { test: failingTest('test_cart') })]);
        await stores.failures.saveGroups(second.id, [sampleGroup(second.id, fingerprint)]);
        await stores.failures.saveGroups(third.id, [sampleGroup(third.id, fingerprint, { test: failingTest('test_cart') })]);
        await stores.failures.saveGroups(fourth.id, [sampleGroup(fourth.id, fingerprint)]);

        const query = { repository, fingerprint, test: 'test_cart', beforeBuildId: third.id, limit: 10 };

        expect((await stores.history.failureHistory(query)).map((row) => row.number)).toEqual(['2', '1']);
        expect((await stores.history.failureHistory({ ...query, test: null })).map((row) => row.number)).toEqual(['2']);
        expect(await stores.history.failureHistory({ ...query, repository: 'acme/other' })).toEqual([]);
      });

      it('counts failed build numbers backwards to the last green one, by newest attempt and real order', async () => {
        // 10 sorts after 9 only as a number; 8 was mended by its second attempt; 11 says nothing; 6 is before the green one.
        await build({ number: '6' });
        await build({ number: '8' });
        const green = await build({ number: '8', attempt: 2, status: 'passed' });
        await build({ number: '12', branch: 'feature', status: 'passed' });
        await build({ number: '11', status: 'cancelled' });
        await build({ number: '10', status: 'failed' });
        await build({ number: '10', attempt: 2 });
        const first = await build({ number: '9' });
        const last = await build({ number: '13' });
        await build({ number: '14', status: 'passed' });

        const answer = await stores.history.consecutiveFailures({ repository, pipeline: 'CI', branch: 'main', buildId: last.id });

        expect(answer).toEqual({ count: 3, firstBuild: first, lastGreen: green });
      });

      it('counts nothing for a passed or an unknown build, and needs no branch', async () => {
        const passed = await build({ number: '1', branch: null, status: 'passed' });
        const failed = await build({ number: '2', branch: null });
        const ask = (buildId: string) => stores.history.consecutiveFailures({ repository, pipeline: 'CI', branch: null, buildId });

        expect(await ask(passed.id)).toEqual({ count: 0, firstBuild: null, lastGreen: passed });
        expect(await ask(failed.id)).toEqual({ count: 1, firstBuild: failed, lastGreen: passed });
        expect(await ask('bld_none')).toEqual({ count: 0, firstBuild: null, lastGreen: null });
      });

      it('finds failures with a similar message in other builds, best first', async () => {
        const builds = [await build({ number: '1' }), await build({ number: '2' }), await build({ number: '3' })] as const;
        const text = `Timeout of 5000ms exceeded while waiting for the zebra stable ${count}`;
        await stores.failures.saveGroups(builds[0].id, [sampleGroup(builds[0].id, 'a', { message: text.replace('5000', '2000') })]);
        await stores.failures.saveGroups(builds[1].id, [sampleGroup(builds[1].id, 'b', { message: text })]);
        await stores.failures.saveGroups(builds[2].id, [sampleGroup(builds[2].id, 'c', { message: text })]);

        const found = await stores.history.similarFailures({ text, excludeBuildId: builds[2].id, minScore: 0.7, limit: 2 });
        const strict = await stores.history.similarFailures({ text, excludeBuildId: builds[2].id, minScore: 0.999, limit: 9 });

        expect(found.map((row) => row.number)).toEqual(['2', '1']);
        expect(found[0]?.score).toBeCloseTo(1, 5);
        expect(strict.map((row) => row.number)).toEqual(['2']);
      });
    });

    describe('triage jobs', () => {
      const LEASE_MS = 60_000;

      async function owed() {
        const { id } = await build({ number: newId('bld') });
        return await stores.triages.owe(id);
      }

      it('owes a build once', async () => {
        const { id } = await build();

        const jobs = await Promise.all([1, 2, 3].map(() => stores.triages.owe(id)));

        expect(new Set(jobs.map((job) => job.id)).size).toBe(1);
        expect(jobs[0]).toMatchObject({ buildId: id, state: 'queued', attempts: 0, lease: 0, leaseExpiresAt: null, error: null });
        expect(await stores.triages.findByBuild(id)).toEqual(jobs[0]);
        expect(await stores.triages.find(jobs[0]?.id ?? '')).toEqual(jobs[0]);
      });

      it('gives a lease to one of several takers', async () => {
        const { id } = await owed();

        const leases = await Promise.all([1, 2, 3].map(() => stores.triages.lease(id, LEASE_MS)));

        expect(leases.filter((lease) => lease !== null)).toMatchObject([{ id, state: 'running', lease: 1, attempts: 1 }]);
      });

      it('gives back what a dead process held', async () => {
        const { id } = await owed();
        const held = await stores.triages.lease(id, LEASE_MS);

        expect(await stores.triages.reclaim()).toBeGreaterThanOrEqual(1);

        expect(await stores.triages.lease(id, LEASE_MS)).toMatchObject({ id, lease: (held?.lease ?? 0) + 1 });
      });

      it('hands an expired lease to the next and refuses everything from the one before', async () => {
        const { id } = await owed();
        const stale = await stores.triages.lease(id, 1);
        await delay(20);
        expect((await stores.triages.owed(1000)).map((job) => job.id)).toContain(id);
        const held = await stores.triages.lease(id, LEASE_MS);
        if (stale === null || held === null) throw new Error('both leases are given');

        expect(held.lease).toBe(2);
        expect(await stores.triages.renew(stale, LEASE_MS)).toBe(false);
        expect(await stores.triages.finish(stale, 'failed', 'late')).toBe(false);
        await stores.triages.release(stale, 'late');
        expect(await stores.triages.find(id)).toMatchObject({ state: 'running', lease: 2, error: null });
        expect(await stores.triages.renew(held, LEASE_MS)).toBe(true);
        expect(await stores.triages.finish(held, 'done', null)).toBe(true);
        expect(await stores.triages.finish(held, 'failed', 'twice')).toBe(false);
      });

      it('never leases a job that is done or failed for good', async () => {
        for (const state of ['done', 'failed'] as const) {
          const { id } = await owed();
          const job = await stores.triages.lease(id, LEASE_MS);
          if (job === null) throw new Error('the lease is given');
          await stores.triages.finish(job, state, state === 'failed' ? 'no log' : null);

          expect(await stores.triages.lease(id, LEASE_MS)).toBeNull();
          expect((await stores.triages.owed(1000)).map((found) => found.id)).not.toContain(id);
        }
      });

      it('takes a released job back among the owed ones, with the reason', async () => {
        const { id } = await owed();
        const job = await stores.triages.lease(id, LEASE_MS);
        if (job === null) throw new Error('the lease is given');
        expect((await stores.triages.owed(1000)).map((found) => found.id)).not.toContain(id);

        await stores.triages.release(job, 'GitHub did not answer');

        expect(await stores.triages.find(id)).toMatchObject({ state: 'queued', error: 'GitHub did not answer', leaseExpiresAt: null });
        expect((await stores.triages.owed(1000)).map((found) => found.id)).toContain(id);
        expect(await stores.triages.lease(id, LEASE_MS)).toMatchObject({ attempts: 2, error: null });
      });

      it('takes every running job back from a process that is gone, and refuses what that one still says', async () => {
        const { id } = await owed();
        const lost = await stores.triages.lease(id, LEASE_MS);
        if (lost === null) throw new Error('the lease is given');

        expect(await stores.triages.reclaim()).toBeGreaterThanOrEqual(1);

        expect(await stores.triages.finish(lost, 'done', null)).toBe(false);
        expect(await stores.triages.lease(id, LEASE_MS)).toMatchObject({ lease: 2 });
        expect(await stores.triages.renew(lost, LEASE_MS)).toBe(false);
      });

      it('finishes in the transaction of the caller', async () => {
        const { id } = await owed();
        const job = await stores.triages.lease(id, LEASE_MS);
        if (job === null) throw new Error('the lease is given');

        const failing = under.db.transaction(async (sql) => {
          await stores.triages.finish(job, 'done', null, sql);
          throw new Error('no');
        });

        await expect(failing).rejects.toThrow('no');
        expect(await stores.triages.find(id)).toMatchObject({ state: 'running' });
      });

      it('opens one triage for each failure group and concludes it', async () => {
        const { id } = await build();

        const opened = await Promise.all(['aa', 'aa', 'bb'].map((fingerprint) => stores.triages.open(id, fingerprint)));
        await under.db.transaction((sql) => stores.triages.conclude(opened[0]?.id ?? '', 'ana_1', sql));

        expect(opened[0]).toEqual({ id: opened[0]?.id, buildId: id, fingerprint: 'aa', state: 'open', analysisId: null });
        expect(opened[1]?.id).toBe(opened[0]?.id);
        const stored = (await stores.triages.listByBuild(id)).toSorted((a, b) => a.fingerprint.localeCompare(b.fingerprint));
        expect(stored).toEqual([{ ...opened[0], state: 'concluded', analysisId: 'ana_1' }, opened[2]]);
      });
    });

    describe('analyses', () => {
      it('keeps one analysis for each triage', async () => {
        const { id: buildId } = await build();
        const { id: triageId } = await stores.triages.open(buildId, 'aa');
        const candidates = [1, 2, 3].map(() => sampleAnalysis({ buildId, triageId, fingerprint: 'aa' }));

        const results = await Promise.all(candidates.map((analysis) => stores.analyses.insertOnce(analysis)));

        const [winner] = results.filter((result) => result.created);
        expect(results.filter((result) => result.created)).toHaveLength(1);
        expect(results.map((result) => result.analysis.id)).toEqual([1, 2, 3].map(() => winner?.analysis.id));
        expect(candidates).toContainEqual(winner?.analysis);
        expect(await stores.analyses.listByBuild(buildId)).toEqual([winner?.analysis]);
        expect(await stores.analyses.find(winner?.analysis.id ?? '')).toEqual(winner?.analysis);
        expect(await stores.analyses.find('ana_none')).toBeNull();
      });
    });

    describe('reviews', () => {
      const CLAIM_MS = 60_000;

      it('opens one review for an analysis', async () => {
        const analysis = await analysisOf(await build(), 'aa');
        const wanted = sampleReview(analysis, { repository });

        const opened = await stores.reviews.open(wanted);
        const again = await stores.reviews.open(sampleReview(analysis, { repository }));

        expect(opened).toEqual({ ...wanted, state: 'waiting', claimedBy: null, claimExpiresAt: null, version: 1, decision: null });
        expect(again).toEqual(opened);
        expect(await stores.reviews.find(opened.id)).toEqual(opened);
        expect(await stores.reviews.find('rev_none')).toBeNull();
        expect((await stores.reviews.events(opened.id)).map((event) => event.event)).toEqual(['opened']);
      });

      it('lets one of two reviewers claim, and the holder prolong', async () => {
        const { id } = await openReview();

        const claims = await Promise.all(['ada', 'bob', 'eve'].map((reviewer) => stores.reviews.claim(id, reviewer, CLAIM_MS)));

        const [held] = claims.filter((claim) => claim !== null);
        expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
        expect(held).toMatchObject({ state: 'claimed', version: 2 });
        expect(await stores.reviews.claim(id, held?.claimedBy ?? '', CLAIM_MS)).toMatchObject({ state: 'claimed', version: 3 });
      });

      it('reads an expired claim as waiting and lets another reviewer have it', async () => {
        const { id } = await openReview();
        await stores.reviews.claim(id, 'ada', 1);
        await delay(20);

        expect(await stores.reviews.find(id)).toMatchObject({ state: 'waiting', claimedBy: null, claimExpiresAt: null });
        expect((await stores.reviews.list({ state: 'waiting', repository }, PAGE)).map((review) => review.id)).toEqual([id]);
        expect(await stores.reviews.release(id, 'ada')).toBeNull();
        expect(await stores.reviews.claim(id, 'bob', CLAIM_MS)).toMatchObject({ claimedBy: 'bob' });
      });

      it('releases only for its holder', async () => {
        const { id } = await openReview();
        await stores.reviews.claim(id, 'ada', CLAIM_MS);

        expect(await stores.reviews.release(id, 'bob')).toBeNull();
        expect(await stores.reviews.release(id, 'ada')).toMatchObject({ state: 'waiting', claimedBy: null, version: 3 });
        expect(await stores.reviews.release(id, 'ada')).toBeNull();
      });

      it('takes one of two decisions and keeps the trail', async () => {
        const review = await openReview();
        const claimed = await stores.reviews.claim(review.id, 'ada', CLAIM_MS);
        const decision = sampleDecision(review, { type: 'correct', category: 'INFRA_ERROR', rootCause: 'the disk was full' });

        const decisions = [decision, sampleDecision(review)];
        const results = await Promise.all(decisions.map((one) => stores.reviews.decide(review.id, claimed?.version ?? 0, one)));

        const taken = decisions.filter((_, index) => results[index] !== null);
        expect(taken).toHaveLength(1);
        expect(results).toContainEqual({ ...review, state: 'decided', version: 3, decision: taken[0] });
        expect(await stores.reviews.find(review.id)).toEqual({ ...review, state: 'decided', version: 3, decision: taken[0] });
        expect(await stores.reviews.claim(review.id, 'bob', CLAIM_MS)).toBeNull();
        expect(await stores.reviews.release(review.id, 'ada')).toBeNull();
        const events = await stores.reviews.events(review.id);
        expect(events.map((event) => [event.event, event.actor])).toEqual([
          ['opened', 'faultline'],
          ['claimed', 'ada'],
          ['decided', 'ada'],
        ]);
        expect(events[2]?.details).toEqual(taken[0]);
      });

      it('refuses a decision with an old version or by someone else than the holder, and takes one where nobody holds it', async () => {
        const review = await openReview();
        await stores.reviews.claim(review.id, 'ada', CLAIM_MS);

        expect(await stores.reviews.decide(review.id, 1, sampleDecision(review))).toBeNull();
        expect(await stores.reviews.decide(review.id, 2, sampleDecision(review, { reviewer: 'bob' }))).toBeNull();
        await stores.reviews.release(review.id, 'ada');
        expect(await stores.reviews.decide(review.id, 3, sampleDecision(review, { reviewer: 'bob' }))).toMatchObject({ state: 'decided' });
      });

      it('undoes a decision whose transaction fails', async () => {
        const review = await openReview();

        const failing = under.db.transaction(async (sql) => {
          await stores.reviews.decide(review.id, 1, sampleDecision(review), sql);
          throw new Error('the library refused');
        });

        await expect(failing).rejects.toThrow('the library refused');
        expect(await stores.reviews.find(review.id)).toEqual(review);
        expect(await stores.reviews.events(review.id)).toHaveLength(1);
      });

      it('lists oldest first, by filter', async () => {
        const later = await openReview({ openedAt: '2026-02-02T00:00:00.000Z', category: 'INFRA_ERROR' });
        const earlier = await openReview({ openedAt: '2026-02-01T00:00:00.000Z' });
        const ids = async (filter: Parameters<Stores['reviews']['list']>[0]) =>
          (await stores.reviews.list({ repository, ...filter }, PAGE)).map((review) => review.id);

        expect(await ids({})).toEqual([earlier.id, later.id]);
        expect(await ids({ category: 'INFRA_ERROR' })).toEqual([later.id]);
        expect(await ids({ state: 'decided' })).toEqual([]);
      });

      it('lets nobody rewrite the trail', async () => {
        const { id } = await openReview();

        await expect(under.db.query(`update review_events set actor = 'eve' where review_id = $1`, [id])).rejects.toThrow('append-only');
        await expect(under.db.query('delete from review_events where review_id = $1', [id])).rejects.toThrow('append-only');
      });
    });

    describe('error library', () => {
      it('recalls a reviewer’s latest word for a fingerprint', async () => {
        const fingerprint = newId('lib');
        const newer = sampleEntry(fingerprint, { confirmedAt: '2026-02-01T00:00:00.000Z' });
        await stores.library.insert(newer);
        await stores.library.insert(sampleEntry(fingerprint, { confirmedAt: '2026-01-01T00:00:00.000Z' }));

        expect(await stores.library.recall(fingerprint)).toEqual(newer);
        expect(await stores.library.find(newer.id)).toEqual(newer);
        expect(await stores.library.recall('none')).toBeNull();
        expect((await stores.library.list({ limit: 1, offset: 0 })).map((entry) => entry.id)).toEqual([newer.id]);
      });

      it('counts every sighting, also those at the same moment', async () => {
        const entry = sampleEntry(newId('lib'));
        await stores.library.insert(entry);
        const at = '2026-03-01T00:00:00.000Z';

        const totals = await Promise.all([1, 2, 3].map(() => stores.library.seen(entry.id, at)));

        expect(totals.toSorted()).toEqual([2, 3, 4]);
        expect(await stores.library.find(entry.id)).toMatchObject({ timesSeen: 4, lastSeenAt: at });
        await expect(stores.library.seen('lib_none', at)).rejects.toMatchObject({ code: 'not-found' });
      });

      it('keeps the fingerprint whole', async () => {
        const entry = sampleEntry('x', { fingerprint: { ...sampleFingerprint(newId('lib')), algorithm: 'frames', version: 3 } });

        await stores.library.insert(entry);

        expect((await stores.library.recall(entry.fingerprint.value))?.fingerprint).toEqual(entry.fingerprint);
      });
    });
  });
}
