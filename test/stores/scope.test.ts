import { expect, test } from 'vitest';
import { scopeValue } from '../../src/stores/sql.ts';

test('a scope becomes patterns that match exactly what it states', () => {
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

test('a scope of plain names stays unchanged, so that an index can be used', () => {
  expect(scopeValue(['acme/shop', 'acme/cart-2'])).toEqual(['acme/shop', 'acme/cart-2']);
});
