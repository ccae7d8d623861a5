import { describe, expect, it } from 'vitest';
import type { Build, NewBuild } from '../../../src/domain/build.ts';
import { createPassingBuildRequest, PASSING_BUILD, type WorkItem } from '../../../src/domain/work.ts';
import { createTriageJobs } from '../../support/triage-jobs.ts';
import type { StoresWorld } from './world.ts';

const LONG = 60_000;

/** What the store of green builds promises. */
export function testGreensContract(world: StoresWorld): void {
  const passed = (number: number, change: Partial<NewBuild> = {}): Promise<Build> =>
    world.build({ number: `${number}`, status: 'passed', ...change });
  const failed = (number: number, change: Partial<NewBuild> = {}): Promise<Build> =>
    world.build({ number: `${number}`, ...change });

  async function takeFor(build: Build): Promise<WorkItem> {
    await world.stores.work.addOnce([createPassingBuildRequest(build.id)]);
    const [entry] = await world.stores.work.take({
      topic: PASSING_BUILD,
      limit: 1,
      leaseMs: LONG,
      keys: [build.id],
    });
    if (entry === undefined) throw new Error(`${build.id} is not in the work table`);
    return entry;
  }

  /** A passed build whose logs are kept as templates of one line each: `<log> of <number>`. */
  async function storePassedBuild(
    number: number,
    change: Partial<NewBuild> = {},
    logs: readonly string[] = ['test.log'],
    builds = 3,
  ): Promise<Build> {
    const build = await passed(number, change);
    const made = logs.map((log) => ({
      log,
      templates: { version: 1 as const, lines: [`${log} of ${number}`] },
    }));
    expect(await world.stores.passingBuilds.keep(await takeFor(build), made, builds)).toBe(true);
    return build;
  }

  async function listNumbers(
    build: Build,
    logs: readonly string[] = ['test.log'],
    builds = 3,
  ): Promise<string[]> {
    return (await world.stores.passingBuilds.choose(build.id, logs, builds)).map(
      ({ build: { number } }) => number,
    );
  }

  describe('a passed build', () => {
    it('is not stored by a worker that lost its lease', async () => {
      const build = await passed(1);
      const stale = await takeFor(build);
      await world.stores.work.release(stale, 'stopping', 0);
      await takeFor(build);
      const made = [{ log: 'stale', templates: { version: 1 as const, lines: ['stale'] } }];
      expect(await world.stores.passingBuilds.keep(stale, made, 3)).toBe(false);
    });

    it('is not needed if enough newer builds of the branch have templates', async () => {
      await storePassedBuild(5);
      const late = await passed(4);
      expect(await world.stores.passingBuilds.isWanted(late.id, 2)).toBe(true);
      await storePassedBuild(6);
      expect(await world.stores.passingBuilds.isWanted(late.id, 2)).toBe(false);
      expect(await world.stores.passingBuilds.isWanted((await passed(7)).id, 2)).toBe(true);
      expect(await world.stores.passingBuilds.isWanted((await passed(3, { branch: 'topic' })).id, 2)).toBe(
        true,
      );
    });
  });

  describe('templates of passed builds', () => {
    it('come from the newest builds before the failed one, and only from its own pipeline', async () => {
      for (const number of [8, 9, 10, 12]) await storePassedBuild(number);
      await storePassedBuild(9, { pipeline: 'nightly' });
      await storePassedBuild(9, { repository: `${world.repository}-fork` });

      const [newest, ...rest] = await world.stores.passingBuilds.choose(
        (await failed(11)).id,
        ['test.log', 'other.log'],
        2,
      );

      expect(newest).toMatchObject({
        log: 'test.log',
        templates: { version: 1, lines: ['test.log of 10'] },
        build: { number: '10', url: null },
      });
      expect(rest.map(({ build }) => build.number)).toEqual(['9']);
    });

    it('come from the same branch, otherwise from the default branch, for each log', async () => {
      await storePassedBuild(1, {}, ['unit.log', 'lint.log']);
      await storePassedBuild(2, { branch: 'topic' }, ['unit.log']);
      await storePassedBuild(3, { branch: 'other' }, ['unit.log', 'lint.log']);

      const chosen = await world.stores.passingBuilds.choose(
        (await failed(4, { branch: 'topic' })).id,
        ['lint.log', 'unit.log'],
        3,
      );

      expect(chosen.map(({ log, build }) => `${log} ${build.number}`)).toEqual(['lint.log 1', 'unit.log 2']);
    });

    it('take the default branch from the CI, otherwise by its usual names', async () => {
      const { passingBuilds } = world.stores;
      await storePassedBuild(1, { branch: 'main' });
      await storePassedBuild(2, { branch: 'develop' });
      expect(await listNumbers(await failed(3, { branch: 'topic' }))).toEqual(['1']);

      const of = { provider: 'github', repository: world.repository };
      await passingBuilds.saveDefaultBranch({ ...of, branch: 'elsewhere' });
      await passingBuilds.saveDefaultBranch({ ...of, branch: 'develop' });

      expect(await listNumbers(await failed(4, { branch: 'topic' }))).toEqual(['2']);
    });

    it('for a run without a number yet come from runs that started before it', async () => {
      await storePassedBuild(1, { startedAt: '2026-03-01T01:00:00.000Z' });
      await storePassedBuild(2, { startedAt: '2026-03-01T03:00:00.000Z' });

      const provisional = await failed(9_001, { externalId: '9001', startedAt: '2026-03-01T02:00:00.000Z' });

      expect(await listNumbers(provisional)).toEqual(['1']);
    });

    it('of the first attempt serve the second, and not the other way round', async () => {
      await storePassedBuild(5, { attempt: 2 });
      expect(await listNumbers(await failed(5, { attempt: 1 }))).toEqual([]);
      expect(await listNumbers(await failed(5, { attempt: 3 }))).toEqual(['5']);
    });

    it('remain those that were chosen first, even if there were none', async () => {
      const early = await failed(2);
      expect(await listNumbers(early)).toEqual([]);
      await storePassedBuild(1);
      expect(await listNumbers(early)).toEqual([]);
      expect(await listNumbers(early, ['late.log', 'test.log'])).toEqual([]);
      expect(await listNumbers(await failed(3))).toEqual(['1']);
    });

    it('are deleted except for the newest of each branch and log, and those in use', async () => {
      await storePassedBuild(1);
      await storePassedBuild(0, { branch: 'topic' });
      const open = await failed(2);
      await world.stores.triages.request(open.id);
      expect(await listNumbers(open)).toEqual(['1']);
      for (const number of [3, 4, 5]) await storePassedBuild(number, {}, ['test.log'], 2);

      expect(await listNumbers(open)).toEqual(['1']);
      expect(await listNumbers(await failed(6), ['test.log'], 9)).toEqual(['5', '4', '1']);
      expect(await listNumbers(await failed(9, { branch: 'topic' }))).toEqual(['0']);

      const job = await world.stores.triages.findByBuild(open.id);
      const held = job === null ? null : await createTriageJobs(world.stores).lease(job.buildId);
      if (held === null) throw new Error('the triage could not be taken');
      await createTriageJobs(world.stores).finish(held, 'done');
      await storePassedBuild(7, {}, ['test.log'], 2);
      expect(await listNumbers(open)).toEqual([]);
    });

    it('are deleted with their build', async () => {
      const build = await storePassedBuild(1);
      const red = await failed(2);
      expect(await listNumbers(red)).toEqual(['1']);

      await world.db.query('delete from builds where id = $1', [build.id]);

      expect(await listNumbers(red)).toEqual([]);
      expect(await world.db.query('select 1 from green_templates where build_id = $1', [build.id])).toEqual(
        [],
      );
      expect(await world.stores.work.find(PASSING_BUILD, build.id)).toBeNull();
    });
  });
}
