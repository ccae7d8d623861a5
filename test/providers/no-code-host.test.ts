import { expect, it } from 'vitest';
import { createNoCodeHost } from '../../src/providers/combined-host.ts';

it('without a code host, nothing is read, and this is reported', async () => {
  const host = createNoCodeHost();
  const { signal } = new AbortController();
  expect(await host.canRead('shop/api')).toBe(false);
  expect(await host.resolve({ repository: 'shop/api', ref: null }, signal)).toEqual({
    ref: null,
    note: null,
  });
  expect(await host.readFile({ repository: 'shop/api', ref: null, path: 'a' }, signal)).toBeNull();
  expect(await host.search({ repository: 'shop/api', ref: null, text: 'a', limit: 1 }, signal)).toEqual([]);
});
