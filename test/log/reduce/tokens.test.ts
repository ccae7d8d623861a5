import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../src/log/reduce/tokens.ts';

const { countTokens: reference } = createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as {
  countTokens(text: string, options: { disallowedSpecial: ReadonlySet<string> }): number;
};

describe('the tokens of a text', () => {
  it('are those of the encoding itself', () => {
    const words = [
      'Error',
      "don't",
      "I'LL",
      '12345',
      '  ',
      '\t',
      '\n',
      '\r\n',
      '/usr/lib',
      '::',
      '<|im_end|>',
      'ABCdef',
      'x',
      'ü✗',
      '=====',
      '0x7f',
    ];
    const texts = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.array(fc.constantFrom(...words), { maxLength: 60 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(countTokens(text)).toBe(reference(text, { disallowedSpecial: new Set() }));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are counted in pieces if the text is long', () => {
    expect(countTokens('a '.repeat(5_000))).toBeGreaterThanOrEqual(5_000);
  });
});
