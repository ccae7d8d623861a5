import { expect, it } from 'vitest';
import { listNamedPaths } from '../../src/lib/text.ts';

it('finds a file behind any number of blanks, and looks at so many words only', () => {
  const named = [{ path: 'src/cart.ts', line: 12 }];
  expect(listNamedPaths([`${' '.repeat(30_000)}src/cart.ts:12:5`])).toEqual(named);
  expect(listNamedPaths(['a '.repeat(19_998), 'src/cart.ts:12 src/tax.ts'])).toEqual(named);
});
