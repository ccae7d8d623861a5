import type { Build, SourceText } from '../../domain/build.ts';
import type { ReadStage } from '../../domain/calibration.ts';
import { TriageError } from '../../domain/errors.ts';
import type { GreenTemplates } from '../../log/green/green-diff.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { LogInPieces } from '../../log/read-sources.ts';
import { surveyFiles } from '../../log/survey/survey.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import { maskSources } from './read-build.ts';
import { type AnswerKeeper, type TriagedReading, type TriageReadingDeps, triageReading } from './triage-reading.ts';

interface TriageSourcesDeps extends TriageReadingDeps {
  readonly archive: BuildArchive & { putPieces(buildId: string, log: LogInPieces): Promise<void> };
  readonly masker: Masker;
}

interface TriageSourcesOptions {
  /** Places hidden in the logs in pieces. */
  readonly maskedSecrets?: number;
  readonly green?: GreenTemplates;
  /** Causes that are answered; the others are only counted. */
  readonly maxGroups?: number;
  /** Stages of the reader left out, for measurements. */
  readonly without?: ReadonlySet<ReadStage>;
}

/**
 * Triages a build that nobody stored, for the terminal and for replay. Nothing outlives the call. Logs in pieces come masked, and stay open
 * until it ends.
 */
export async function triageSources(
  build: Build,
  raw: readonly (SourceText | LogInPieces)[],
  deps: TriageSourcesDeps,
  signal: AbortSignal,
  { maskedSecrets = 0, green, maxGroups = Number.POSITIVE_INFINITY, ...how }: TriageSourcesOptions = {},
): Promise<TriagedReading> {
  const masked = await maskSources(raw.filter(isHeld), deps.masker);
  const sources = [...raw.filter((source) => !isHeld(source)), ...masked.sources];
  for (const source of sources) await (isHeld(source) ? deps.archive.put(build.id, source) : deps.archive.putPieces(build.id, source));
  const { read, survey, notes } = surveyFiles(sources);
  const beside = green === undefined ? null : { green, builds: new Map() };
  const material = { build, sources: read, notes, survey, secrets: masked.secrets + maskedSecrets, jobLogs: false, beside, ...how };
  return await triageReading(material, unkeptAnswers(build, maxGroups), deps, signal);
}

/** Answers of which nothing is kept, of the first `most` causes. Nobody can be asked, so none waits for a person. */
function unkeptAnswers({ id }: Build, most: number): AnswerKeeper {
  let answered = 0;
  return {
    groups: async (_reading, found) => found,
    answer: async (_group, draft) => {
      if (answered >= most) return null;
      answered += 1;
      const drafted = await draft(`${id}-${answered}`);
      if (drafted === null)
        throw new TriageError('internal', `The analysis of ${id} is waiting for a reviewer, but there is no review queue here`);
      return await drafted();
    },
  };
}

function isHeld(source: SourceText | LogInPieces): source is SourceText {
  return 'text' in source;
}
