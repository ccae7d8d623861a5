import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { Excerpt, Failure, Fingerprint } from '../../domain/failure.ts';
import { judgeWithoutHistory } from '../../domain/judge-whose.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import type { Whose } from '../../domain/whose.ts';
import { omitUndefined } from '../../lib/collections.ts';
import type { Topic } from '../../ports/analyst.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { Stores } from '../../stores/stores.ts';
import { addWhose } from '../answers/whose.ts';
import { listTopicFacts } from './topic-facts.ts';

/** The source of the analyses that users can ask about. */
export interface Topics {
  /** Throws `not-found`. */
  ofAnalysis(analysisId: string): Promise<Topic>;
  /** Returns the answers of a build; empty if it is not analyzed yet. */
  ofBuild(buildId: string): Promise<readonly Analysis[]>;
}

export interface StoredTopicDeps {
  readonly stores: Pick<Stores, 'analyses' | 'builds' | 'failures'>;
  readonly archive: Pick<BuildArchive, 'list'>;
}

/** Topics of a served installation. */
export function createStoredTopics({ stores, archive }: StoredTopicDeps): Topics {
  return {
    ofAnalysis: async (analysisId) => {
      const analysis = await stores.analyses.find(analysisId);
      if (analysis === null) throw new TriageError('not-found', `There is no analysis ${analysisId}.`);
      const { buildId } = analysis;
      const [build, all, failures, sources] = await Promise.all([
        stores.builds.find(buildId),
        stores.analyses.listByBuild(buildId),
        stores.failures.listByBuild(buildId),
        archive.list(buildId),
      ]);
      if (build === null)
        throw new TriageError('not-found', `The build ${buildId} of this analysis is gone.`);
      const sample = failures.filter(({ id }) => analysis.failureIds.includes(id));
      const answer = { analysis, sample, failures: analysis.failureIds.length };
      const [shown] = await addWhose(stores, build, [answer]);
      return createTopic({ analysis, build, all, failures, sources, whose: shown?.whose ?? null });
    },
    ofBuild: async (buildId) => await stores.analyses.listByBuild(buildId),
  };
}

/** The facts read from the logs of the whole build. */
export type ReadFacts = Pick<
  TriageSubject,
  'sources' | 'failingTests' | 'messages' | 'diagnostics' | 'exceptions'
>;

/** Creates the topics of analyses in memory, which are not stored. */
export function createTopicsAtHand(build: Build, all: readonly Analysis[], reading: ReadFacts): Topics {
  return {
    ofAnalysis: async (analysisId) => {
      const analysis = all.find(({ id }) => id === analysisId);
      if (analysis === undefined) throw new TriageError('not-found', `There is no analysis ${analysisId}.`);
      const { sources, ...read } = reading;
      const whose = judgeWithoutHistory(analysis);
      return createTopic({ analysis, build, all, failures: [], sources, whose }, read);
    },
    ofBuild: async () => all,
  };
}

/**
 * Creates the topic of an analysis. The subject is rebuilt from stored data; `read` replaces the parts that
 * come from the logs.
 */
function createTopic(
  known: {
    readonly analysis: Analysis;
    readonly build: Build;
    readonly all: readonly Analysis[];
    readonly failures: readonly Failure[];
    readonly sources: TriageSubject['sources'];
    readonly whose: Whose | null;
  },
  read: Partial<ReadFacts> = {},
): Topic {
  const { analysis, build, all } = known;
  const failures = known.failures.filter(({ id }) => analysis.failureIds.includes(id));
  const others = all.filter(({ id }) => id !== analysis.id);
  const subject: TriageSubject = {
    triageId: analysis.triageId,
    build,
    failures,
    fingerprint: failures[0]?.fingerprint ?? toFingerprint(analysis),
    generic: failures[0]?.generic ?? false,
    excerpts: analysis.evidence.flatMap(toExcerpts),
    failingTests: failures.flatMap(({ test }) => (test === null ? [] : [test])),
    diagnostics: [],
    exceptions: [],
    messages: failures.map(({ message, excerpt, test }) => ({
      text: message,
      at: test?.at ?? toStart(excerpt),
      weight: 1,
    })),
    exits: [],
    failedSections: [],
    toolchains: [],
    notes: [],
    sources: known.sources.map(({ name, lines, bytes }) => ({ name, lines, bytes })),
    tokens: analysis.reduction.tokens,
    ...omitUndefined({ green: analysis.green }),
    ...read,
  };
  const otherCauses = others.map(({ id, category, answer }) => ({
    analysisId: id,
    category,
    title: answer.title,
  }));
  const facts = listTopicFacts(analysis, subject.failingTests, otherCauses, known.whose);
  return { build, analysis, subject, facts, otherCauses };
}

function toExcerpts({ tool, source, lineStart, lineEnd, text, title }: Evidence): Excerpt[] {
  if (tool !== 'log' || lineStart === undefined || lineEnd === undefined) return [];
  return [{ source, lineStart, lineEnd, text, reason: title, weight: 1 }];
}

function toStart(excerpt: Excerpt | null) {
  return excerpt === null ? null : { source: excerpt.source, line: excerpt.lineStart };
}

function toFingerprint({ fingerprint }: Analysis): Fingerprint {
  return { algorithm: 'unknown', version: 0, value: fingerprint };
}
