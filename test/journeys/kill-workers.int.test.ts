import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Analysis } from '../../src/domain/analysis.ts';
import { findWalkError } from '../support/graph-walk.ts';
import { startLoopback } from '../support/loopback-server.ts';
import { startPostgres, type TestServer, withoutPostgres } from '../support/postgres.ts';
import { withSettings } from '../support/settings.ts';
import { THOROUGH } from '../support/thorough.ts';
import { FLEET_SETTINGS, type Fleet, openFleet, type Worker } from '../support/worker-fleet.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

/** All analyses of these builds, in their order. */
async function listAnalyses({ stores }: Fleet, buildIds: readonly string[]): Promise<Analysis[]> {
  return (await Promise.all(buildIds.map((id) => stores.analyses.listByBuild(id)))).flat();
}

/** How many nodes these workers finished of the build. */
function listNodes(workers: readonly Worker[], buildId: string): string[] {
  return workers.flatMap(({ lines }) =>
    lines.filter((line) => line.startsWith(`${buildId} `)).map((line) => line.slice(buildId.length + 1)),
  );
}

async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await condition()) return;
    await sleep(50);
  }
  throw new Error('it never came to that');
}

describe.skipIf(withoutPostgres)('several worker processes on one PostgreSQL', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => server.dispose());

  async function withFleet(
    settings: Readonly<Record<string, string>>,
    work: (fleet: Fleet) => Promise<void>,
  ): Promise<void> {
    const fleet = await openFleet(server, settings);
    try {
      await work(fleet);
    } finally {
      await fleet.dispose();
    }
  }

  it('T02: two workers killed at random points lose nothing, and another continues from the last finished node', {
    timeout: 180_000,
  }, async () => {
    const [BUILDS, KILLS, CONCURRENCY] = THOROUGH ? [24, 6, 2] : [8, 2, 2];
    const messages: string[] = [];
    const receiver = await startLoopback((request, response) => {
      messages.push(String(request.headers['webhook-id']));
      response.writeHead(204).end();
    });
    const settings = {
      FAULTLINE_PUBLISH_WEBHOOK_URL: receiver.url,
      FAULTLINE_PUBLISH_WEBHOOK_SECRET: SECRET,
      FAULTLINE_CONCURRENCY: String(CONCURRENCY),
      // Kills from outside are no fault of what was running.
      ...withSettings({ ...FLEET_SETTINGS, triage: { ...FLEET_SETTINGS.triage, maxCrashes: 100 } }),
    };
    await withFleet(settings, async (fleet) => {
      const builds = await fleet.storeBuilds(BUILDS);
      const all = [fleet.start(), fleet.start()];
      const running = [...all];
      for (let kill = 0; kill < KILLS; kill++) {
        const [victim] = running.splice(0, 1);
        await victim?.ready;
        await sleep(50 + Math.random() * 400);
        victim?.process.kill('SIGKILL');
        const next = fleet.start();
        all.push(next);
        running.push(next);
      }
      await fleet.settled(builds);

      const analyses = await listAnalyses(fleet, builds);
      expect(analyses).toHaveLength(BUILDS);
      expect(analyses.filter(({ terminationReason }) => terminationReason === 'failed')).toEqual([]);
      expect(analyses.map(({ steps }) => findWalkError(steps))).toEqual(analyses.map(() => null));
      expect([...new Set(messages)].toSorted()).toEqual(analyses.map(({ id }) => `webhook:${id}`).toSorted());
      const finished = builds.reduce((sum, id) => sum + listNodes(all, id).length, 0);
      const needed = analyses.reduce((sum, { steps }) => sum + steps.length, 0);
      // A node that was finished and not yet kept when its process died is finished again; at most the one that each run was in.
      expect(finished - needed).toBeLessThanOrEqual(KILLS * CONCURRENCY);
      console.info(
        `2 workers, ${KILLS} kills, ${BUILDS} builds, ${analyses.length} analyses, ${new Set(messages).size} messages by their ids; lost: 0, ` +
          `nodes: ${needed}, finished again: ${finished - needed}`,
      );
    });
    await receiver.close();
  });

  it('T04: a build that kills its worker is handed over for review after 3 crashes, and the others proceed', async () => {
    await withFleet({ FAULTLINE_CONCURRENCY: '4' }, async (fleet) => {
      const builds = await fleet.storeBuilds(6);
      const poison = builds[2] ?? '';
      let crashes = -1;
      let worker: Worker;
      do {
        crashes += 1;
        worker = fleet.start({ WORKER_POISON: crashes < 3 ? poison : '' });
        await Promise.race([worker.ended, fleet.settled(builds).catch(() => undefined)]);
      } while (worker.process.exitCode !== null || worker.process.signalCode !== null);

      expect(crashes).toBe(3);
      const [given] = await fleet.stores.analyses.listByBuild(poison);
      expect(given).toMatchObject({ terminationReason: 'failed', verdict: { action: 'human_review' } });
      expect(given?.answer.rootCause).toContain('Stopped after 3 attempts');
      const reviews = await fleet.stores.reviews.list({}, { limit: 10, offset: 0 });
      expect(reviews.map(({ buildId }) => buildId)).toEqual([poison]);
      const others = await listAnalyses(
        fleet,
        builds.filter((id) => id !== poison),
      );
      expect(others.map(({ terminationReason }) => terminationReason)).not.toContain('failed');
      expect(others).toHaveLength(5);
      console.info(
        `1 deadly build, ${crashes} crashes, 1 person asked, ${others.length} others answered; lost: 0, blamed wrongly: 0`,
      );
    });
  });

  it('T05: a worker frozen past its lease writes nothing when it continues', async () => {
    await withFleet({}, async (fleet) => {
      const [build = ''] = await fleet.storeBuilds(1);
      const frozen = fleet.start({ WORKER_FREEZE: 'observe' });
      await waitUntil(() => listNodes([frozen], build).includes('observe'));
      const other = fleet.start();
      await fleet.settled([build]);
      const before = await listAnalyses(fleet, [build]);
      frozen.process.kill('SIGCONT');
      await waitUntil(() =>
        frozen.lines.some((line) => line.startsWith('said triage failed') || line.includes('taken over')),
      );

      expect(await listAnalyses(fleet, [build])).toEqual(before);
      expect(before).toHaveLength(1);
      expect(findWalkError(before[0]?.steps ?? [])).toBeNull();
      const job = await fleet.stores.triages.findByBuild(build);
      expect(job).toMatchObject({ state: 'done', error: null });
      expect(await fleet.stores.work.listByBuild(build)).toMatchObject([{ outcome: 'done', lease: 1 }]);
      expect(listNodes([other], build)).not.toContain('classify');
      console.info('1 worker frozen past its lease, 1 analysis, 1 telling; writes of the frozen one: 0');
    });
  });

  it('T69: workers whose clocks differ by twenty minutes agree on who holds what', async () => {
    await withFleet(withSettings({}), async (fleet) => {
      const BUILDS = THOROUGH ? 12 : 6;
      const builds = await fleet.storeBuilds(BUILDS);
      const offsets = THOROUGH ? ['-600000', '0', '600000'] : ['-600000', '600000'];
      const workers = offsets.map((offset) => fleet.start({ WORKER_CLOCK_MS: offset }));
      await Promise.all(workers.map(({ ready }) => ready));
      await fleet.settled(builds);

      const leases = z.array(z.object({ lease: z.int() }));
      const jobs = leases.parse(await fleet.database.query(`select lease from work where topic = 'triage'`));
      const acts = leases.parse(
        await fleet.database.query(`select lease from work where topic like 'publish:%'`),
      );
      expect([...jobs, ...acts].filter(({ lease }) => lease !== 1)).toEqual([]);
      const analyses = await listAnalyses(fleet, builds);
      expect(analyses).toHaveLength(BUILDS);
      expect(analyses.filter(({ milliseconds }) => milliseconds < 0)).toEqual([]);
      const shares = workers.map(
        (worker) => builds.filter((id) => listNodes([worker], id).length > 0).length,
      );
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(BUILDS);
      console.info(
        `${offsets.length} clocks 20 minutes apart, ${BUILDS} builds shared as ${shares.join(' + ')}, ` +
          `${analyses.length} analyses; taken from one another: 0`,
      );
    });
  });
});
