import type { Analysis } from '../domain/analysis.ts';
import type { Build, SourceText } from '../domain/build.ts';
import type { Reading } from '../domain/reading.ts';
import type { Masker } from '../log/mask.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import { groupsOf } from './group.ts';
import { type InvestigateDeps, investigate } from './investigate.ts';
import { maskSources, readMasked } from './read-build.ts';
import { subjectOf } from './subject.ts';

export interface TriageSourcesDeps {
  readonly archive: BuildArchive;
  readonly masker: Masker;
  readonly investigation: InvestigateDeps;
  readonly budgetTokens: number;
}

export interface TriagedSources {
  readonly reading: Reading;
  /** One per cause, in the order of the first failure. */
  readonly analyses: readonly Analysis[];
}

/** The same road without a database, for the terminal and for replay: read, group, answer. Nothing outlives the call. */
export async function triageSources(
  build: Build,
  raw: readonly SourceText[],
  deps: TriageSourcesDeps,
  signal: AbortSignal,
  options: { readonly greenText?: string; readonly maxGroups?: number } = {},
): Promise<TriagedSources> {
  const { sources, secrets } = await maskSources(raw, deps.masker);
  for (const source of sources) await deps.archive.put(build.id, source);
  const greenText = options.greenText;
  const reading = readMasked(sources, { budgetTokens: deps.budgetTokens, secrets, ...(greenText === undefined ? {} : { greenText }) });
  const groups = groupsOf(reading, build.id);
  const analyses: Analysis[] = [];
  for (const [index, group] of groups.slice(0, options.maxGroups ?? groups.length).entries()) {
    const subject = subjectOf({ triageId: `${build.id}-${index + 1}`, build, group, groups, reading, notes: [] });
    analyses.push(await investigate(subject, deps.investigation, signal));
  }
  return { reading, analyses };
}
