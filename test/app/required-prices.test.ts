import { describe, expect, test } from 'vitest';
import { openAnalyst } from '../../src/app/open-adapters.ts';
import { createEmbeddedPreset, loadConfig } from '../../src/config/load.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';

/** Opens the analyst of a configuration with a model; resolves to its refusal, or to null. */
async function openWith(environment: Readonly<Record<string, string>>) {
  const config = loadConfig(
    createEmbeddedPreset('/nowhere', '/nowhere'),
    { FAULTLINE_ANALYST: 'llm', OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', ...environment },
    () => '',
  );
  return await openAnalyst(config, silentLogger).then(
    () => null,
    (error: Error) => error.message,
  );
}

const OURS = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_MODEL: 'ours' };
const REFUSAL =
  'FAULTLINE_MAX_RUN_USD limits what a run may cost, and no price is known for the model ours. ' +
  'Set its price with FAULTLINE_MODEL_PRICES, or FAULTLINE_MAX_RUN_USD=0 for no limit.';

describe('a cost limit that a user set', () => {
  test('is refused for a model without a price, also for the cheaper one', async () => {
    expect(await openWith({ ...OURS, FAULTLINE_MAX_RUN_USD: '0.5' })).toBe(REFUSAL);
    expect(await openWith({ FAULTLINE_MODEL_SMALL: 'ours', FAULTLINE_MAX_RUN_USD: '0.5' })).toBe(REFUSAL);
  });

  test('is accepted if the price is known, set, or zero', async () => {
    const prices = { FAULTLINE_MODEL_PRICES: '{"ours": {"input": 1, "output": 2}}' };
    const limit = { FAULTLINE_MAX_RUN_USD: '0.5' };
    expect(await openWith({ ...OURS, ...prices, ...limit })).toBeNull();
    expect(await openWith({ OPENAI_MODEL: 'anthropic:claude-sonnet-4-5', ...limit })).toBeNull();
    expect(await openWith({ OPENAI_MODEL: 'ollama:qwen3:8b', ...limit })).toBeNull();
  });

  test('is not required by the limit of a profile, or without a limit', async () => {
    expect(await openWith(OURS)).toBeNull();
    expect(await openWith({ ...OURS, FAULTLINE_PROFILE: 'fast' })).toBeNull();
    expect(await openWith({ ...OURS, FAULTLINE_MAX_RUN_USD: '0' })).toBeNull();
  });
});
