/** Prices in US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** The price of cached input. Equal to `input` if absent. */
  readonly cachedInput?: number | undefined;
}

export type PriceTable = Readonly<Record<string, Price>>;

/**
 * The month of OpenAI's list prices (platform.openai.com/docs/pricing, "Standard"). Anthropic's prices
 * (platform.claude.com/docs/en/about-claude/pricing) are of November 2026.
 */
export const PRICES_AS_OF = '2026-06';

/**
 * List prices by the model's name without its date. Prices change, so FAULTLINE_MODEL_PRICES can correct and
 * extend them.
 */
export const PRICES: PriceTable = {
  'gpt-4o-mini': { input: 0.15, cachedInput: 0.075, output: 0.6 },
  'gpt-4o': { input: 2.5, cachedInput: 1.25, output: 10 },
  'gpt-4.1': { input: 2, cachedInput: 0.5, output: 8 },
  'gpt-4.1-mini': { input: 0.4, cachedInput: 0.1, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, cachedInput: 0.025, output: 0.4 },
  'gpt-5.1': { input: 1.25, cachedInput: 0.125, output: 10 },
  'gpt-5': { input: 1.25, cachedInput: 0.125, output: 10 },
  'gpt-5-mini': { input: 0.25, cachedInput: 0.025, output: 2 },
  'gpt-5-nano': { input: 0.05, cachedInput: 0.005, output: 0.4 },
  'o3-mini': { input: 1.1, cachedInput: 0.55, output: 4.4 },
  o3: { input: 2, cachedInput: 0.5, output: 8 },
  'o4-mini': { input: 1.1, cachedInput: 0.275, output: 4.4 },
  'claude-opus-5': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-opus-4-8': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-opus-4-7': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-opus-4-6': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-opus-4-5': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-sonnet-5': { input: 2, cachedInput: 0.2, output: 10 },
  'claude-sonnet-4-6': { input: 3, cachedInput: 0.3, output: 15 },
  'claude-sonnet-4-5': { input: 3, cachedInput: 0.3, output: 15 },
  'claude-haiku-4-5': { input: 1, cachedInput: 0.1, output: 5 },
};

/** Merges the list prices with those of the installation, which override and extend them. */
export function mergePrices(configured: PriceTable): PriceTable {
  return { ...PRICES, ...configured };
}

/**
 * Returns the price of a model or of a dated version of it, such as "gpt-4o-mini-2024-07-18". Returns null if
 * the price is unknown.
 */
export function findPrice(model: string, prices: PriceTable): Price | null {
  const undated = model.replace(/-(?:\d{4}-?\d{2}-?\d{2}|latest)$/, '');
  for (const name of [model, undated]) {
    if (Object.hasOwn(prices, name)) return prices[name] ?? null;
  }
  return null;
}

/** Computes the cost of one or more calls in US dollars. `inputTokens` includes `cachedInputTokens`. */
export function computeCost(
  price: Price,
  inputTokens: number,
  outputTokens: number,
  cachedInputTokens = 0,
): number {
  const cached = Math.min(Math.max(cachedInputTokens, 0), inputTokens);
  return (
    ((inputTokens - cached) * price.input +
      cached * (price.cachedInput ?? price.input) +
      outputTokens * price.output) /
    1_000_000
  );
}
