import { type Analysis, isJudged } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { gradeAnswer } from '../../domain/grade-answer.ts';
import { judgeWhose } from '../../domain/judge-whose.ts';
import type { WhoseVerdict } from '../../domain/whose.ts';
import { GRADE, gradeEntry } from '../../domain/work.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { WorkHandler } from '../../ports/work.ts';
import type { Stores } from '../../stores/stores.ts';
import { maskStrings } from '../triage/recording/mask-strings.ts';
import { type ChangeReader, createChangeReader, type OutcomeDeps, readOutcome } from './read-outcome.ts';

export interface GradeDeps extends OutcomeDeps {
  readonly stores: {
    readonly builds: Pick<Stores['builds'], 'find'>;
    readonly analyses: Pick<Stores['analyses'], 'listByBuild'>;
    readonly failures: Pick<Stores['failures'], 'groupsOfBuild' | 'histories'>;
    readonly grades: Pick<Stores['grades'], 'around' | 'endedBy' | 'testsIn' | 'save'>;
  };
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Pick<Logger, 'debug'>;
}

/** The maximum time for one item, in milliseconds. */
const LEASE_MS = 120_000;

/**
 * Creates the handler that grades answers by later builds. It waits while `isPaused` returns true. If a
 * change cannot be read after all retries, the build is graded without it.
 */
export function createGradeHandler(deps: GradeDeps, isPaused?: WorkHandler['isPaused']): WorkHandler {
  return {
    topic: GRADE,
    leaseMs: LEASE_MS,
    limits: { attempts: 5, retries: 8 },
    longestDelayMs: 300_000,
    ...(isPaused === undefined ? {} : { isPaused }),
    handle: async ([item], { signal, lastTry }) => {
      if (item === undefined) return null;
      const limited = AbortSignal.any([signal, AbortSignal.timeout(LEASE_MS)]);
      const graded = await gradeBy(item.key, deps, lastTry, limited);
      return { outcome: graded > 0 ? 'done' : 'skipped', forget: true };
    },
  };
}

/**
 * Requests the grading of a failed build that has just been answered, if a passed build has already followed
 * it.
 */
export async function addGradeRequest(
  {
    grades,
    work,
  }: { readonly grades: Pick<Stores['grades'], 'around'>; readonly work: Pick<Stores['work'], 'add'> },
  buildId: string,
): Promise<void> {
  const last = (await grades.around(buildId)).at(-1);
  if (last?.status === 'passed' && last.id !== buildId) await work.add([gradeEntry(buildId)]);
}

/**
 * Grades the answers of a failed build, or of the failed builds that a passed build follows. Returns the
 * number of graded answers. Throws the errors of the stores and, unless `isLast`, the retryable errors of the
 * code host.
 */
async function gradeBy(
  buildId: string,
  deps: GradeDeps,
  isLast: boolean,
  signal: AbortSignal,
): Promise<number> {
  const build = await deps.stores.builds.find(buildId);
  if (build === null) return 0;
  const readChange = createChangeReader(deps.codeHost, build.repository, isLast, signal);
  if (build.status === 'failed') return await gradeBuild(build, deps, readChange);
  let graded = 0;
  for (const id of await deps.stores.grades.endedBy(buildId)) {
    signal.throwIfAborted();
    const failed = await deps.stores.builds.find(id);
    if (failed !== null) graded += await gradeBuild(failed, deps, readChange);
  }
  return graded;
}

async function gradeBuild(build: Build, deps: GradeDeps, readChange: ChangeReader): Promise<number> {
  const { stores, masker, logger } = deps;
  const answers = (await stores.analyses.listByBuild(build.id)).filter(isJudged);
  if (answers.length === 0) return 0;
  const around = await stores.grades.around(build.id);
  const groups = await stores.failures.groupsOfBuild(build.id);
  for (const analysis of answers) {
    const { fingerprint } = analysis;
    const isOwn = (group: (typeof groups)[number]) => group.fingerprint.value === fingerprint;
    const failures = groups.filter(isOwn).flatMap((group) => group.failures);
    const others = groups.filter((group) => !isOwn(group)).flatMap((group) => group.failures);
    const question = { build, fingerprint, failures, others, around };
    const outcome = await readOutcome(question, deps, readChange);
    if (outcome === null) return 0;
    const whose = await readWhose(build, analysis, failures, deps);
    const graded = gradeAnswer({ analysis, failures, whose }, outcome);
    await stores.grades.save(analysis, build, await maskStrings(graded, masker));
    logger.debug({ analysisId: analysis.id, mend: graded.mend.kind }, 'answer graded');
  }
  return answers.length;
}

/** Reads the verdict that the author of a change saw before the failure went away. */
async function readWhose(
  build: Build,
  analysis: Analysis,
  failures: Parameters<typeof judgeWhose>[0]['failures'],
  { stores }: GradeDeps,
): Promise<WhoseVerdict | null> {
  const history = (await stores.failures.histories(build.id))?.get(analysis.fingerprint);
  if (history === undefined || history.isDefault) return null;
  const main = history.defaultBranch === null ? null : { ...history.defaultBranch, fixedBy: null };
  const before = { ...history, passedAgain: null, defaultBranch: main };
  return judgeWhose({ build, analysis, category: analysis.category, failures, history: before }).verdict;
}
