import { expect, it } from 'vitest';
import { namedPaths } from '../../src/lib/text.ts';

it('finds a file behind any number of blanks, and looks at so many words only', () => {
  const named = [{ path: 'src/cart.ts', line: 12 }];
  expect(namedPaths([`${' '.repeat(30_000)}src/cart.ts:12:5`])).toEqual(named);
  expect(namedPaths(['a '.repeat(19_998), 'src/cart.ts:12 src/tax.ts'])).toEqual(named);
});
