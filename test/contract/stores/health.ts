import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Build, type NewBuild } from '../../../src/domain/build.ts';
import type { Health } from '../../../src/domain/health.ts';
import { createRetentionStore } from '../../../src/stores/retention.ts';
import { buildColumns } from '../../../src/stores/sql.ts';
import { sampleBuild, sampleGroup } from '../../stores/samples.ts';
import { runs } from '../../support/thorough.ts';
import type { StoresWorld } from './world.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Where the last day of the period ends. */
const END = Date.parse('2026-08-02T00:00:00.000Z');
const toIso = (time: number) => new Date(time).toISOString();

/** A build comes, again or late or at the border of a day; or some are deleted. */
const Step = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      number: fc.integer({ min: 1, max: 20 }).map(String),
      pipeline: fc.constantFrom('ci', 'lint'),
      branch: fc.constantFrom('main', 'topic'),
      status: fc.constantFrom('passed', 'failed', 'cancelled', 'unknown'),
      came: fc.oneof(
        fc.integer({ min: -9 * DAY, max: HOUR }),
        fc
          .tuple(fc.integer({ min: -8, max: 0 }), fc.integer({ min: -1, max: 1 }))
          .map(([day, ms]) => day * DAY + ms),
      ),
      minutes: fc.option(fc.integer({ min: 0, max: 90 })),
      queuedSeconds: fc.option(fc.integer({ min: 0, max: 600 })),
    }),
  },
  fc.record({ deleteBefore: fc.integer({ min: -9 * DAY, max: -DAY }) }),
);
type Step = typeof Step extends fc.Arbitrary<infer Value> ? Value : never;

/** The health of pipelines is read from counts of days, and is what the builds themselves say. */
export function testHealthContract(world: StoresWorld): void {
  const forget = async (repository: string, before: number) => {
    const scope = { repository, except: [], before: toIso(before), settledOnly: false };
    await createRetentionStore(world.db, world.stores.work).forgetBuilds(scope, 100);
  };
  const take = async (step: Step, repository: string) => {
    if ('deleteBefore' in step) {
      return await forget(repository, END + step.deleteBefore);
    }
    const { came, minutes, ...build } = step;
    const times =
      minutes === null
        ? {}
        : { startedAt: toIso(END + came - minutes * 60_000 - 1000), finishedAt: toIso(END + came - 1000) };
    await world.stores.builds.upsert(
      sampleBuild({ ...build, ...times, repository } as object),
      undefined,
      toIso(END + came),
    );
  };

  describe('health', () => {
    it('counts the stored builds, in whatever order they were added and deleted', async () => {
      let tries = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(Step, { maxLength: 40 }),
          fc.integer({ min: 1, max: 4 }),
          Compared,
          async (steps, days, daysBefore) => {
            tries += 1;
            const repository = `${world.repository}-${tries}`;
            for (const step of steps) await take(step, repository);
            const builds = z
              .array(Build)
              .parse(
                await world.db.query(`select ${buildColumns('b')} from builds b where repository = $1`, [
                  repository,
                ]),
              );
            const period = { until: toIso(END - 1), days };
            const { health } = world.stores;
            expect(await health.pipelines({ ...period, repository }, 50)).toEqual(
              computeHealth(builds, days),
            );
            expect(await health.pipelines({ ...period, repositories: [repository] }, 50)).toEqual(
              computeHealth(builds, days),
            );
            const comparedFrom = toIso(END - daysBefore * DAY).slice(0, 10);
            const compared = { ...period, repository, comparedFrom };
            expect(await health.pipelines(compared, 50)).toEqual(computeHealth(builds, days, daysBefore));
            expect((await health.repository(compared, 50)).branches).toEqual(
              ['main', 'topic']
                .flatMap((branch) => computeHealth(selectBranch(builds, branch), days, daysBefore, branch))
                .toSorted(compareByFailed),
            );
            expect(
              (await health.repository({ ...compared, repositories: ['other/*'] }, 50)).branches,
            ).toEqual([]);
            await forget(repository, END + DAY);
            expect(
              await world.db.query('select * from build_days where repository = $1', [repository]),
            ).toEqual([]);
          },
        ),
        { numRuns: runs(100) },
      );
    });

    it('62: counts the builds of a day, and knows deployments and successive releases of Faultline', async () => {
      const { stores, db, repository } = world;
      for (const [number, status, came] of [
        ['1', 'failed', END - HOUR],
        ['2', 'passed', END - 2 * HOUR],
        ['3', 'failed', END - 3 * DAY],
        ['4', 'failed', END - 9 * DAY],
      ] as const)
        await stores.builds.upsert(sampleBuild({ repository, number, status }), undefined, toIso(came));
      const deployment = {
        repository,
        environment: 'production',
        version: '1.4.2',
        url: 'https://ci.example/7',
        at: toIso(END - 2 * DAY),
      };
      for (const at of [deployment.at, deployment.at, toIso(END - 9 * DAY)])
        await stores.health.addDeployment({ ...deployment, at });
      await db.query('delete from setups');
      for (const [release, days] of [
        ['0.8.0', 8],
        ['0.8.0', 4],
        ['0.9.0', 1],
      ] as const)
        await db.query(
          `insert into setups (release, analyst, auto_notify, at) values ($1, 'rules', 0.8, $2)`,
          [release, toIso(END - days * DAY)],
        );
      const { days, marks } = await stores.health.repository(
        { until: toIso(END - 1), days: 7, repository },
        9,
      );
      expect(days).toEqual([
        { day: '2026-07-30', builds: 1, failed: 1 },
        { day: '2026-08-01', builds: 2, failed: 1 },
      ]);
      expect(marks).toEqual([
        { kind: 'deployment', at: deployment.at, name: '1.4.2 to production', url: deployment.url },
        { kind: 'upgrade', at: toIso(END - DAY), name: 'Faultline 0.9.0', url: null },
      ]);
      const hidden = await stores.health.repository(
        { until: toIso(END - 1), days: 7, repository, repositories: ['other/*'] },
        9,
      );
      expect([hidden.days, hidden.marks.map(({ kind }) => kind)]).toEqual([[], ['upgrade']]);
      await createRetentionStore(db, stores.work).forgetRepository({
        repository,
        except: [],
        before: toIso(END),
        settledOnly: false,
      });
      expect(await db.query('select * from deployments where repository = $1', [repository])).toEqual([]);
    });

    it('counts builds that are added and deleted at the same time', async () => {
      const { repository } = world;
      const come = (number: number, hours: number) => {
        const build = {
          number: `${number}`,
          branch: 'main',
          status: 'failed',
          came: -hours * HOUR,
          minutes: null,
          queuedSeconds: null,
        } as const;
        return take({ ...build, pipeline: number % 2 === 0 ? 'ci' : 'lint' }, repository);
      };
      for (let hours = 0; hours < 60; hours += 1) await come(hours, hours);
      await Promise.all([
        ...Array.from({ length: 40 }, (_, at) => come(60 + (at % 20), at % 20)),
        ...[40, 28, 35].map((hours) => forget(repository, END - hours * HOUR)),
      ]);
      const [row] = await world.db.query(
        `select (select sum(builds)::int from build_days where repository = $1) as days, (select count(*)::int from builds where repository = $1) as builds`,
        [repository],
      );
      expect(row).toEqual({ days: row?.builds, builds: expect.any(Number) });
    });

    it('62: counts failed builds by job, and lists the builds of a job and a period', async () => {
      const { stores, repository } = world;
      const failed = async (number: string, change: Partial<NewBuild>, log: string, came = END - HOUR) => {
        const build = sampleBuild({
          repository,
          number,
          status: 'failed',
          job: null,
          branch: 'main',
          ...change,
        });
        const { build: stored } = await stores.builds.upsert(build, undefined, toIso(came));
        await stores.ciLinks.saveLogPages(stored.id, [{ name: log, url: 'https://ci.example/job/1' }]);
        const excerpt = {
          source: log,
          lineStart: 1,
          lineEnd: 1,
          text: 'it failed',
          reason: 'an error',
          weight: 1,
        };
        await stores.failures.saveGroups(stored.id, [sampleGroup(stored.id, `fp-${number}`, { excerpt })]);
        return stored.id;
      };
      const both = await failed('1', { job: 'lint' }, '3_unit.log');
      const unit = await failed('2', {}, 'unit.log');
      await failed('3', {}, 'console.log');
      await failed('4', {}, 'unit.log', END - 9 * DAY);
      const period = { until: toIso(END - 1), days: 7, repository };
      const jobs = [
        { job: 'unit', builds: 2 },
        { job: 'lint', builds: 1 },
      ];
      expect((await stores.health.repository(period, 9)).jobs).toEqual({ jobs, builds: 3, unknown: 1 });
      const hidden = await stores.health.repository({ ...period, repositories: ['other/*'] }, 9);
      expect(hidden.jobs).toEqual({ jobs: [], builds: 0, unknown: 0 });
      const list = async (filter: object) =>
        (await stores.builds.list({ repository, ...filter }, { limit: 9, offset: 0 }))
          .map(({ id }) => id)
          .toSorted();
      const days = { since: toIso(END - 7 * DAY), until: toIso(END) };
      expect(await list({ job: 'unit', ...days })).toEqual([both, unit].toSorted());
      expect(await list({ job: 'lint' })).toEqual([both]);
      expect(await list({ ...days, status: 'ended' })).toHaveLength(3);
      expect(await list({ until: days.since })).toHaveLength(1);
    });
  });
}

/** How many days before the end of the period the one that it is compared with begins. */
const Compared = fc.integer({ min: 1, max: 9 });

function selectBranch(builds: readonly Build[], branch: string): Build[] {
  return builds.filter((build) => build.branch === branch);
}

function computeHealth(
  builds: readonly Build[],
  days: number,
  daysBefore = 2 * days,
  branch = 'main',
): Health[] {
  const counted = builds.filter(({ status }) => status === 'passed' || status === 'failed');
  const within = (from: number, to: number) => (build: Build) =>
    Date.parse(build.receivedAt) >= from && Date.parse(build.receivedAt) < to;
  return [...Map.groupBy(counted, ({ pipeline }) => pipeline)]
    .flatMap(([pipeline, all]) => {
      const now = all.filter(within(END - days * DAY, END));
      const before = all.filter(within(END - daysBefore * DAY, END - (daysBefore - days) * DAY));
      const failed = (some: readonly Build[]) => some.filter(({ status }) => status === 'failed').length;
      const perDay = Array.from({ length: days }, (_, day) =>
        failed(now.filter(within(END - (days - day) * DAY, END - (days - day - 1) * DAY))),
      );
      const known = { provider: 'github', repository: all[0]?.repository ?? '', pipeline, perDay };
      const counts = {
        builds: now.length,
        failed: failed(now),
        buildsBefore: before.length,
        failedBefore: failed(before),
      };
      const minutes = {
        minutes: computeMedian(now.flatMap(computeMinutes)),
        minutesBefore: computeMedian(before.flatMap(computeMinutes)),
        queueMinutes: computeMedian(now.flatMap(listQueued)),
        queueMinutesBefore: computeMedian(before.flatMap(listQueued)),
      };
      return now.length === 0
        ? []
        : [{ ...known, ...counts, ...minutes, ...measureBroken(selectBranch(now, branch), branch) }];
    })
    .toSorted(compareByFailed);
}

function compareByFailed(left: Health, right: Health): number {
  const key = ({ pipeline, branch }: Health) => `${pipeline} ${branch}`;
  return right.failed - left.failed || right.builds - left.builds || (key(left) < key(right) ? -1 : 1);
}

function measureBroken(main: readonly Build[], branch: string) {
  const getEnd = (build: Build) => build.finishedAt ?? build.receivedAt;
  const line = main.toSorted(
    (left, right) => Date.parse(getEnd(left)) - Date.parse(getEnd(right)) || (left.id < right.id ? -1 : 1),
  );
  const streaks: { since: number; until: number | null }[] = [];
  for (const build of line) {
    const last = streaks.at(-1);
    const at = Date.parse(getEnd(build));
    if (build.status === 'passed' && last?.until === null) last.until = at;
    if (build.status === 'failed' && last?.until !== null) streaks.push({ since: at, until: null });
  }
  const hours = streaks.map(({ since, until }) => Math.max((until ?? END - 1) - since, 0) / HOUR);
  const closed = hours.filter((_, at) => streaks[at]?.until !== null);
  return {
    branch: main.length === 0 ? null : branch,
    redHours: expect.closeTo(
      hours.reduce((sum, hour) => sum + hour, 0),
      6,
    ),
    isRed: closed.length < hours.length,
    recoveries: closed.length,
    hoursToGreen: computeMedian(closed),
  };
}

function computeMinutes({ startedAt, finishedAt }: Build): number[] {
  return startedAt === null || finishedAt === null
    ? []
    : [(Date.parse(finishedAt) - Date.parse(startedAt)) / 60_000];
}

function listQueued({ queuedSeconds }: Build): number[] {
  return queuedSeconds == null ? [] : [queuedSeconds / 60];
}

function computeMedian(values: readonly number[]): number | null {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return low === undefined || high === undefined ? null : expect.closeTo((low + high) / 2, 6);
}
