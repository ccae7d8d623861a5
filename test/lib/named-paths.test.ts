import { expect, it } from 'vitest';
import { listNamedPaths } from '../../src/lib/text.ts';

it('a file is found after any number of blanks, within a limited number of words', () => {
  const named = [{ path: 'src/cart.ts', line: 12 }];
  expect(listNamedPaths([`${' '.repeat(30_000)}src/cart.ts:12:5`])).toEqual(named);
  expect(listNamedPaths(['a '.repeat(19_998), 'src/cart.ts:12 src/tax.ts'])).toEqual(named);
});
