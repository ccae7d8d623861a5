import type { Analysis } from '../../../domain/analysis.ts';
import type { Build } from '../../../domain/build.ts';
import type { Failure, FailureRow } from '../../../domain/failure.ts';
import type { TestFlakiness } from '../../../domain/flakiness.ts';
import { answers, type LibraryEntry } from '../../../domain/library.ts';
import { overlapOf } from '../../../domain/review-risk.ts';
import type { BuildArchive } from '../../../ports/build-archive.ts';
import type { FlakinessStore } from '../../../ports/flakiness.ts';
import type { Stores } from '../../../ports/stores.ts';
import type { Html } from '../../html.ts';

/** How often answers of one level of confidence were right, by people's decisions. */
export interface TrackRecord {
  /** The level: shares, `from` included. */
  readonly from: number;
  readonly to: number;
  readonly right: number;
  readonly of: number;
}

/** All that the parts of an analysis show. */
export interface AnalysisFacts {
  readonly analysis: Analysis;
  readonly build: Build;
  /** The failures that it is about. */
  readonly failures: readonly Failure[];
  /** Null where it is not known. */
  readonly track: TrackRecord | null;
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
  /** Whether any log of the build is still stored. */
  readonly hasLog: boolean;
  /** The exact lines; null: the stored excerpts are shown. */
  readonly windows: Html | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface AnalysisDeps {
  readonly stores: Pick<Stores, 'builds' | 'failures' | 'history' | 'library'> & { readonly flakiness?: Pick<FlakinessStore, 'ofTest'> };
  readonly archive: Pick<BuildArchive, 'list'>;
  readonly clock: { now(): number };
  /** How often answers as sure as this one were right. */
  readonly trackRecord?: (analysis: Analysis) => Promise<TrackRecord | null>;
  /** The exact lines of the logs around the evidence. */
  readonly evidenceWindows?: (analysis: Analysis) => Promise<Html | null>;
}

const PAST = 5;
/** Builds of one commit that are looked through for a green one. */
const SIBLINGS = 20;

/** Reads what the parts show. Null where the build is not stored. */
export async function readAnalysisFacts(deps: AnalysisDeps, analysis: Analysis): Promise<AnalysisFacts | null> {
  const { stores, archive, clock } = deps;
  const build = await stores.builds.find(analysis.buildId);
  if (build === null) return null;
  const ids = new Set(analysis.failureIds);
  const failures = (await stores.failures.listByBuild(build.id)).filter(({ id }) => ids.has(id));
  const test = failures.find((failure) => failure.test !== null)?.test ?? null;
  const { repository } = build;
  const [track, taught, past, flakiness, green, sources, windows] = await Promise.all([
    deps.trackRecord?.(analysis) ?? null,
    stores.library.list({ limit: PAST, offset: 0 }, { repository, fingerprint: analysis.fingerprint }),
    stores.history.failureHistory({
      repository,
      fingerprint: analysis.fingerprint,
      test: test?.name ?? null,
      beforeBuildId: build.id,
      limit: PAST,
    }),
    test === null ? null : (stores.flakiness?.ofTest({ repository, name: test.name, suite: test.suite }) ?? null),
    greenOf(stores, build),
    archive.list(build.id),
    deps.evidenceWindows?.(analysis) ?? null,
  ]);
  const overlap = overlapOf(build, analysis);
  const facts = { analysis, build, failures, track, past, flakiness, green, overlap, windows };
  return { ...facts, taught: taught.filter(answers), hasLog: sources.length > 0, now: clock.now() };
}

/** A build of the same commit and pipeline that came later and passed. */
async function greenOf(stores: Pick<Stores, 'builds'>, build: Build): Promise<Build | null> {
  if (build.commit === null) return null;
  const { provider, repository, pipeline, branch } = build;
  const filter = { provider, repository, pipeline, status: 'passed' as const, ...(branch !== null && { branch }) };
  const passed = await stores.builds.list(filter, { limit: SIBLINGS, offset: 0 });
  return passed.find(({ commit, receivedAt }) => commit === build.commit && receivedAt >= build.receivedAt) ?? null;
}
