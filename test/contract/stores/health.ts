import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Build } from '../../../src/domain/build.ts';
import type { PipelineHealth } from '../../../src/domain/insights.ts';
import { createRetentionStore } from '../../../src/stores/retention.ts';
import { buildColumns } from '../../../src/stores/sql.ts';
import { sampleBuild } from '../../stores/samples.ts';
import { runs } from '../../support/thorough.ts';
import type { StoresWorld } from './world.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Where the last day of the period ends. */
const END = Date.parse('2026-08-02T00:00:00.000Z');
const isoOf = (time: number) => new Date(time).toISOString();

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
        fc.tuple(fc.integer({ min: -8, max: 0 }), fc.integer({ min: -1, max: 1 })).map(([day, ms]) => day * DAY + ms),
      ),
      minutes: fc.option(fc.integer({ min: 0, max: 90 })),
    }),
  },
  fc.record({ deleteBefore: fc.integer({ min: -9 * DAY, max: -DAY }) }),
);
type Step = typeof Step extends fc.Arbitrary<infer Value> ? Value : never;

/** The health of pipelines is read from counts of days, and is what the builds themselves say. */
export function healthContract(world: StoresWorld): void {
  const forget = async (repository: string, before: number) => {
    const scope = { repository, except: [], before: isoOf(before), settledOnly: false };
    await createRetentionStore(world.db, world.stores.outbox).forgetBuilds(scope, 100);
  };
  const take = async (step: Step, repository: string) => {
    if ('deleteBefore' in step) {
      return await forget(repository, END + step.deleteBefore);
    }
    const { came, minutes, ...build } = step;
    const times = minutes === null ? {} : { startedAt: isoOf(END + came - minutes * 60_000 - 1000), finishedAt: isoOf(END + came - 1000) };
    await world.stores.builds.upsert(sampleBuild({ ...build, ...times, repository } as object), undefined, isoOf(END + came));
  };

  describe('health', () => {
    it('is what the builds say, however they came and went', async () => {
      let tries = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(Step, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (steps, days) => {
          tries += 1;
          const repository = `${world.repository}-${tries}`;
          for (const step of steps) await take(step, repository);
          const builds = z
            .array(Build)
            .parse(await world.db.query(`select ${buildColumns('b')} from builds b where repository = $1`, [repository]));
          const period = { until: isoOf(END - 1), days };
          expect(await world.stores.insights.health({ ...period, repository }, 50)).toEqual(healthOf(builds, days));
          expect(await world.stores.insights.health({ ...period, repositories: [repository] }, 50)).toEqual(healthOf(builds, days));
          await forget(repository, END + DAY);
          expect(await world.db.query('select * from build_days where repository = $1', [repository])).toEqual([]);
        }),
        { numRuns: runs(100) },
      );
    });

    it('counts builds that come and go at once', async () => {
      const { repository } = world;
      const come = (number: number, hours: number) => {
        const build = { number: `${number}`, branch: 'main', status: 'failed', came: -hours * HOUR, minutes: null } as const;
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
  });
}

function healthOf(builds: readonly Build[], days: number): PipelineHealth[] {
  const counted = builds.filter(({ status }) => status === 'passed' || status === 'failed');
  const within = (from: number, to: number) => (build: Build) => Date.parse(build.receivedAt) >= from && Date.parse(build.receivedAt) < to;
  return [...Map.groupBy(counted, ({ pipeline }) => pipeline)]
    .flatMap(([pipeline, all]) => {
      const now = all.filter(within(END - days * DAY, END));
      const before = all.filter(within(END - 2 * days * DAY, END - days * DAY));
      const failed = (some: readonly Build[]) => some.filter(({ status }) => status === 'failed').length;
      const perDay = Array.from({ length: days }, (_, day) =>
        failed(now.filter(within(END - (days - day) * DAY, END - (days - day - 1) * DAY))),
      );
      const known = { provider: 'github', repository: all[0]?.repository ?? '', pipeline, perDay };
      const counts = { builds: now.length, failed: failed(now), buildsBefore: before.length, failedBefore: failed(before) };
      const minutes = { minutes: median(now.flatMap(minutesOf)), minutesBefore: median(before.flatMap(minutesOf)) };
      return now.length === 0 ? [] : [{ ...known, ...counts, ...minutes, ...redOf(now.filter(({ branch }) => branch === 'main')) }];
    })
    .toSorted((one, other) => other.failed - one.failed || other.builds - one.builds || (one.pipeline < other.pipeline ? -1 : 1));
}

function redOf(main: readonly Build[]) {
  const endOf = (build: Build) => build.finishedAt ?? build.receivedAt;
  const line = main.toSorted((one, other) => Date.parse(endOf(one)) - Date.parse(endOf(other)) || (one.id < other.id ? -1 : 1));
  const streaks: { since: number; until: number | null }[] = [];
  for (const build of line) {
    const last = streaks.at(-1);
    const at = Date.parse(endOf(build));
    if (build.status === 'passed' && last?.until === null) last.until = at;
    if (build.status === 'failed' && last?.until !== null) streaks.push({ since: at, until: null });
  }
  const hours = streaks.map(({ since, until }) => Math.max((until ?? END - 1) - since, 0) / HOUR);
  const closed = hours.filter((_, at) => streaks[at]?.until !== null);
  return {
    branch: main.length === 0 ? null : 'main',
    redHours: expect.closeTo(
      hours.reduce((sum, one) => sum + one, 0),
      6,
    ),
    isRed: closed.length < hours.length,
    recoveries: closed.length,
    hoursToGreen: median(closed),
  };
}

function minutesOf({ startedAt, finishedAt }: Build): number[] {
  return startedAt === null || finishedAt === null ? [] : [(Date.parse(finishedAt) - Date.parse(startedAt)) / 60_000];
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return low === undefined || high === undefined ? null : expect.closeTo((low + high) / 2, 6);
}
