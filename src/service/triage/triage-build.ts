import type { Analysis, Step } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Stores } from '../../stores/stores.ts';
import { type ConcludeDeps, conclude, escalateGroup, UNREAD } from './conclude.ts';
import { joinKnown } from './group.ts';
import { diffAgainstPassing } from './passing-builds.ts';
import { mayPass, type TriageRun } from './queue.ts';
import { type GatherDeps, gatherSources } from './read-build.ts';
import { type AnswerKeeper, type TriageReadingDeps, triageReading } from './triage-reading.ts';

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
function storedAnswers(build: Build, deps: TriageBuildDeps, run: TriageRun): AnswerKeeper {
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
