import { expect, it } from 'vitest';
import { findNearestPaths } from '../../src/lib/nearest-paths.ts';

const PATHS = [
  'src/utils/hooks/helper.js',
  'src/utils/help.md',
  'test/helper.js',
  'src/index.js',
  'docs/cart.md',
  '.env',
];

it.each([
  ['src/utils/hooks/helperz.js', ['src/utils/hooks/helper.js', 'test/helper.js', 'src/utils/help.md']],
  ['helpers.ts', ['src/utils/hooks/helper.js', 'test/helper.js', 'src/utils/help.md']],
  ['src/Index.ts', ['src/index.js']],
  ['src/blorp.js', []],
])('%s is nearest to %j', (missing, nearest) => {
  expect(findNearestPaths(missing, PATHS)).toEqual(nearest);
});

it('a large repository is searched quickly, however similar its names are', () => {
  const paths = Array.from(
    { length: 20_000 },
    (_, at) => `src/module${at % 500}/component-with-a-long-name-${at}.ts`,
  );
  const times = Array.from({ length: 3 }, () => {
    const started = process.cpuUsage();
    expect(findNearestPaths('src/module7/component-with-a-long-nam-77.ts', paths)).toHaveLength(5);
    return process.cpuUsage(started).user / 1_000;
  });
  expect(Math.min(...times)).toBeLessThan(200);
});
