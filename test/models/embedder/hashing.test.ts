import { describe, expect, it } from 'vitest';
import { tokenize } from '../../../src/log/fingerprint/normalize.ts';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { testEmbedderContract } from '../../contract/embedder-contract.ts';

testEmbedderContract('hashing', createHashingEmbedder);

describe('tokens of log text', () => {
  it('are the parts of names and the whole names', () => {
    const { words, identifiers } = tokenize('java.lang.ClassNotFoundException in my_own_module XMLParser');
    expect(words).toEqual([
      'java',
      'lang',
      'class',
      'not',
      'found',
      'exception',
      'in',
      'my',
      'own',
      'module',
      'xml',
      'parser',
    ]);
    expect(identifiers).toEqual(['classnotfoundexception', 'myownmodule', 'xmlparser']);
  });

  it('include codes and meaningful numbers, and mask others', () => {
    expect(tokenize('error TS2304 exit code 137 after 8123 ms, HTTP 429').words).toEqual([
      'error',
      'ts2304',
      'exit',
      'code',
      '137',
      'after',
      '0',
      'ms',
      'http',
      '429',
    ]);
  });

  it('exclude hashes, which never occur again', () => {
    expect(tokenize('commit a41f9c2e77 at 0xdeadbeef01').words).toEqual(['commit', 'at', '0', 'xdeadbeef01']);
  });
});

describe('the hashing embedder', () => {
  it('returns the same from release to release, because stored vectors depend on it', async () => {
    const [vector] = await createHashingEmbedder().embed(['No space left on device']);
    const strongest = [...vector!.entries()].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 4);
    expect(strongest.map(([place, value]) => `${place}:${value.toFixed(3)}`)).toMatchInlineSnapshot(`
      [
        "192:-0.399",
        "223:0.399",
        "310:0.399",
        "386:-0.399",
      ]
    `);
  });

  it('gives a thousand log lines a vector each', async () => {
    const lines = Array.from(
      { length: 1_000 },
      (_, row) => `[ERROR] com.shop.cart.TaxCalculatorTest.sum:${row} expected <10.20> but was <10.21>`,
    );
    const vectors = await createHashingEmbedder().embed(lines);
    expect(vectors).toHaveLength(1_000);
    expect(vectors[7]).toEqual((await createHashingEmbedder().embed([lines[7] ?? '']))[0]);
  });
});
