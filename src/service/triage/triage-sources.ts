import type { Analysis } from '../../domain/analysis.ts';
import type { Build, SourceText } from '../../domain/build.ts';
import type { ReadStage } from '../../domain/calibration.ts';
import type { Reading } from '../../domain/reading.ts';
import type { GreenTemplates } from '../../log/green/green-diff.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { LogInPieces } from '../../log/read-sources.ts';
import { surveyFiles } from '../../log/survey/survey.ts';
import type { LogThreads } from '../../log/threads.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import { groupsOf, subjectOf } from './group.ts';
import { type InvestigateDeps, investigate } from './investigate.ts';
import { maskSources, readAside } from './read-build.ts';

export interface TriageSourcesDeps {
  readonly archive: BuildArchive & { putPieces(buildId: string, log: LogInPieces): Promise<void> };
  readonly masker: Masker;
  readonly investigation: InvestigateDeps;
  readonly budgetTokens: number;
  /** Where large logs are read; absent: at once. */
  readonly threads?: Pick<LogThreads, 'read'>;
}

export interface TriagedSources {
  readonly reading: Reading;
  /** One per cause, in the order of the first failure. */
  readonly analyses: readonly Analysis[];
}

export interface TriageSourcesOptions {
  /** Places hidden in the logs in pieces. */
  readonly maskedSecrets?: number;
  readonly green?: GreenTemplates;
  readonly maxGroups?: number;
  /** Stages of the reader left out, for measurements. */
  readonly without?: ReadonlySet<ReadStage>;
}

/**
 * The same road without a database, for the terminal and for replay: read, group, answer. Nothing outlives the call. Logs in pieces come
 * masked, and stay open until it ends.
 */
export async function triageSources(
  build: Build,
  raw: readonly (SourceText | LogInPieces)[],
  deps: TriageSourcesDeps,
  signal: AbortSignal,
  options: TriageSourcesOptions = {},
): Promise<TriagedSources> {
  const masked = await maskSources(raw.filter(isHeld), deps.masker);
  const sources = [...raw.filter((source) => !isHeld(source)), ...masked.sources];
  for (const source of sources) await (isHeld(source) ? deps.archive.put(build.id, source) : deps.archive.putPieces(build.id, source));
  const secrets = masked.secrets + (options.maskedSecrets ?? 0);
  const { read, survey, notes } = surveyFiles(sources);
  const how = {
    ...(options.green === undefined ? {} : { green: options.green }),
    ...(options.without === undefined ? {} : { without: options.without }),
  };
  const reading = await readAside(read, { budgetTokens: deps.budgetTokens, secrets, ...how }, deps.threads, signal);
  const groups = groupsOf(reading, build.id);
  const analyses: Analysis[] = [];
  for (const [index, group] of groups.slice(0, options.maxGroups ?? groups.length).entries()) {
    const subject = subjectOf({ triageId: `${build.id}-${index + 1}`, build, group, groups, reading, notes, survey });
    analyses.push(await investigate(subject, deps.investigation, signal));
  }
  return { reading, analyses };
}

function isHeld(source: SourceText | LogInPieces): source is SourceText {
  return 'text' in source;
}
