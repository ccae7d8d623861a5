import { expect, it } from 'vitest';
import { createEmptyHistory } from '../../../src/stores/memory.ts';

it('the empty history knows no earlier failures', async () => {
  const history = createEmptyHistory();
  const query = { repository: 'shop/api', pipeline: 'ci', branch: null, buildId: 'bld_1' };
  expect(await history.consecutiveFailures(query)).toEqual({
    count: 0,
    firstBuild: null,
    lastGreen: null,
    same: 0,
    firstSame: null,
  });
  expect(
    await history.similarFailures({ text: 'x', excludeBuildId: 'bld_1', minScore: 0, limit: 5 }),
  ).toEqual([]);
  const same = { repository: 'shop/api', fingerprint: 'f', test: null, beforeBuildId: 'bld_1', limit: 5 };
  expect(await history.failureHistory(same)).toEqual([]);
});
