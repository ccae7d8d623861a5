import { expect, it } from 'vitest';
import { parsePullRequest } from '../../src/providers/code-questions.ts';
import { createBoundedCache } from '../../src/providers/memory.ts';

it.each([
  ['Merge pull request #12 from shop/fix', 12],
  ['Round the tax (#345)', 345],
  ['Merged in fix/tax (pull request #6)', 6],
  ['Merged PR 78: Round the tax', 78],
  ['Revert "Round the tax (#345)"', null],
  ['Revert "Round the tax (#345)" (#346)', 346],
  ['Fix #12', null],
  ['Round the tax', null],
])('the pull request is read from %j', (subject, number) => {
  expect(parsePullRequest(subject)).toBe(number);
});

it('a cache keeps the most recently used entries within its size', () => {
  const cache = createBoundedCache<string>(10, (text) => text.length);
  cache.set('a', 'aaaa');
  cache.set('b', 'bbbb');
  expect(cache.get('a')).toBe('aaaa');
  cache.set('c', 'cccc');
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['aaaa', undefined, 'cccc']);
  cache.set('a', 'too heavy to keep');
  expect([cache.get('a'), cache.get('c')]).toEqual([undefined, 'cccc']);
});
