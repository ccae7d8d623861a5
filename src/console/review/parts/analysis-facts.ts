import type { Analysis } from '../../../domain/analysis.ts';
import type { Build } from '../../../domain/build.ts';
import type { Failure, FailureRow } from '../../../domain/failure.ts';
import type { TestFlakiness } from '../../../domain/flakiness.ts';
import { answers, type LibraryEntry } from '../../../domain/library.ts';
import { overlapOf } from '../../../domain/review.ts';
import type { BuildArchive } from '../../../ports/build-archive.ts';
import type { TrackRecord } from '../../../ports/insights.ts';
import type { ShownStores } from '../../../ports/stores.ts';
import { type EvidenceWindows, evidenceWindows } from '../../logs/evidence-windows.ts';

/** All that the parts of an analysis show. */
export interface AnalysisFacts {
  readonly analysis: Analysis;
  readonly build: Build;
  /** The failures that it is about. */
  readonly failures: readonly Failure[];
  /** How often answers as sure as this one were right, by people's decisions. */
  readonly track: TrackRecord;
  /** What people taught about this fingerprint here, the newest first. */
  readonly taught: readonly LibraryEntry[];
  /** The same failure, or the same test, in earlier builds of the repository, the newest first. */
  readonly past: readonly FailureRow[];
  /** What earlier runs say of the first of its tests; null where it never failed before or there is none. */
  readonly flakiness: TestFlakiness | null;
  /** A later build of the same commit that passed. */
  readonly green: Build | null;
  /** Suspects that the build's own change touches, by path. */
  readonly overlap: readonly string[];
  /** The exact lines of the logs around the evidence. */
  readonly windows: EvidenceWindows;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface AnalysisDeps {
  readonly stores: Pick<ShownStores, 'builds' | 'failures' | 'history' | 'library' | 'flakiness' | 'insights'>;
  readonly archive: Pick<BuildArchive, 'list' | 'lines'>;
  readonly clock: { now(): number };
}

const PAST = 5;
/** Builds of one commit that are looked through for a green one. */
const SIBLINGS = 20;

/** Reads what the parts show; `stamps`: with the timestamps of log lines. Null where the build is not stored. */
export async function readAnalysisFacts(deps: AnalysisDeps, analysis: Analysis, stamps = false): Promise<AnalysisFacts | null> {
  const { stores, clock } = deps;
  const build = await stores.builds.find(analysis.buildId);
  if (build === null) return null;
  const ids = new Set(analysis.failureIds);
  const failures = (await stores.failures.listByBuild(build.id)).filter(({ id }) => ids.has(id));
  const test = failures.find((failure) => failure.test !== null)?.test ?? null;
  const { repository } = build;
  const [track, taught, past, flakiness, green, windows] = await Promise.all([
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
    greenOf(stores, build),
    evidenceWindows(deps, analysis, { stamps }),
  ]);
  const overlap = overlapOf(build, analysis);
  const facts = { analysis, build, failures, track, past, flakiness, green, overlap, windows };
  return { ...facts, taught: taught.filter(answers), now: clock.now() };
}

/** A build of the same commit and pipeline that came later and passed. */
async function greenOf(stores: Pick<ShownStores, 'builds'>, build: Build): Promise<Build | null> {
  if (build.commit === null) return null;
  const { provider, repository, pipeline, branch } = build;
  const filter = { provider, repository, pipeline, status: 'passed' as const, ...(branch !== null && { branch }) };
  const passed = await stores.builds.list(filter, { limit: SIBLINGS, offset: 0 });
  return passed.find(({ commit, receivedAt }) => commit === build.commit && receivedAt >= build.receivedAt) ?? null;
}

/** Suspects that the build's own change touches, by path. */
export async function readOverlap({ builds }: Pick<ShownStores, 'builds'>, analysis: Analysis): Promise<readonly string[]> {
  const build = await builds.find(analysis.buildId);
  return build === null ? [] : overlapOf(build, analysis);
}
