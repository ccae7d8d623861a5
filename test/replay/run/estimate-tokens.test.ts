import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../src/log/reduce/tokens.ts';
import { estimateTokens } from '../../../src/replay/run/check-case.ts';

const LINE = 'make[2]: Entering directory /build/cart/src\n';

describe('the estimated tokens of a whole log', () => {
  it('are exact for a short text and nearly so for a long one', () => {
    expect(estimateTokens(LINE)).toBe(countTokens(LINE));
    const long = LINE.repeat(8_000);
    expect(estimateTokens(long) / countTokens(long)).toBeCloseTo(1, 1);
    expect(estimateTokens('')).toBe(0);
  });
});
