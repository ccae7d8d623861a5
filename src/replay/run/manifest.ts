import { z } from 'zod';
import { parseJson } from '../../lib/text.ts';

const Setting = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/**
 * The origin and settings of a results file. The manifest is stored next to it and decides whether a run may
 * continue the file.
 */
export const RunManifest = z.object({
  schema: z.literal(1),
  version: z.string(),
  startedAt: z.string(),
  /** The data sets in the order of their replay. */
  sources: z.array(z.object({ name: z.string(), sha256: z.string().nullable(), cases: z.int().nullable() })),
  /** Everything that an answer may depend on, by its display name. */
  settings: z.record(z.string(), Setting),
});
export type RunManifest = z.infer<typeof RunManifest>;

/** Parses a manifest. Returns null if the text is not one. */
export function parseManifest(text: string): RunManifest | null {
  const read = RunManifest.safeParse(parseJson(text));
  return read.success ? read.data : null;
}

/**
 * Lists the differences between two runs, one phrase each. Returns none if the later run may continue the
 * earlier one.
 */
export function listDifferences(earlier: RunManifest, now: RunManifest): string[] {
  const differences =
    earlier.version === now.version ? [] : [`the version was ${earlier.version} and is now ${now.version}`];
  if (earlier.sources.length !== now.sources.length)
    differences.push(
      `it had ${earlier.sources.length} sources of cases, now there are ${now.sources.length}`,
    );
  for (const [index, source] of now.sources.entries()) {
    const before = earlier.sources[index];
    if (before !== undefined && (before.sha256 !== source.sha256 || before.cases !== source.cases))
      differences.push(
        before.name === source.name
          ? `the cases of ${source.name} have changed`
          : `it had ${before.name} where ${source.name} is now`,
      );
  }
  const names = new Set([...Object.keys(earlier.settings), ...Object.keys(now.settings)]);
  for (const name of names) {
    const [before, after] = [earlier.settings[name] ?? null, now.settings[name] ?? null];
    if (before !== after)
      differences.push(`${name} was ${before ?? 'not set'}, now it is ${after ?? 'not set'}`);
  }
  return differences;
}
