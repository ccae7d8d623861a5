import type { ReadStage } from '../domain/ablation.ts';
import type { SourceText } from '../domain/build.ts';
import type { Reading } from '../domain/reading.ts';
import type { GreenTemplates } from '../log/green/green-diff.ts';
import type { Masker } from '../log/mask/mask.ts';
import { type ReadableSource, readSources } from '../log/read-sources.ts';

/** Masks every text of a build; a secret seen in one is hidden in all. Line numbers do not move. */
export async function maskSources(sources: readonly SourceText[], masker: Masker): Promise<{ sources: SourceText[]; secrets: number }> {
  const masked = await masker.maskAll(sources.map(({ text }) => text));
  return {
    sources: sources.map((source, at) => ({ ...source, text: masked[at]?.text ?? '' })),
    secrets: masked.reduce((sum, { count }) => sum + count, 0),
  };
}

/** Reads masked sources; a build without any gets a reading that says so. */
export function readMasked(
  sources: readonly ReadableSource[],
  options: { budgetTokens: number; secrets: number; greenText?: string; green?: GreenTemplates; without?: ReadonlySet<ReadStage> },
): Reading {
  return readSources(sources, {
    budgetTokens: options.budgetTokens,
    maskedSecrets: options.secrets,
    ...(options.greenText === undefined ? {} : { greenText: options.greenText }),
    ...(options.green === undefined ? {} : { green: options.green }),
    ...(options.without === undefined ? {} : { without: options.without }),
  });
}
