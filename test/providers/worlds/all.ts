import { CI_SYSTEM_NAMES } from '../../../src/domain/build.ts';
import type { ProviderWorld } from '../contract.ts';

/** The world of every provider, from the file of its name. */
export const WORLDS: readonly ProviderWorld[] = await Promise.all(
  CI_SYSTEM_NAMES.map(async (name) => (await import(`./${name}.ts`))[`${name}World`]),
);
