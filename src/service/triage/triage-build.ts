import { type Analysis, type Step, UNREAD } from '../../domain/analysis.ts';
import type { Build, SourceText } from '../../domain/build.ts';
import type { ReadStage } from '../../domain/calibration.ts';
import type { EnvironmentRecord } from '../../domain/environment-record.ts';
import { TriageError } from '../../domain/errors.ts';
import type { FailureGroup, Survey } from '../../domain/reading.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { omitUndefined } from '../../lib/collections.ts';
import type { BuildReading } from '../../log/causes/read-causes.ts';
import type { GreenTemplates } from '../../log/green/green-diff.ts';
import { surveyFiles } from '../../log/inventory/inventory.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { LogInPieces, ReadableSource } from '../../log/read-log.ts';
import { findRefusedHost } from '../../log/refused-host.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { Stores } from '../../stores/stores.ts';
import { type ConcludeDeps, conclude, createAnalysis, escalateGroup } from './conclude.ts';
import { type DraftDeps, draftAnswer } from './draft-answer.ts';
import { findVersionChanges, type GreenRecords, keepAndFindGreen, useGreenRecord } from './environments.ts';
import { findGroupReading, findGroupsToSave, groupFailures } from './group-failures.ts';
import { diffAgainstPassing, findGreenBehind, type PassingComparison } from './passing-builds.ts';
import { type GatherDeps, gatherSources, maskSources, type ReadingThreads, readAside } from './read-build.ts';
import { mayRetry, type TriageRun } from './triage-run.ts';
import { createSubject } from './triage-subject.ts';

/** The masked texts of a build. */
interface BuildMaterial {
  readonly build: Build;
  readonly sources: readonly ReadableSource[];
  readonly notes: readonly string[];
  readonly survey: Survey | null;
  /** The number of secrets that were hidden in the sources. */
  readonly secrets: number;
  readonly beside: PassingComparison | null;
  /** The stages of the reader to skip, for measurements. */
  readonly without?: ReadonlySet<ReadStage>;
}

interface ReadDeps {
  /** The maximum number of log tokens for each cause that an analyst sees. */
  readonly budgetTokens: number;
  /** The threads that read large logs. If absent, they are read in the main thread. */
  readonly threads?: ReadingThreads;
}

export interface TriageBuildDeps extends ConcludeDeps, GatherDeps, ReadDeps, Omit<DraftDeps, 'known'> {
  readonly stores: Stores;
  /** The number of passing builds with which a failed one is compared; 0 for none. */
  readonly greenBuilds: number;
  /** Runs after each finished node, for people who watch the build. */
  readonly onStep?: (buildId: string, step: Step) => void;
}

/**
 * Triages one stored build: fetches missing texts, reads them, groups the failures, and answers each group
 * once. It can be repeated at any point, also after more of the build has failed; finished work is not
 * repeated. A group whose analysis fails permanently is given to a person and does not delay the others. A
 * group that waits for a person's answer is left out, and the triage is requested again when the answer
 * comes. Throws retryable errors, and any error that prevents reading the build, because a missing log must
 * not be answered as if it had been read.
 */
export async function triageBuild(
  buildId: string,
  deps: TriageBuildDeps,
  run: TriageRun,
): Promise<Analysis[]> {
  const material = await gatherMaterial(buildId, deps, run);
  const read = await readMaterial(material, deps, run.signal);
  const groups = await saveGroups(material.build, read, deps.stores);
  const { build } = material;
  const { stores } = deps;
  const greens = await keepAndFindGreen(build, read.records, stores.environments);
  await stores.environments.saveRefusedHosts(build.id, groups.flatMap(toRefusedHost));
  const analyses: Analysis[] = [];
  for (const group of groups) {
    run.signal.throwIfAborted();
    const analysis = await answerGroup({ material, read, group, greens }, deps, run);
    if (analysis !== null) analyses.push(analysis);
  }
  return analyses;
}

async function gatherMaterial(
  buildId: string,
  deps: TriageBuildDeps,
  run: TriageRun,
): Promise<BuildMaterial> {
  const { stores, greenBuilds } = deps;
  const build = await stores.builds.find(buildId);
  if (build === null) throw new TriageError('not-found', `Build ${buildId} is not stored`);
  const { sources, notes, survey } = await gatherSources(build, deps, run);
  if (sources.length === 0 && !(await isKnown(build, deps)))
    throw new TriageError('not-found', notes[0] ?? 'The build has no log.');
  const beside = await diffAgainstPassing(build, sources, {
    passingBuilds: stores.passingBuilds,
    greenBuilds,
  });
  return { build, sources, notes, survey, secrets: 0, beside };
}

/** Checks whether the build was read before. */
async function isKnown(build: Build, { stores }: TriageBuildDeps): Promise<boolean> {
  const groups = await stores.failures.saveGroups(build.id, []);
  return groups.some(({ fingerprint }) => fingerprint.algorithm !== UNREAD);
}

async function readMaterial(
  material: BuildMaterial,
  { budgetTokens, threads }: ReadDeps,
  signal: AbortSignal,
): Promise<BuildReading> {
  const { sources, secrets, beside, without } = material;
  return await readAside(
    sources,
    { budgetTokens, secrets, ...omitUndefined({ green: beside?.green, without }) },
    threads,
    signal,
  );
}

/** Saves the failures that a reading adds. Returns all groups of the build. */
async function saveGroups(
  build: Build,
  read: BuildReading,
  { builds, failures }: Stores,
): Promise<readonly FailureGroup[]> {
  await builds.saveTestResults(build.id, read.reading.testResults);
  const stored = await failures.saveGroups(build.id, []);
  return await failures.saveGroups(build.id, findGroupsToSave(groupFailures(read, build.id), stored));
}

function toRefusedHost({ fingerprint, failures }: FailureGroup) {
  const host = findRefusedHost(failures.flatMap(({ message, excerpt }) => [message, excerpt?.text ?? '']));
  return host === null ? [] : [{ fingerprint: fingerprint.value, host }];
}

interface GroupInput {
  readonly material: BuildMaterial;
  readonly read: BuildReading;
  readonly group: FailureGroup;
  /** The records of the last passing runs. */
  readonly greens: GreenRecords;
}

/**
 * Returns the stored answer to a group, or else creates and saves one. Returns null if the group waits for a
 * person.
 */
async function answerGroup(
  input: GroupInput,
  deps: TriageBuildDeps,
  run: TriageRun,
): Promise<Analysis | null> {
  const { group, material } = input;
  const { build } = material;
  const { stores, onStep } = deps;
  const triage = await stores.triages.open(build.id, group.fingerprint.value);
  const stored = triage.analysisId === null ? null : await stores.analyses.find(triage.analysisId);
  if (stored !== null) return stored;
  const report = (step: Step) => {
    run.progressed?.();
    onStep?.(build.id, step);
  };
  try {
    const known = { library: stores.library, rules: stores.rules, logger: deps.logger };
    const investigation = { ...deps.investigation, onStep: report };
    const draft = await draftAnswer(
      createGroupSubject(input, triage.id),
      { ...deps, known, investigation },
      run.signal,
    );
    return draft === null ? null : await conclude(build, draft, deps, run);
  } catch (error) {
    if (mayRetry(error, run)) throw error;
    return await escalateGroup({ build, group, triageId: triage.id }, error, deps, run);
  }
}

function createGroupSubject({ material, read, group, greens }: GroupInput, triageId: string): TriageSubject {
  const { build, notes, survey, beside } = material;
  const subject = createSubject({
    triageId,
    build,
    group,
    reading: findGroupReading(group, read),
    notes,
    survey,
  });
  const green = findGreenBehind(subject.excerpts, beside);
  const changes = findVersionChanges(subject, read.records, greens);
  return { ...subject, ...omitUndefined({ green: green ?? undefined, changes }) };
}

interface TriageSourcesDeps extends ReadDeps, DraftDeps {
  readonly archive: BuildArchive & { putPieces(buildId: string, log: LogInPieces): Promise<void> };
  readonly masker: Masker;
}

interface TriageSourcesOptions {
  /** The number of secrets that were hidden in logs in pieces. */
  readonly maskedSecrets?: number;
  readonly green?: GreenTemplates;
  /** The record of the passing build, and its commit if known. */
  readonly greenRecord?: { readonly record: EnvironmentRecord; readonly commit: string | null };
  /** The maximum number of causes to answer. The others are only counted. */
  readonly maxGroups?: number;
  /** The stages of the reader to skip, for measurements. */
  readonly without?: ReadonlySet<ReadStage>;
}

/** The reading of a build that was not stored, and its answers. */
export interface TriagedSources extends Pick<BuildReading, 'reading'> {
  /** One analysis for each answered cause, in the order of the first failures. */
  readonly analyses: Analysis[];
  /** The failures of each cause. */
  readonly groups: readonly FailureGroup[];
}

/**
 * Triages a build that is not stored, for the terminal and for replay. Nothing is kept after the call. Logs
 * in pieces must already be masked, and must stay open until the call ends.
 */
export async function triageSources(
  build: Build,
  raw: readonly (SourceText | LogInPieces)[],
  deps: TriageSourcesDeps,
  signal: AbortSignal,
  {
    maskedSecrets = 0,
    green,
    greenRecord,
    maxGroups = Number.POSITIVE_INFINITY,
    ...how
  }: TriageSourcesOptions = {},
): Promise<TriagedSources> {
  const masked = await maskSources(raw.filter(isHeld), deps.masker);
  const sources = [...raw.filter((source) => !isHeld(source)), ...masked.sources];
  for (const source of sources)
    await (isHeld(source) ? deps.archive.put(build.id, source) : deps.archive.putPieces(build.id, source));
  const { read: chosen, survey, notes } = surveyFiles(sources);
  const beside = green === undefined ? null : { green, builds: new Map() };
  const material = {
    build,
    sources: chosen,
    notes,
    survey,
    secrets: masked.secrets + maskedSecrets,
    beside,
    ...how,
  };
  const read = await readMaterial(material, deps, signal);
  const groups = groupFailures(read, build.id);
  const greens: GreenRecords =
    greenRecord === undefined
      ? new Map()
      : useGreenRecord(greenRecord.record, read.records, greenRecord.commit);
  const analyses: Analysis[] = [];
  for (const group of groups.slice(0, maxGroups)) {
    signal.throwIfAborted();
    const draft = await draftAnswer(
      createGroupSubject({ material, read, group, greens }, `${build.id}-${analyses.length + 1}`),
      deps,
      signal,
    );
    if (draft === null)
      throw new TriageError(
        'internal',
        `The analysis of ${build.id} is waiting for a reviewer, but there is no review queue here`,
      );
    analyses.push(await createAnalysis(draft));
  }
  return { reading: read.reading, analyses, groups };
}

function isHeld(source: SourceText | LogInPieces): source is SourceText {
  return 'text' in source;
}
