import type { Analysis, Step, Suspect } from '../../domain/analysis.ts';
import type { Build, SourceText } from '../../domain/build.ts';
import type { ReadStage } from '../../domain/calibration.ts';
import type { Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import type { FailureGroup, Reading, Survey } from '../../domain/reading.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { present } from '../../lib/collections.ts';
import type { GreenTemplates } from '../../log/green/green-diff.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { LogInPieces, ReadableSource } from '../../log/read-sources.ts';
import { surveyFiles } from '../../log/survey/survey.ts';
import type { LogThreads } from '../../log/threads.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { Sql } from '../../ports/database.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { LibraryStore, RuleStore } from '../../stores/library.ts';
import type { Stores } from '../../stores/stores.ts';
import { type ConcludeDeps, conclude, type Draft, escalateGroup, UNREAD } from './conclude.ts';
import { causesOfLogs, groupsOf, joinKnown, sourcesOfGroup, subjectOf } from './group.ts';
import { type InvestigateDeps, investigate } from './investigate.ts';
import type { OwnerFinder } from './owners.ts';
import { type BesideGreen, diffAgainstPassing, greenBehind } from './passing-builds.ts';
import { mayPass, type TriageRun } from './queue.ts';
import { type GatherDeps, gatherSources, maskSources, readAside } from './read-build.ts';
import { recallAnalysis, ruleAnalysis, ruleFor } from './recall.ts';

/** What a build left to be read, masked. */
export interface BuildMaterial {
  readonly build: Build;
  readonly sources: readonly ReadableSource[];
  readonly notes: readonly string[];
  readonly survey: Survey | null;
  /** Secrets hidden in the sources. */
  readonly secrets: number;
  /** Whether each log is that of a failed job, with a cause of its own; of other logs only some show a failure. */
  readonly jobLogs: boolean;
  readonly beside: BesideGreen | null;
  /** Stages of the reader left out, for measurements. */
  readonly without?: ReadonlySet<ReadStage>;
}

/** Where the groups of one build and their answers are kept. */
export interface AnswerStore {
  /** All groups of the build: those that were kept, with what this reading adds. */
  groups(reading: Reading, found: readonly FailureGroup[]): Promise<readonly FailureGroup[]>;
  /** The answer that was kept of the group, else the drafted one, now kept; null: it waits for a person. */
  answer(group: FailureGroup, draft: (triageId: string) => Promise<Draft | null>): Promise<Analysis | null>;
}

interface KnownAnswers {
  readonly library: Pick<LibraryStore, 'recall' | 'seen'>;
  readonly rules: Pick<RuleStore, 'active' | 'used'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export interface TriageReadingDeps {
  readonly investigation: InvestigateDeps;
  /** Of log text that an analyst is shown. */
  readonly budgetTokens: number;
  /** Where large logs are read; absent: at once. */
  readonly threads?: Pick<LogThreads, 'read'>;
  /** What people decided and ruled before; absent: nothing. */
  readonly known?: KnownAnswers;
  /** Finds out whose a failure is; absent: nobody's. */
  readonly owners?: OwnerFinder;
}

export interface TriagedReading {
  readonly reading: Reading;
  /** One per cause that has an answer, in the order of the first failure. */
  readonly analyses: Analysis[];
  /** The failures of each cause. */
  readonly groups: readonly FailureGroup[];
}

/**
 * Reads a build, groups its failures by cause, and answers each group once: what the service, the terminal, the Action and replay do with
 * every build. They differ in where it is kept.
 */
async function triageReading(
  material: BuildMaterial,
  answers: AnswerStore,
  deps: TriageReadingDeps,
  signal: AbortSignal,
): Promise<TriagedReading> {
  const { build, sources, jobLogs } = material;
  const read = readerOf(material, deps, signal);
  const reading = await read(sources);
  const groups = await answers.groups(reading, jobLogs ? await causesOfLogs(build.id, sources, read) : groupsOf(reading, build.id));
  const analyses: Analysis[] = [];
  for (const group of groups) {
    signal.throwIfAborted();
    const analysis = await answers.answer(group, async (triageId) => {
      const shown = await read(jobLogs ? sourcesOfGroup(group, sources) : sources);
      const subject = subjectOf({ triageId, build, group, groups, reading: shown, notes: material.notes, survey: material.survey });
      const green = greenBehind(subject.excerpts, material.beside);
      return await draftFor(green === null ? subject : { ...subject, green }, deps, signal);
    });
    if (analysis !== null) analyses.push(analysis);
  }
  return { reading, analyses, groups };
}

/** What a person said of this failure, else what a reviewer's rule says of such failures, else what the graph finds; null where that waits for a person. A recall is counted in the transaction that saves it. */
async function draftFor(subject: TriageSubject, deps: TriageReadingDeps, signal: AbortSignal): Promise<Draft | null> {
  const { known } = deps;
  const { clock } = deps.investigation;
  const { repository } = subject.build;
  const startedAt = clock.now();
  const at = new Date(startedAt).toISOString();
  if (known !== undefined) {
    const { library, rules, logger } = known;
    const entry = subject.generic ? null : await library.recall({ fingerprint: subject.fingerprint.value, repository });
    if (entry !== null) {
      const seen = async (sql?: Sql) => recallAnalysis(subject, entry, await library.seen(entry.id, at, sql), startedAt, clock.now());
      return await withOwner(entry.category, [], seen);
    }
    const match = await ruleFor(subject.failures, repository, { stores: { rules }, logger });
    if (match !== null) {
      const used = async (sql?: Sql) => ruleAnalysis(subject, match, await rules.used(match.rule, at, sql), startedAt, clock.now());
      return await withOwner(match.rule.category, [], used);
    }
  }
  const analysis = await investigate(subject, deps.investigation, signal);
  return analysis && (await withOwner(analysis.category, analysis.answer.suspects, async () => analysis));

  async function withOwner(category: Category, suspects: readonly Suspect[], draft: Draft): Promise<Draft> {
    const owner = await deps.owners?.(subject, { category, suspects }, signal);
    return async (sql) => ({ ...(await draft(sql)), ...owner });
  }
}

type Read = (sources: readonly ReadableSource[]) => Promise<Reading>;

/** Reads each choice of sources once, beside green builds where there are any. */
function readerOf({ beside, secrets, without }: BuildMaterial, { budgetTokens, threads }: TriageReadingDeps, signal: AbortSignal): Read {
  const how = { budgetTokens, secrets, ...present({ green: beside?.green, without }) };
  const readings = new Map<string, Reading>();
  return async (sources) => {
    const key = JSON.stringify(sources.map(({ name }) => name));
    const reading = readings.get(key) ?? (await readAside(sources, how, threads, signal));
    readings.set(key, reading);
    return reading;
  };
}

export interface TriageBuildDeps extends ConcludeDeps, GatherDeps, Omit<TriageReadingDeps, 'known'> {
  readonly stores: Stores;
  /** How many green builds a failed one is compared with; 0: none. */
  readonly greenBuilds: number;
  /** Told of each finished node, for whoever watches the build. */
  readonly onStep?: (buildId: string, step: Step) => void;
}

/**
 * Steps 4 to 8 for one stored build: fetch what is missing, read, group, answer each group once. Safe to run again at any
 * point, and meant to be when more of the build has failed: what was finished before is found and not repeated. A group
 * whose analysis fails for good is given to a person and holds up no other; one that waits for a person's answer is left out,
 * and the triage is requested again when the answer comes. Throws what may pass when tried again, and what
 * kept the build from being read: a log that is not there is never answered as if it had been read.
 */
export async function triageBuild(buildId: string, deps: TriageBuildDeps, run: TriageRun): Promise<Analysis[]> {
  const { stores, greenBuilds } = deps;
  const build = await stores.builds.find(buildId);
  if (build === null) throw new TriageError('not-found', `Build ${buildId} is not stored`);
  const { sources, notes, survey } = await gatherSources(build, deps, run);
  if (sources.length === 0 && !(await isKnown(build, deps))) throw new TriageError('not-found', notes[0] ?? 'The build has no log.');
  const beside = await diffAgainstPassing(build, sources, { passingBuilds: stores.passingBuilds, greenBuilds });
  const jobLogs = deps.buildSources[build.provider] !== undefined;
  const onStep = (step: Step) => {
    run.progressed?.();
    deps.onStep?.(build.id, step);
  };
  const { analyses } = await triageReading(
    { build, sources, notes, survey, secrets: 0, jobLogs, beside },
    storedAnswers(build, deps, run),
    {
      ...deps,
      known: { library: stores.library, rules: stores.rules, logger: deps.logger },
      investigation: { ...deps.investigation, onStep },
    },
    run.signal,
  );
  return analyses;
}

/** Whether something was read of the build before. */
async function isKnown(build: Build, { stores }: TriageBuildDeps): Promise<boolean> {
  const groups = await stores.failures.saveGroups(build.id, []);
  return groups.some(({ fingerprint }) => fingerprint.algorithm !== UNREAD);
}

/** A second run of the same build works on the stored groups, and answers none that has an answer. */
function storedAnswers(build: Build, deps: TriageBuildDeps, run: TriageRun): AnswerStore {
  const { builds, failures, triages, analyses } = deps.stores;
  return {
    groups: async (reading, found) => {
      await builds.saveTestResults(build.id, reading.testResults);
      return failures.saveGroups(build.id, joinKnown(found, await failures.saveGroups(build.id, [])));
    },
    answer: async (group, draft) => {
      const triage = await triages.open(build.id, group.fingerprint.value);
      const stored = triage.analysisId === null ? null : await analyses.find(triage.analysisId);
      if (stored !== null) return stored;
      try {
        const drafted = await draft(triage.id);
        return drafted === null ? null : await conclude(build, drafted, deps, run);
      } catch (error) {
        if (mayPass(error, run)) throw error;
        return await escalateGroup({ build, group, triageId: triage.id }, error, deps, run);
      }
    },
  };
}

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
function unkeptAnswers({ id }: Build, most: number): AnswerStore {
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
