import { z } from 'zod';

const Setting = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What a results file was made of and with: it stands beside it, and decides whether a run may go on with it. */
export const RunManifest = z.object({
  schema: z.literal(1),
  /** Version of Faultline. */
  version: z.string(),
  startedAt: z.string(),
  /** In the order in which they were replayed. */
  sources: z.array(z.object({ name: z.string(), sha256: z.string().nullable(), cases: z.int().nullable() })),
  /** Everything that an answer may depend on, by its name for people. */
  settings: z.record(z.string(), Setting),
});
export type RunManifest = z.infer<typeof RunManifest>;

/** Reads a manifest; null where the text is none. */
export function parseManifest(text: string): RunManifest | null {
  try {
    return RunManifest.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** What differs between two runs, a phrase each; empty where the later may go on with the earlier one's results. */
export function differencesOf(earlier: RunManifest, now: RunManifest): string[] {
  const differences = earlier.version === now.version ? [] : [`the version was ${earlier.version} and is now ${now.version}`];
  if (earlier.sources.length !== now.sources.length)
    differences.push(`it had ${earlier.sources.length} sources of cases, now there are ${now.sources.length}`);
  for (const [index, source] of now.sources.entries()) {
    const before = earlier.sources[index];
    if (before !== undefined && (before.sha256 !== source.sha256 || before.cases !== source.cases))
      differences.push(
        before.name === source.name ? `the cases of ${source.name} have changed` : `it had ${before.name} where ${source.name} is now`,
      );
  }
  const names = new Set([...Object.keys(earlier.settings), ...Object.keys(now.settings)]);
  for (const name of names) {
    const [before, after] = [earlier.settings[name] ?? null, now.settings[name] ?? null];
    if (before !== after) differences.push(`${name} was ${before ?? 'not set'}, now it is ${after ?? 'not set'}`);
  }
  return differences;
}
