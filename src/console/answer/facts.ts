import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { isInUse } from '../../domain/library.ts';
import { applyDecision, findTouchedSuspects } from '../../domain/review.ts';
import { pairWithFailures } from '../../notifications/build-answers.ts';
import { USUAL_THRESHOLD } from '../../service/answers/trust.ts';
import { addWhose } from '../../service/answers/whose.ts';
import type { ShownArchive, ShownStores } from '../../stores/stores.ts';
import { isErrorContext, listRecordings } from './recordings.ts';

/** Everything that the parts of an answer show. */
export type AnswerFacts = NonNullable<Awaited<ReturnType<typeof readAnswerFacts>>>;

interface AnswerDeps {
  readonly stores: Pick<
    ShownStores,
    | 'analyses'
    | 'builds'
    | 'failures'
    | 'history'
    | 'library'
    | 'flakiness'
    | 'insights'
    | 'ciLinks'
    | 'notices'
    | 'reviews'
    | 'pictures'
    | 'grades'
  >;
  readonly archive: Pick<ShownArchive, 'list'>;
  readonly clock: { now(): number };
  readonly config: { readonly triage?: { readonly thresholds: { readonly autoNotify: number } } };
}

/** Returns the confidence from which answers are published. */
export function getPublishLimit(config: AnswerDeps['config']): number {
  return config.triage?.thresholds.autoNotify ?? USUAL_THRESHOLD;
}

const PAST = 5;
const MAX_EARLIER_FIXES = 3;
/** The maximum number of builds of one commit that are searched for a passed one. */
const SIBLINGS = 20;

/** Reads everything that the parts of an answer show. Returns null if the build is not stored. */
export async function readAnswerFacts(deps: AnswerDeps, analysis: Analysis) {
  const { stores, clock, config } = deps;
  const build = await stores.builds.find(analysis.buildId);
  if (build === null) return null;
  const ids = new Set(analysis.failureIds);
  const failures = (await stores.failures.listByBuild(build.id)).filter(({ id }) => ids.has(id));
  const test = failures.find((failure) => failure.test !== null)?.test ?? null;
  const { repository } = build;
  const [answer] = pairWithFailures([analysis], await stores.failures.groupsOfBuild(build.id));
  const [
    track,
    taught,
    past,
    flakiness,
    green,
    posted,
    review,
    graded,
    earlierFixes,
    whose,
    pictures,
    files,
  ] = await Promise.all([
    stores.insights.trackRecord(analysis.verdict.confidence),
    stores.library.list({ limit: PAST, offset: 0 }, { repository, fingerprint: analysis.fingerprint }),
    stores.history.failureHistory({
      repository,
      fingerprint: analysis.fingerprint,
      test: test?.name ?? null,
      beforeBuildId: build.id,
      limit: PAST,
    }),
    test === null ? null : stores.flakiness.ofTest({ repository, name: test.name, suite: test.suite }),
    findPassedBuild(stores, build),
    stores.notices.pages(build),
    stores.reviews.findByAnalysis(analysis.id),
    stores.grades.find(analysis.id),
    stores.grades.listFixedBefore(build.id, analysis, MAX_EARLIER_FIXES),
    addWhose(stores, build, answer === undefined ? [] : [answer]),
    stores.pictures.list(build.id),
    deps.archive.list(build.id),
  ]);
  return {
    /** The answer with the decision in force, and with advice that agrees with whose the failure is. */
    analysis: applyDecision(whose[0]?.analysis ?? analysis, review?.decision ?? null),
    /** The category that the analysis gave. */
    guessed: analysis.category,
    build,
    failures,
    overlap: findTouchedSuspects(build, analysis),
    now: clock.now(),
    /** The confidence from which answers are published. */
    limit: getPublishLimit(config),
    /** The track record of answers with similar confidence, according to people's decisions. */
    track,
    /** Library entries in use for this fingerprint in the repository, newest first. */
    taught: taught.filter(isInUse),
    /** The same failure, or the same test, in earlier builds of the repository, newest first. */
    past,
    /**
     * The flakiness of the first failing test, from earlier runs. Null if the test never failed before or if
     * there is no test.
     */
    flakiness,
    green,
    /** The verdict on whose failure it is; null if nothing is known around its build. */
    whose: whose[0]?.whose ?? null,
    /** Addresses of posts about the build, such as a comment on its pull request. */
    posted,
    /** The review of the answer; null if no person was asked. */
    review,
    /** Pictures from the artifacts of the build, without their pixels. */
    pictures,
    /** Names of the videos and traces among the artifacts, which are not kept here. */
    recordings: listRecordings(files.map(({ name }) => name)),
    /** Names of the texts in which a browser test saved the content of its page. */
    contexts: files.map(({ name }) => name).filter(isErrorContext),
    /** The grade by later builds; null if no build has passed since. */
    graded,
    /** The newest failures like this one that were fixed by editing files, newest first. */
    earlierFixes,
  };
}

/** Finds a build of the same commit and pipeline that came later and passed. */
async function findPassedBuild(stores: Pick<ShownStores, 'builds'>, build: Build): Promise<Build | null> {
  if (build.commit === null) return null;
  const { provider, repository, pipeline, branch } = build;
  const filter = {
    provider,
    repository,
    pipeline,
    status: 'passed' as const,
    ...(branch !== null && { branch }),
  };
  const passed = await stores.builds.list(filter, { limit: SIBLINGS, offset: 0 });
  return (
    passed.find(({ commit, receivedAt }) => commit === build.commit && receivedAt >= build.receivedAt) ?? null
  );
}
