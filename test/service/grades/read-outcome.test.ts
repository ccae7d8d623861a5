import { describe, expect, it } from 'vitest';
import { createSparseBuild, type TestResult } from '../../../src/domain/build.ts';
import { readOutcome } from '../../../src/service/grades/read-outcome.ts';
import type { BranchBuild } from '../../../src/stores/grades.ts';
import { sampleFailure } from '../../support/sample-analysis.ts';

type Status = Pick<TestResult, 'status'>['status'];

function createBranchBuild(number: string, change: Partial<BranchBuild> = {}): BranchBuild {
  const build = createSparseBuild({ repository: 'shop/api', pipeline: 'ci', number });
  return {
    ...build,
    id: `bld_${number}`,
    receivedAt: `2026-10-12T0${number}:00:00.000Z`,
    has: ['fp'],
    ...change,
  };
}

async function read(branchBuilds: readonly BranchBuild[], statuses: readonly Status[]) {
  const [build] = branchBuilds;
  if (build === undefined) throw new Error('There is no build.');
  const failure = sampleFailure();
  const results = statuses.map((status) => ({
    name: failure.test?.name ?? '',
    suite: failure.test?.suite ?? null,
    status,
  }));
  return await readOutcome(
    { build, fingerprint: 'fp', failures: [failure], others: [], around: branchBuilds },
    { stores: { grades: { testsIn: async () => results } } },
    async () => null,
  );
}

describe('the outcome after a failure', () => {
  const passed = createBranchBuild('3', { status: 'passed', has: [] });

  it.each<[Status[], string]>([
    [['passed'], 'passed'],
    [['failed', 'passed'], 'passed'],
    [['skipped', 'passed'], 'skipped'],
    [['failed'], 'failed'],
    [[], 'absent'],
  ])('is read from results %j of a test in the passed build as %s', async (statuses, result) => {
    expect((await read([createBranchBuild('1', { status: 'failed' }), passed], statuses))?.tests).toEqual([
      result,
    ]);
  });

  it('includes failed runs of the same commit, but not of unknown commits', async () => {
    const failed = (number: string, commit: string | null) =>
      createBranchBuild(number, { status: 'failed', commit });
    const same = 'a'.repeat(40);
    expect((await read([failed('1', same), failed('2', same), passed], ['passed']))?.failedAgain).toBe(1);
    expect((await read([failed('1', null), failed('2', null), passed], ['passed']))?.failedAgain).toBe(0);
  });
});
