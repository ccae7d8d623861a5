import type { Analysis, Step } from '../../domain/analysis.ts';
import type { Build, SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { FailureGroup, Reading, Survey } from '../../domain/reading.ts';
import type { LogThreads } from '../../log/threads.ts';
import type { Stores } from '../../ports/stores.ts';
import { type ConcludeDeps, conclude, type Draft, escalateGroup, UNREAD } from './conclude.ts';
import { causesOfLogs, groupsOf, joinKnown, sourcesOfGroup, subjectOf } from './group.ts';
import { type InvestigateDeps, investigateOrWait } from './investigate.ts';
import { type BesideGreen, diffAgainstPassing, greenBehind } from './passing-builds.ts';
import { mayPass, type TriageRun } from './queue.ts';
import { type GatherDeps, gatherSources, readAside } from './read-build.ts';
import { recallAnalysis, ruleAnalysis, ruleFor } from './recall.ts';

export interface TriageBuildDeps extends ConcludeDeps, GatherDeps {
  readonly stores: Stores;
  readonly investigation: InvestigateDeps;
  readonly budgetTokens: number;
  /** Where large logs are read; absent: at once. */
  readonly threads?: Pick<LogThreads, 'read'>;
  /** How many green builds a failed one is compared with; 0: none. */
  readonly greenBuilds: number;
  /** Told of each finished node, for whoever watches the build. */
  readonly onStep?: (buildId: string, step: Step) => void;
}

/**
 * Steps 4 to 8 for one stored build: fetch what is missing, read, group, answer each group once. Safe to run again at any
 * point, and meant to be when more of the build has failed: what was finished before is found and not repeated. A group
 * whose analysis fails for good is given to a person and holds up no other; one that waits for a person's answer is left out,
 * and the build is owed again when the answer comes. Throws what may pass when tried again, and what
 * kept the build from being read: a log that is not there is never answered as if it had been read.
 */
export async function triageBuild(buildId: string, deps: TriageBuildDeps, run: TriageRun): Promise<Analysis[]> {
  const build = await deps.stores.builds.find(buildId);
  if (build === null) throw new TriageError('not-found', `Build ${buildId} is not stored`);
  const { sources, notes, survey } = await gatherSources(build, deps, run);
  if (sources.length === 0 && !(await isKnown(build, deps))) throw new TriageError('not-found', notes[0] ?? 'The build has no log.');
  const beside = await diffAgainstPassing(build, sources, { passingBuilds: deps.stores.passingBuilds, greenBuilds: deps.greenBuilds });
  const read = reader(deps, beside, run.signal);
  const groups = await storedGroups(build, sources, read, deps);
  const analyses: Analysis[] = [];
  for (const group of groups) {
    run.signal.throwIfAborted();
    const shown = isFetched(build, deps) ? sourcesOfGroup(group, sources) : sources;
    const analysis = await answerGroup({ build, group, groups, reading: () => read(shown), beside, notes, survey }, deps, run);
    if (analysis !== null) analyses.push(analysis);
  }
  return analyses;
}

/** Whether something was read of the build before. */
async function isKnown(build: Build, { stores }: TriageBuildDeps): Promise<boolean> {
  const groups = await stores.failures.saveGroups(build.id, []);
  return groups.some(({ fingerprint }) => fingerprint.algorithm !== UNREAD);
}

interface GroupInput {
  readonly build: Build;
  readonly group: FailureGroup;
  readonly groups: readonly FailureGroup[];
  /** Of the sources that show the group; only asked for where there is no answer yet. */
  readonly reading: () => Promise<Reading>;
  readonly beside: BesideGreen | null;
  readonly notes: readonly string[];
  readonly survey: Survey | null;
}

async function answerGroup(input: GroupInput, deps: TriageBuildDeps, run: TriageRun): Promise<Analysis | null> {
  const { build, group } = input;
  const triage = await deps.stores.triages.open(build.id, group.fingerprint.value);
  if (triage.analysisId !== null) {
    const stored = await deps.stores.analyses.find(triage.analysisId);
    if (stored !== null) return stored;
  }
  try {
    const draft = await draftFor(input, triage.id, deps, run);
    return draft === null ? null : await conclude(build, draft, deps, run);
  } catch (error) {
    if (mayPass(error, run)) throw error;
    return await escalateGroup({ build, group, triageId: triage.id }, error, deps, run);
  }
}

/** What a person said of this failure, else what a reviewer's rule says of such failures, else what the graph finds; null where that waits for a person. A recall is counted in the transaction that saves it. */
async function draftFor(input: GroupInput, triageId: string, deps: TriageBuildDeps, run: TriageRun): Promise<Draft | null> {
  const { build, group } = input;
  const { library, rules } = deps.stores;
  const known = subjectOf({ ...input, reading: await input.reading(), triageId });
  const green = greenBehind(known.excerpts, input.beside);
  const subject = green === null ? known : { ...known, green };
  const startedAt = deps.clock.now();
  const entry = group.generic ? null : await library.recall({ fingerprint: group.fingerprint.value, repository: build.repository });
  const match = entry === null ? await ruleFor(group.failures, build.repository, deps) : null;
  if (match !== null) {
    return async (sql) => {
      const timesUsed = await rules.used(match.rule, new Date(startedAt).toISOString(), sql);
      return ruleAnalysis(subject, match, timesUsed, startedAt, deps.clock.now());
    };
  }
  if (entry === null) {
    const onStep = (step: Step) => {
      run.progressed?.();
      deps.onStep?.(build.id, step);
    };
    const analysis = await investigateOrWait(subject, { ...deps.investigation, onStep }, run.signal);
    return analysis === null ? null : async () => analysis;
  }
  return async (sql) => {
    const timesSeen = await library.seen(entry.id, new Date(startedAt).toISOString(), sql);
    return recallAnalysis(subject, entry, timesSeen, startedAt, deps.clock.now());
  };
}

type Read = (sources: readonly SourceText[]) => Promise<Reading>;

/** Reads each choice of sources once, beside green builds where there are any. */
function reader(
  { budgetTokens, threads }: Pick<TriageBuildDeps, 'budgetTokens' | 'threads'>,
  beside: BesideGreen | null,
  signal: AbortSignal,
): Read {
  const readings = new Map<string, Reading>();
  return async (sources) => {
    const key = JSON.stringify(sources.map(({ name }) => name));
    const reading =
      readings.get(key) ??
      (await readAside(sources, { budgetTokens, secrets: 0, ...(beside === null ? {} : { green: beside.green }) }, threads, signal));
    readings.set(key, reading);
    return reading;
  };
}

/** What was fetched are the logs of failed jobs, each with a cause of its own; of an upload's logs only some show a failure. */
function isFetched(build: Build, deps: TriageBuildDeps): boolean {
  return deps.buildSources[build.provider] !== undefined;
}

/** The stored groups with those that this reading adds; a second run of the same build works on the stored ones. */
async function storedGroups(build: Build, sources: readonly SourceText[], read: Read, deps: TriageBuildDeps): Promise<FailureGroup[]> {
  const { builds, failures } = deps.stores;
  const reading = await read(sources);
  await builds.saveTestResults(build.id, reading.testResults);
  const found = isFetched(build, deps) ? await causesOfLogs(build.id, sources, read) : groupsOf(reading, build.id);
  return failures.saveGroups(build.id, joinKnown(found, await failures.saveGroups(build.id, [])));
}
