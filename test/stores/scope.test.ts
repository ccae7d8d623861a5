import { expect, test } from 'vitest';
import { scopeValue } from '../../src/stores/sql.ts';

test('a scope becomes patterns that mean no more than it says', () => {
  expect(scopeValue(null)).toBeNull();
  expect(scopeValue(undefined)).toBeNull();
  expect(scopeValue(['acme/shop', 'my_team/*', '100%/*', 'a\\b'])).toEqual([
    'acme/shop',
    'my\\_team/%',
    '100\\%/%',
    'a\\\\b',
    '*',
  ]);
});

test('a scope of plain names stays as it is, so that an index finds them', () => {
  expect(scopeValue(['acme/shop', 'acme/cart-2'])).toEqual(['acme/shop', 'acme/cart-2']);
});
