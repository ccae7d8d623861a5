import { describe, expect, it } from 'vitest';
import type { Build, NewBuild } from '../../../src/domain/build.ts';
import type { EnvironmentRecord, RecordedVersion } from '../../../src/domain/environment-record.ts';
import type { StoresWorld } from './world.ts';

function record(versions: Readonly<Record<string, string>>): EnvironmentRecord {
  const all = Object.entries(versions).map(
    ([name, version]): RecordedVersion => ({ kind: 'python', name, version, line: 3 }),
  );
  return { log: 'test.log', versions: all, requirements: [], steps: [{ name: 'pytest', seconds: 12 }] };
}

/** What the store of environments promises. */
export function testEnvironmentsContract(world: StoresWorld): void {
  const at = (hour: number, day = 3) => `2026-10-0${day}T0${hour}:00:00.000Z`;
  const passed = async (
    number: number,
    versions: Readonly<Record<string, string>>,
    change: Partial<NewBuild> = {},
  ): Promise<Build> => {
    const build = await world.build({
      number: `${number}`,
      status: 'passed',
      pipeline: 'versions',
      startedAt: at(number),
      ...change,
    });
    await world.stores.environments.save(build.id, [{ log: 'test.log', record: record(versions) }]);
    return build;
  };
  const failed = (number: number, change: Partial<NewBuild> = {}) =>
    world.build({ number: `${number}`, pipeline: 'versions', startedAt: at(number), ...change });
  const findPassedEnvironment = async (build: Build) =>
    (await world.stores.environments.lastGreen(build.id, ['test.log'])).get('test.log');

  describe('environments', () => {
    it('of a failed build are compared with those of the newest passed build of its job before it', async () => {
      await passed(1, { pandas: '2.3.0' }, { startedAt: at(1, 2) });
      const green = await passed(2, { pandas: '2.3.1', numpy: '2.1.3' });
      await passed(3, { pandas: '9' }, { pipeline: 'other' });
      const red = await failed(4);
      await passed(5, { pandas: '3.0.0' }, { startedAt: at(5, 4) });
      const found = await findPassedEnvironment(red);
      expect(found?.build.buildId).toBe(green.id);
      expect(found?.commit).toBe(green.commit);
      expect(found?.record.steps).toEqual([{ name: 'pytest', seconds: 12 }]);
      expect(found?.record.versions.map(({ name, version }) => `${name} ${version}`).sort()).toEqual([
        'numpy 2.1.3',
        'pandas 2.3.1',
      ]);
    });

    it('come from the branch of the build, otherwise from the default branch', async () => {
      const main = await passed(2, { pandas: '2' }, { pipeline: 'branches', branch: 'main' });
      const red = await failed(4, { pipeline: 'branches', branch: 'topic' });
      expect((await findPassedEnvironment(red))?.build.buildId).toBe(main.id);
      const own = await passed(1, { pandas: '1' }, { pipeline: 'branches', branch: 'topic' });
      expect((await findPassedEnvironment(red))?.build.buildId).toBe(own.id);
    });

    it('are stored for the newest passed build of a day, and deleted with it', async () => {
      const early = await passed(1, { pandas: '1' }, { pipeline: 'daily' });
      const late = await passed(2, { pandas: '2' }, { pipeline: 'daily' });
      expect(await world.stores.environments.find(early.id)).toEqual([]);
      expect(await world.stores.environments.find(late.id)).toHaveLength(1);
    });

    it('are absent for a build without an earlier passed one', async () => {
      expect(await findPassedEnvironment(await failed(1, { pipeline: 'never-green' }))).toBeUndefined();
    });
  });
}
