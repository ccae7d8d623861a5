import { describe, expect, it } from 'vitest';
import {
  computeCost,
  findPrice,
  mergePrices,
  PRICES,
  PRICES_AS_OF,
} from '../../../src/models/chat/prices.ts';

describe('the price table', () => {
  it('is dated, and cached input never costs more than input', () => {
    expect(PRICES_AS_OF).toMatch(/^\d{4}-\d{2}$/);
    for (const { input, output, cachedInput } of Object.values(PRICES)) {
      expect(input).toBeGreaterThan(0);
      expect(output).toBeGreaterThanOrEqual(input);
      expect(cachedInput ?? input).toBeLessThanOrEqual(input);
    }
  });

  it('includes dated versions of a model, and no model with a similar name', () => {
    expect(findPrice('gpt-4o-mini-2024-07-18', PRICES)).toEqual(PRICES['gpt-4o-mini']);
    expect(findPrice('claude-haiku-4-5-20251001', PRICES)).toEqual(PRICES['claude-haiku-4-5']);
    expect(findPrice('gpt-4o-audio', PRICES)).toBeNull();
    expect(findPrice('constructor', PRICES)).toBeNull();
  });

  it('can be corrected and extended by an installation', () => {
    const prices = mergePrices({
      'gpt-4o-mini': { input: 0.1, output: 0.2 },
      'our-model': { input: 0, output: 0 },
    });
    expect(findPrice('gpt-4o-mini', prices)).toEqual({ input: 0.1, output: 0.2 });
    expect(findPrice('our-model', prices)).toEqual({ input: 0, output: 0 });
    expect(findPrice('gpt-4o', prices)).toEqual(PRICES['gpt-4o']);
  });
});

describe('the cost of a call', () => {
  const price = { input: 2, cachedInput: 0.5, output: 8 };

  it('counts cached input at its own price', () => {
    expect(computeCost(price, { inputTokens: 1_000_000, outputTokens: 100_000 })).toBeCloseTo(2.8, 10);
    expect(
      computeCost(price, { inputTokens: 1_000_000, outputTokens: 100_000, cachedInputTokens: 400_000 }),
    ).toBeCloseTo(1.2 + 0.2 + 0.8, 10);
  });

  it('counts cached input as any other if its price is unknown, and never more of it than there was', () => {
    expect(
      computeCost(
        { input: 2, output: 8 },
        { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 400_000 },
      ),
    ).toBeCloseTo(2, 10);
    expect(
      computeCost(price, { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 9_000_000 }),
    ).toBeCloseTo(0.5, 10);
  });
});
