/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

export type PriceTable = Readonly<Record<string, Price>>;

/**
 * OpenAI's list prices as published for these models (openai.com/api/pricing). They change: a table may be given instead.
 * Discounts for cached input are not counted, so the real bill may be lower.
 */
export const PRICES: PriceTable = {
  'gpt-4o-mini': { input: 0.15, output: 0.6 },
  'gpt-4o': { input: 2.5, output: 10 },
  'gpt-4.1': { input: 2, output: 8 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, output: 0.4 },
  'gpt-5': { input: 1.25, output: 10 },
  'gpt-5-mini': { input: 0.25, output: 2 },
  'gpt-5-nano': { input: 0.05, output: 0.4 },
  o3: { input: 2, output: 8 },
  'o4-mini': { input: 1.1, output: 4.4 },
};

/** The price of a model, also of a dated version of it ("gpt-4o-mini-2024-07-18"); null where none is known. */
export function priceOf(model: string, prices: PriceTable): Price | null {
  const undated = model.replace(/-(?:\d{4}-\d{2}-\d{2}|latest)$/, '');
  for (const name of [model, undated]) {
    if (Object.hasOwn(prices, name)) return prices[name] ?? null;
  }
  return null;
}

/** Dollars for the tokens of one or more calls. */
export function costOf(price: Price, inputTokens: number, outputTokens: number): number {
  return (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
}
