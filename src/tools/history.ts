import { z } from 'zod';
import type { Build } from '../domain/build.ts';
import type { FailureRow } from '../domain/failure.ts';
import type { FindingFrom } from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { NO_ERROR } from '../log/fingerprint/failures.ts';
import {
  createNearMatchIndex,
  extractLikeness,
  type LikenessParts,
  NEAR,
} from '../log/fingerprint/likeness.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { findFailingTestName, formatFailureHeadline } from './findings.ts';
import { defineTool, type RepositoryScope, type Tool } from './tool.ts';

const HistoryParameters = z.strictObject({
  test: z.string().min(1).max(500).optional().describe('Name of a test; by default the one that failed'),
  limit: z.int().min(1).max(20).default(10),
});

/** Creates the tool that shows earlier occurrences of this failure. */
export function readFailureHistory(history: HistoryStore): Tool {
  return defineTool({
    name: 'read_failure_history',
    question: 'Did this test, or this same failure, occur in earlier builds of the repository, and when?',
    serves: { CODE_ERROR: 9, INFRA_ERROR: 3, CONFIG_ERROR: 4, DEPENDENCY_ERROR: 4, TEST_FAILURE: 3 },
    investigator: 'history',
    asks: 'history',
    precedence: 11,
    costClass: 'low',
    usualLatencyMs: 100,
    provider: 'history',
    findUnavailableReason: async () => findHistoryUnavailable(history),
    parameters: HistoryParameters,
    argumentsFrom: () => ({ limit: 20 }),
    async run({ test, limit }, { subject }) {
      const rows = await history.failureHistory({
        repository: subject.build.repository,
        fingerprint: subject.fingerprint.value,
        test: test ?? findFailingTestName(subject),
        beforeBuildId: subject.build.id,
        limit,
      });
      return rows.map(convertPastFailure);
    },
  });
}

/** Creates the tool that counts the consecutive failures of this pipeline. */
export function countConsecutiveFailures(history: HistoryStore): Tool {
  return defineTool({
    name: 'count_consecutive_failures',
    question: 'How many builds of this pipeline and branch failed in a row, and since which?',
    serves: { CODE_ERROR: 10, INFRA_ERROR: 1, CONFIG_ERROR: 6, DEPENDENCY_ERROR: 6, TEST_FAILURE: 6 },
    // A rerun may help if it failed once, but not if it fails every time.
    always: true,
    investigator: 'history',
    asks: 'history',
    precedence: 9,
    costClass: 'low',
    usualLatencyMs: 80,
    provider: 'history',
    findUnavailableReason: async () => findHistoryUnavailable(history),
    parameters: z.strictObject({}),
    argumentsFrom: () => ({}),
    async run(_args, { subject }) {
      const { repository, pipeline, branch, id } = subject.build;
      const { fingerprint, generic } = subject;
      const { count, firstBuild, lastGreen, same, firstSame } = await history.consecutiveFailures({
        repository,
        pipeline,
        branch,
        buildId: id,
        ...(generic ? {} : { fingerprint: fingerprint.value }),
      });
      if (count === 0) return [];
      const where = `${pipeline}${branch === null ? '' : ` on ${branch}`}`;
      const since = firstBuild === null ? '' : ` since ${formatBuildName(firstBuild)}`;
      const alike = generic || firstSame === null ? '' : describeAlikeWords(same, count, firstSame);
      const green =
        lastGreen === null
          ? 'No earlier green build is known.'
          : `Last green: ${formatBuildName(lastGreen)}.`;
      return [
        {
          title:
            generic || same === count
              ? `${where}: ${count} failed in a row`
              : `${where}: ${count} failed in a row, ${same} of them this way`,
          text:
            `${where} failed ${count} ${count === 1 ? 'time' : 'times'} in a ` +
            `row${since}${alike}. ${green}`,
          source: `history/${repository}/${pipeline}`,
          data: {
            count,
            same,
            firstSameNumber: firstSame?.number ?? null,
            firstBuildId: firstBuild?.id ?? null,
            firstCommit: firstBuild?.commit ?? null,
            lastGreenBuildId: lastGreen?.id ?? null,
            lastGreenCommit: lastGreen?.commit ?? null,
          },
        },
      ];
    },
  });
}

/**
 * Describes how many of the consecutive failed builds had this failure. The others failed for other reasons.
 */
function describeAlikeWords(same: number, count: number, first: Build): string {
  if (count === 1) return '';
  if (same < 2) return ', for other reasons before this build';
  return `, ${same === count ? 'each time' : `the last ${same} times`} this way (since #${first.number})`;
}

function formatBuildName(build: Build): string {
  const commit = build.commit === null ? '' : ` (${build.commit.slice(0, 10)})`;
  return `#${build.number}${commit}, ${(build.finishedAt ?? build.receivedAt).slice(0, 10)}`;
}

/**
 * The limits of the database's generous search by trigrams. The final likeness is computed from all known
 * facts of each candidate.
 */
const CANDIDATES = { minScore: 0.2, limit: 50 } as const;
const MAX_TEXT = 1_000;

const SimilarParameters = z.strictObject({
  text: z.string().trim().min(3).max(MAX_TEXT).optional().describe("A message; by default the failure's own"),
  minScore: z
    .number()
    .min(0.1)
    .max(1)
    .default(NEAR)
    .describe('Likeness from which a failure counts; 1 is the same in every part'),
  limit: z.int().min(1).max(20).default(5),
});

/** Creates the tool that finds other builds with a similar message. */
export function findSimilarFailures(history: HistoryStore, scope: RepositoryScope): Tool {
  return defineTool({
    name: 'find_similar_failures',
    question: 'Which other builds, of any repository, failed with a message like this one?',
    serves: { CODE_ERROR: 8, INFRA_ERROR: 2, CONFIG_ERROR: 5, DEPENDENCY_ERROR: 3, TEST_FAILURE: 5 },
    investigator: 'history',
    asks: 'history',
    costClass: 'low',
    usualLatencyMs: 150,
    provider: 'history',
    findUnavailableReason: async () => findHistoryUnavailable(history),
    parameters: SimilarParameters,
    argumentsFrom: ({ headline }) => (headline === '' ? { limit: 5 } : { text: headline, limit: 5 }),
    async run({ text, minScore, limit }, { subject }) {
      const asked = text === undefined ? toLikenessParts(subject) : toMessageAlone(text);
      if (asked.message === null || asked.message.trim() === '' || asked.message === NO_ERROR) return [];
      const query = {
        text: asked.message.slice(0, MAX_TEXT),
        excludeBuildId: subject.build.id,
        ...CANDIDATES,
      };
      const isVisible = await scope(subject.build.repository);
      const rows = (await history.similarFailures(query)).filter(({ repository }) => isVisible(repository));
      const likeness = (row: FailureRow) =>
        text === undefined ? extractLikeness(row.failure) : toMessageAlone(row.failure.message);
      const index = createNearMatchIndex(rows.map((row, at) => ({ id: String(at), parts: likeness(row) })));
      return index.search(asked, limit, minScore).flatMap(({ id, score }) => {
        const row = rows[Number(id)];
        return row === undefined ? [] : [{ ...convertPastFailure(row), score }];
      });
    },
  });
}

function toLikenessParts(subject: TriageSubject): LikenessParts {
  const [failure] = subject.failures;
  return failure === undefined ? toMessageAlone(formatFailureHeadline(subject)) : extractLikeness(failure);
}

function toMessageAlone(message: string): LikenessParts {
  return { test: null, message, frames: [], lines: [] };
}

/**
 * Converts a failure of an earlier build to a finding: place, time, message, category, and the person who
 * decided it, if any. A category that no person confirmed is no evidence for a similar failure.
 */
function convertPastFailure(row: FailureRow): FindingFrom<'read_failure_history'> {
  const { failure, repository, pipeline, number, category, seenAt, decidedBy = null } = row;
  const name = failure.test?.name ?? failure.message.split('\n')[0] ?? 'failure';
  return {
    title: `${pipeline} #${number}, ${seenAt.slice(0, 10)}${category === null ? '' : `, ${category}`}${decidedBy === null ? '' : ` (decided by ${decidedBy})`}: ${name}`,
    text: failure.message,
    source: `history/${repository}/${pipeline}/${number}`,
    data: {
      failureId: failure.id,
      buildId: failure.buildId,
      repository,
      pipeline,
      number,
      analysisId: row.analysisId,
      fingerprint: failure.fingerprint.value,
      test: failure.test?.name ?? null,
      category,
      decidedBy,
      branch: row.branch,
      commit: row.commit,
      seenAt,
    },
  };
}

/** Returns the reason why no history is available, or null. */
function findHistoryUnavailable(history: HistoryStore): string | null {
  return history.kept === false ? 'No history is available: this run has no database.' : null;
}
