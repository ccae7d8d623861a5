/** Prices in US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** The price of cached input. Equal to `input` if absent. */
  readonly cachedInput?: number | undefined;
  /** The price of input that the provider wrote to its cache; equal to `input` if absent. */
  readonly cacheWrite?: number | undefined;
}

export type PriceTable = Readonly<Record<string, Price>>;

/**
 * The month of the list prices of OpenAI (platform.openai.com/docs/pricing, "Standard"). Those of the other
 * providers are of November 2026; those of DeepSeek are for its peak hours, those of Google for prompts below
 * 200,000 tokens.
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
  'claude-opus-5': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-opus-4-8': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-opus-4-7': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-opus-4-6': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-opus-4-5': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-sonnet-5': { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 },
  'claude-sonnet-4-6': { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 },
  'claude-sonnet-4-5': { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 },
  'claude-haiku-4-5': { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 },
  'gemini-4-neon': { input: 3, cachedInput: 0.15, output: 15 },
  'gemini-4-hydrogen': { input: 1.5, cachedInput: 0.075, output: 7.5 },
  'gemini-2.5-pro': { input: 1.25, cachedInput: 0.125, output: 10 },
  'gemini-2.5-flash': { input: 0.3, cachedInput: 0.03, output: 2.5 },
  'gemini-2.5-flash-lite': { input: 0.1, cachedInput: 0.01, output: 0.4 },
  'mistral-large': { input: 0.68, output: 2.09 },
  'mistral-large-4': { input: 0.68, output: 2.09 },
  'mistral-medium': { input: 0.4, output: 2 },
  'deepseek-flash': { input: 0.3, cachedInput: 0.006, output: 1.2 },
  'deepseek-v4-pro': { input: 1.32, cachedInput: 0.044, output: 3.96 },
  // Groq's and Together's names; both ask the same for the models of OpenAI.
  'openai/gpt-oss-120b': { input: 0.15, output: 0.6 },
  'openai/gpt-oss-20b': { input: 0.075, output: 0.3 },
  'llama-3.3-70b-versatile': { input: 0.59, output: 0.79 },
  'llama-3.1-8b-instant': { input: 0.05, output: 0.08 },
  'qwen/qwen3-32b': { input: 0.29, output: 0.59 },
  'meta-llama/Llama-3.3-70B-Instruct-Turbo': { input: 0.88, output: 0.88 },
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

/** The tokens of one or more calls. What was read from a cache or written to it is part of the input. */
export interface PricedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number | null | undefined;
  readonly cacheWriteTokens?: number | undefined;
}

/** Computes the dollars for tokens. Cached and written tokens never count as more than the input. */
export function computeCost(price: Price, tokens: PricedTokens): number {
  const { inputTokens, outputTokens } = tokens;
  const cached = Math.min(Math.max(tokens.cachedInputTokens ?? 0, 0), inputTokens);
  const written = Math.min(Math.max(tokens.cacheWriteTokens ?? 0, 0), inputTokens - cached);
  return (
    ((inputTokens - cached - written) * price.input +
      cached * (price.cachedInput ?? price.input) +
      written * (price.cacheWrite ?? price.input) +
      outputTokens * price.output) /
    1_000_000
  );
}

/** The price of a model on this machine. */
export const FREE: Price = { input: 0, output: 0 };

/** Checks whether an address is that of Ollama's own API, whose models cost nothing. */
export function isFree(address: string): boolean {
  return new URL(address).pathname.endsWith('/api/chat');
}

/** Checks whether the server at an address states the cost of each call in its reply. */
export function statesCosts(address: string): boolean {
  return new URL(address).hostname === 'openrouter.ai';
}
