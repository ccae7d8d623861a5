import type { SourceText } from '../domain/build.ts';
import type { ReadStage } from '../domain/calibration.ts';
import type { Reading } from '../domain/reading.ts';
import type { GreenTemplates } from '../log/green/green-diff.ts';
import type { Masker } from '../log/mask/mask.ts';
import { type ReadableSource, type ReadOptions, readSources } from '../log/read-sources.ts';
import type { LogThreads } from '../log/threads.ts';

/** Masks every text of a build; a secret seen in one is hidden in all. Line numbers do not move. */
export async function maskSources(sources: readonly SourceText[], masker: Masker): Promise<{ sources: SourceText[]; secrets: number }> {
  const masked = await masker.maskAll(sources.map(({ text }) => text));
  return {
    sources: sources.map((source, at) => ({ ...source, text: masked[at]?.text ?? '' })),
    secrets: masked.reduce((sum, { count }) => sum + count, 0),
  };
}

/** How masked sources are read; `secrets` were hidden in them. */
export interface ReadMaskedOptions {
  readonly budgetTokens: number;
  readonly secrets: number;
  readonly greenText?: string;
  readonly green?: GreenTemplates;
  readonly without?: ReadonlySet<ReadStage>;
}

/** Reads masked sources; a build without any gets a reading that says so. */
export function readMasked(sources: readonly ReadableSource[], options: ReadMaskedOptions): Reading {
  return readSources(sources, readOptionsOf(options));
}

/** The same without holding anybody up, where there are threads. */
export async function readAside(
  sources: readonly ReadableSource[],
  options: ReadMaskedOptions,
  threads: Pick<LogThreads, 'read'> | undefined,
  signal: AbortSignal,
): Promise<Reading> {
  return threads === undefined ? readMasked(sources, options) : threads.read(sources, readOptionsOf(options), signal);
}

function readOptionsOf(options: ReadMaskedOptions): ReadOptions {
  return {
    budgetTokens: options.budgetTokens,
    maskedSecrets: options.secrets,
    ...(options.greenText === undefined ? {} : { greenText: options.greenText }),
    ...(options.green === undefined ? {} : { green: options.green }),
    ...(options.without === undefined ? {} : { without: options.without }),
  };
}
