import { describe, expect, test } from 'vitest';
import { readSources } from '../../src/log/read-sources.ts';
import { listLongPaths } from '../support/hostile-owners.ts';

function listExceptions(...lines: string[]) {
  const text = lines.join('\n');
  return readSources([{ name: 'log.txt', kind: 'log', text, notes: [] }], { budgetTokens: 2000 }).exceptions;
}

describe('the frames of a stack trace', () => {
  test('are those of the deepest cause, with the surrounding frames added', () => {
    const [thrown] = listExceptions(
      'java.lang.RuntimeException: no price',
      '\tat shop.Cart.total(Cart.java:20)',
      '\tat shop.CartTest.totals(CartTest.java:8)',
      'Caused by: java.io.IOException: closed',
      '\tat shop.Prices.read(Prices.java:4)',
      '\t... 2 more',
    );
    expect(thrown?.frames.map(({ file }) => file)).toEqual(['Prices.java']);
    expect(thrown?.outerFrames?.map(({ file }) => file)).toEqual(['Cart.java', 'CartTest.java']);
  });

  test('have no outer frames if no error is wrapped', () => {
    const [thrown] = listExceptions(
      'java.lang.RuntimeException: no price',
      '\tat shop.Cart.total(Cart.java:20)',
    );
    expect(thrown).not.toHaveProperty('outerFrames');
  });

  test('are found below a message of many lines', () => {
    const json = Array.from({ length: 20 }, (_, at) => `  "line${at}": ${at},`);
    const [thrown] = listExceptions(
      'shop.JsonException: bad token in {',
      ...json,
      '}',
      '\tat shop.Reader.read(Reader.java:4)',
    );
    expect(thrown?.frames).toHaveLength(1);
  });

  test('exclude those of another trace after the output of a logger', () => {
    const other = Array.from({ length: 14 }, (_, at) => `[INFO] step ${at}`);
    expect(
      listExceptions('shop.JsonException: bad token', ...other, '\tat shop.Reader.read(Reader.java:4)'),
    ).toEqual([]);
  });

  test('have paths of up to 300 characters', () => {
    const paths = listLongPaths(8);
    const [thrown] = listExceptions(
      "TypeError: Cannot read properties of undefined (reading 'discount')",
      ...paths.map((path) => `    at total (${path}:2:1)`),
    );
    expect(thrown?.frames.map(({ file }) => file)).toEqual(paths);
  });
});
