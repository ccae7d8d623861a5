import { describe, expect, it } from 'vitest';
import { createTriageJobs } from '../../support/triage-jobs.ts';
import type { StoresWorld } from './world.ts';

/** What open pages are told of. */
export function testChangesContract(world: StoresWorld): void {
  describe('changes', () => {
    it('are recorded for everything that a page shows, with the build and its repository', async () => {
      const { stores, repository } = world;
      const seen = async (buildId: string | null) =>
        (await stores.changes.recent(60_000)).filter(
          (one) => one.repository === repository && one.buildId === buildId,
        ).length;
      const steps: number[] = [];
      const build = await world.build();
      const note = async () => void steps.push(await seen(build.id));
      await note();
      const job = await stores.triages.request(build.id);
      await note();
      await createTriageJobs(stores).lease(job.buildId);
      await note();
      const step = {
        node: 'classify',
        round: 0,
        startedAt: build.receivedAt,
        milliseconds: 1,
        summary: 'done',
      };
      await stores.runSteps.add(build.id, step);
      await note();
      const analysis = await world.storeAnalysis(build, 'fp-changes');
      await note();
      const review = await world.openReview({ analysisId: analysis.id, buildId: build.id, repository });
      await note();
      await stores.reviews.claim(review.id, 'ada', 60_000);
      await note();
      expect(steps.map((count, at) => count > (steps[at - 1] ?? 0))).toEqual(steps.map(() => true));
      const causes = await seen(null);
      expect(causes).toBeGreaterThan(0);
      const [cause] = await stores.causes.ofFingerprint('fp-changes', { repositories: [repository] });
      if (cause === undefined) throw new Error('no cause');
      await stores.causes.change(cause, { what: 'acknowledged' }, 'ada', Date.now());
      expect(await seen(null)).toBeGreaterThan(causes);
    });

    it('are deleted after a minute without a cleanup job', async () => {
      const { stores, db } = world;
      await world.build();
      const [old] = await db.query<{ count: number }>(
        `with old as (update changes set at = at - interval '2 minutes' returning id) select count(*)::int as count from old`,
      );
      // Each change takes five away.
      const builds = Math.ceil((old?.count ?? 0) / 5);
      for (let count = 0; count < builds; count++) await world.build();
      expect(
        await db.query(`select id from changes where at < clock_timestamp() - interval '1 minute' limit 1`),
      ).toEqual([]);
      expect((await stores.changes.recent(60_000)).length).toBeGreaterThanOrEqual(builds);
    });
  });
}
