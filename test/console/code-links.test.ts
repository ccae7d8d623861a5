import { describe, expect, it, test } from 'vitest';
import { findCodePlace, formatCodeAddress } from '../../src/console/code-links.ts';

const COMMIT = 'a41f9c2d5e';
const place = { path: 'src/cart/tax rate.ts', commit: COMMIT, lineStart: 3, lineEnd: 9 };

describe('an address of lines at the code host', () => {
  it.each([
    [
      'github',
      'https://github.com/shop/api/actions/runs/7',
      'https://github.com/shop/api/blob/a41f9c2d5e/src/cart/tax%20rate.ts#L3-L9',
    ],
    [
      'gitea',
      'https://git.test/shop/api/actions/runs/7',
      'https://git.test/shop/api/src/commit/a41f9c2d5e/src/cart/tax%20rate.ts#L3-L9',
    ],
    [
      'gitlab',
      'https://git.test/shop/api/-/pipelines/7',
      'https://git.test/shop/api/-/blob/a41f9c2d5e/src/cart/tax%20rate.ts#L3-9',
    ],
  ] as const)('has the form of %s', (provider, url, address) => {
    expect(formatCodeAddress({ provider, repository: 'shop/api', url }, place)).toBe(address);
  });

  it.each([
    ['a CI without code', { provider: 'jenkins', url: 'https://ci.test/shop/api/job/7' }, {}],
    ['a page of another repository', { url: 'https://github.com/shop/web/actions/runs/7' }, {}],
    ['no page', { url: null }, {}],
    ['a page that is no web page', { url: 'javascript:alert(1)//shop/api/' }, {}],
    ['a path that leaves the repository', {}, { path: '../../settings' }],
    ['a commit that is none', {}, { commit: 'main?x=' }],
  ] as const)('is unknown for %s', (_what, build, change) => {
    const known = {
      provider: 'github',
      repository: 'shop/api',
      url: 'https://github.com/shop/api/actions/runs/7',
    } as const;
    expect(formatCodeAddress({ ...known, ...build }, { ...place, ...change })).toBeNull();
  });
});

test('only a finding with a path and a commit has a place in the code', () => {
  const finding = { id: 'E1', tool: 'search_code', title: 'a', text: 'b', source: 'src/a.ts' };
  expect(findCodePlace(finding)).toBeNull();
  const data = { path: 'src/a.ts', line: 4, commit: COMMIT };
  expect(findCodePlace({ ...finding, data })).toMatchObject({
    path: 'src/a.ts',
    commit: COMMIT,
    lineStart: 4,
  });
});
