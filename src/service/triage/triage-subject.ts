import type { Build } from '../../domain/build.ts';
import type { FailureGroup, Reading, Survey } from '../../domain/reading.ts';
import { MAX_DIAGNOSTICS, type TriageSubject } from '../../domain/triage.ts';
import { omitUndefined } from '../../lib/collections.ts';

/**
 * The maximum number of facts of each kind: enough for any judgment, and few enough for a checkpoint of a few
 * kilobytes.
 */
const MAX_FACTS = 30;

/** Creates the input of the graph for one group. `reading` is the reading of this group alone. */
export function createSubject(input: {
  readonly triageId: string;
  readonly build: Build;
  readonly group: FailureGroup;
  readonly reading: Reading;
  readonly notes: readonly string[];
  readonly survey?: Survey | null;
}): TriageSubject {
  const { group, reading } = input;
  return {
    triageId: input.triageId,
    build: input.build,
    failures: group.failures.slice(0, MAX_FACTS),
    fingerprint: group.fingerprint,
    generic: group.generic,
    excerpts: reading.excerpts,
    failingTests: group.failures.flatMap(({ test }) => test ?? []).slice(0, MAX_FACTS),
    diagnostics: reading.diagnostics.slice(0, MAX_DIAGNOSTICS),
    exceptions: reading.exceptions.slice(0, MAX_FACTS),
    messages: reading.messages.slice(0, MAX_FACTS),
    exits: reading.exits.slice(-MAX_FACTS),
    failedSections: reading.failedSections.slice(0, MAX_FACTS),
    toolchains: reading.toolchains,
    notes: [...reading.notes, ...input.notes],
    sources: reading.sources,
    tokens: reading.tokens,
    ...omitUndefined({
      hasPassed: reading.hasPassed,
      environment: reading.environment,
      foreign: reading.foreign,
    }),
    ...(input.survey == null ? {} : { survey: input.survey }),
  };
}
