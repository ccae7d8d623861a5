import type { SourceText } from '../domain/build.ts';
import type { Reading } from '../domain/reading.ts';
import type { GreenTemplates } from '../log/green-diff.ts';
import type { Masker } from '../log/mask.ts';
import { readSources } from '../log/read-sources.ts';

/** Masks every text of a build; line numbers do not move. */
export async function maskSources(sources: readonly SourceText[], masker: Masker): Promise<{ sources: SourceText[]; secrets: number }> {
  const masked: SourceText[] = [];
  let secrets = 0;
  for (const source of sources) {
    const { text, count } = await masker.mask(source.text);
    masked.push({ ...source, text });
    secrets += count;
  }
  return { sources: masked, secrets };
}

/** Reads masked sources; a build without any gets a reading that says so. */
export function readMasked(
  sources: readonly SourceText[],
  options: { budgetTokens: number; secrets: number; greenText?: string; green?: GreenTemplates },
): Reading {
  return readSources(sources, {
    budgetTokens: options.budgetTokens,
    maskedSecrets: options.secrets,
    ...(options.greenText === undefined ? {} : { greenText: options.greenText }),
    ...(options.green === undefined ? {} : { green: options.green }),
  });
}
