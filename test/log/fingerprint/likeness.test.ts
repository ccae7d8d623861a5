import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildLikenessText,
  createNearMatchIndex,
  extractLikeness,
  type LikenessParts,
  NEAR,
} from '../../../src/log/fingerprint/likeness.ts';

const parts = (change: Partial<LikenessParts>): LikenessParts => ({
  test: null,
  message: null,
  frames: [],
  lines: [],
  ...change,
});

const CASES: Readonly<Record<string, LikenessParts>> = {
  disk: parts({
    message: 'ENOSPC: no space left on device, write',
    lines: ['Error: ENOSPC: no space left on device, write'],
  }),
  rates: parts({
    test: 'rates loads the table',
    message: 'connect ECONNREFUSED 127.0.0.1:5432',
    frames: ['src/rates.ts:load'],
  }),
  cart: parts({
    test: 'cart sums up',
    message: 'expected 3 items but found 2',
    frames: ['src/cart.ts:total'],
  }),
  peer: parts({ message: 'Could not resolve dependency: peer react@"^17" from acme-ui@2.1.0' }),
};
const index = createNearMatchIndex(
  Object.entries(CASES).map(([id, likenessParts]) => ({ id, parts: likenessParts })),
);

describe('the near-match index', () => {
  it.each(Object.keys(CASES))('finds %s itself with score 1, before all others', (id) => {
    const [first] = index.search(CASES[id] ?? parts({}), 3);
    expect(first?.id).toBe(id);
    expect(first?.score).toBeCloseTo(1, 9);
  });

  it('finds the same failure with another port, another message of the same test, and the same message of another test', () => {
    const [port] = index.search(
      parts({ test: 'rates loads the table', message: 'connect ECONNREFUSED 10.0.0.7:6543' }),
      1,
    );
    const [test] = index.search(
      parts({ test: 'cart sums up', message: 'Cannot read properties of undefined' }),
      1,
    );
    const [message] = index.search(
      parts({ test: 'upload keeps the file', message: 'ENOSPC: no space left on device, write' }),
      1,
    );
    expect([port?.id, test?.id, message?.id]).toEqual(['rates', 'cart', 'disk']);
  });

  it('finds nothing for an unknown failure, however large the limit', () => {
    expect(index.search(parts({ message: 'undefined reference to zlibVersion' }), 10)).toEqual([]);
    expect(index.search(parts({}), 10)).toEqual([]);
    expect(createNearMatchIndex([]).search(parts({ message: 'x' }), 5)).toEqual([]);
  });

  it('obeys its limit and threshold, best first, and equal ones in the order of the entries', () => {
    const twins = createNearMatchIndex(
      ['b', 'a', 'c'].map((id) => ({ id, parts: parts({ message: `no rates for today` }) })),
    );
    expect(twins.search(parts({ message: 'no rates for today' }), 2).map(({ id }) => id)).toEqual(['b', 'a']);
    const loose = index.search(parts({ message: 'no space left for dependency' }), 10, 0);
    expect(loose.length).toBeGreaterThan(
      index.search(parts({ message: 'no space left for dependency' }), 10, NEAR).length,
    );
    expect(loose.map(({ score }) => score)).toEqual(
      loose.map(({ score }) => score).toSorted((left, right) => right - left),
    );
  });

  it('returns scores between 0 and 1, the same for the same input, for any text', () => {
    const anyParts = fc.record({
      test: fc.option(fc.string({ unit: 'binary' })),
      message: fc.option(fc.string({ unit: 'binary' })),
      frames: fc.array(fc.string(), { maxLength: 3 }),
      lines: fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }),
    });
    fc.assert(
      fc.property(fc.array(anyParts, { maxLength: 6 }), anyParts, (all, asked) => {
        const entries = all.map((one, at) => ({ id: String(at), parts: one }));
        const found = createNearMatchIndex(entries).search(asked, 10, 0);
        expect(found.every(({ score }) => score > 0 && score <= 1)).toBe(true);
        expect(createNearMatchIndex(entries).search(asked, 10, 0)).toEqual(found);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the text for finding similar failures', () => {
  it('is the message, then what the excerpt adds, each line once', () => {
    const text = buildLikenessText(
      parts({
        message: 'no rates',
        lines: [
          '\u001b[31mno rates\u001b[39m',
          '   ',
          '----',
          'at 12:00:01 no answer',
          'at 13:05:09 no answer',
        ],
      }),
    );
    expect(text).toBe('no rates\n\nat 12:00:01 no answer');
  });

  it('has a limited length', () => {
    expect(
      buildLikenessText(
        parts({
          message: 'abc '.repeat(9_000),
          lines: Array.from({ length: 9_000 }, (_, at) => `line ${'x'.repeat(at)}`),
        }),
      ).length,
    ).toBeLessThanOrEqual(2_000);
  });

  it('contains the full name of a failed test, its own words and its own frames', () => {
    const test = {
      name: 'sums up',
      suite: 'cart',
      file: null,
      line: null,
      message: 'off by one',
      expected: null,
      actual: null,
      framework: 'jest',
      at: null,
    };
    const frames = [
      { file: 'node_modules/x/y.js', line: 1, function: 'lib', own: false },
      { file: '/home/ci/shop/src/cart.js', line: 2, function: 'total', own: true },
    ];
    expect(extractLikeness({ test, message: 'off by one', frames, excerpt: null })).toEqual({
      test: 'cart sums up',
      message: 'off by one',
      frames: ['src/cart.js:total'],
      lines: [],
    });
  });
});
