import { expect, it } from 'vitest';
import { groupByReason } from '../../../src/console/overview/reasons.ts';
import type { Cause } from '../../../src/domain/cause.ts';
import type { Lane } from '../../../src/domain/lane.ts';

const NOW = Date.parse('2026-03-10T12:00:00.000Z');

function lane(repository: string, minutes: number): Lane {
  const redSince = new Date(NOW - minutes * 60_000).toISOString();
  return { repository, pipeline: 'ci', branch: 'main', isRed: true, redSince, builds: [], of: 9 };
}

function cause(fingerprint: string, repository: string): Cause {
  return {
    repository,
    fingerprint,
    title: fingerprint,
    category: 'INFRA_ERROR',
    state: 'new',
    assignee: null,
    owner: null,
    mutedUntil: null,
    mutedLeft: null,
    fixedFrom: null,
    mergedInto: null,
    ticket: null,
    firstAt: '2026-03-10T10:00:00.000Z',
    lastAt: '2026-03-10T11:00:00.000Z',
    redPipelines: ['ci'],
    version: 1,
  };
}

it('broken branches are grouped by reason: most branches first, then the longest duration, with unknown reasons too', () => {
  const lanes = [lane('a/long', 500), lane('a/one', 20), lane('a/two', 10), lane('a/unknown', 5)];
  const causes = [cause('typo', 'a/long'), cause('outage', 'a/one'), cause('outage', 'a/two')];
  const reasons = groupByReason(lanes, causes, NOW);
  expect(
    reasons.map((reason) => [
      reason.cause?.fingerprint ?? null,
      reason.lanes.map(({ repository }) => repository),
    ]),
  ).toEqual([
    ['outage', ['a/one', 'a/two']],
    ['typo', ['a/long']],
    [null, ['a/unknown']],
  ]);
});
