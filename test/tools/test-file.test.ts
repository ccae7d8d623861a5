import { describe, expect, it } from 'vitest';
import { testFilePaths } from '../../src/tools/repository.ts';

describe('the file of a test', () => {
  const test = (name: string, suite: string | null = null, file: string | null = null) =>
    testFilePaths({ name, suite, file });

  it('is first the one that the report names', () => {
    expect(test('sums', 'com.shop.CartTest', 'x/CartTest.java')[0]).toBe('x/CartTest.java');
  });

  it('follows from class and module names', () => {
    expect(test('sums', 'com.shop.CartTest')).toContain('com/shop/CartTest.kt');
    expect(test('com.shop.CartTest$Inner.sums()')).toContain('com/shop/CartTest.java');
    expect(test('test_total', 'tests.test_cart.TestCart')).toContain('tests/test_cart.py');
    expect(test('tests/test_cart.py::TestCart::test_total[1]')).toContain('tests/test_cart.py');
    expect(test('sums', 'test/cart.test.ts')).toContain('test/cart.test.ts');
  });

  it('is not guessed from sentences', () => {
    expect(test('adds up when the cart is empty', 'the cart')).toEqual([]);
  });
});
