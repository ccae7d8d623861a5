import type { Build } from '../../src/domain/build.ts';

/** Creates a failed build with the given changes. */
export function sampleBuild(changes: Partial<Build> = {}): Build {
  return {
    id: 'bld_1',
    provider: 'github',
    repository: 'octo-org/octo-repo',
    pipeline: 'test',
    number: '163',
    attempt: 1,
    externalId: '289782451',
    job: null,
    branch: 'main',
    commit: '3484a3fb816e0859fd6e1cea078d76385ff50625',
    author: null,
    pullRequest: null,
    url: null,
    status: 'failed',
    startedAt: null,
    finishedAt: null,
    receivedAt: '2026-03-01T12:00:00.000Z',
    ...changes,
  };
}
