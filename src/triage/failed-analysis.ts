import { type Analysis, NO_USAGE } from '../domain/analysis.ts';
import { CATEGORIES, type Category } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Failure } from '../domain/failure.ts';
import { newId } from '../domain/ids.ts';
import type { FailureGroup } from '../domain/reading.ts';

/** Algorithm of the fingerprint of a build of which nothing could be read; no two builds share one. */
export const UNREAD = 'unread';
const MAX_EVIDENCE = 3;
const TITLE = 'Faultline could not analyze this failure';
const UNREAD_TITLE = 'The log could not be read';

/**
 * What is stored where the analysis itself failed, so that the failure is not lost: it claims nothing, shows where the
 * failure is, and waits for a person. `error` is a masked sentence.
 */
export function failedAnalysis(input: {
  readonly buildId: string;
  readonly triageId: string;
  readonly group: FailureGroup;
  readonly error: string;
  readonly now: number;
}): Analysis {
  const { buildId, triageId, group, error, now } = input;
  const evidence = evidenceOf(group);
  const at = new Date(now).toISOString();
  return {
    id: newId('ana', now),
    buildId,
    triageId,
    failureIds: group.failures.map((failure) => failure.id),
    fingerprint: group.fingerprint.value,
    category: 'CODE_ERROR',
    kind: 'unknown',
    ...{
      classification: guess(),
      answer: answerOf(error, group.fingerprint.algorithm === UNREAD),
      verdict: verdictOf(evidence, whyOf(group, error)),
    },
    evidence,
    steps: [{ node: 'give_up', round: 0, startedAt: at, milliseconds: 0, summary: `the analysis failed: ${error}` }],
    usage: NO_USAGE,
    analyst: 'none',
    model: null,
    promptHashes: {},
    notes: [],
    terminationReason: 'failed',
    recalled: null,
    reduction: { logLines: 0, logBytes: 0, keptLines: 0, tokens: 0 },
    milliseconds: 0,
    createdAt: at,
  };
}

function guess(): Analysis['classification'] {
  const even = Object.fromEntries(CATEGORIES.map((one) => [one, 1 / CATEGORIES.length])) as Record<Category, number>;
  return {
    category: 'CODE_ERROR',
    kind: 'unknown',
    confidence: 0,
    probabilities: even,
    abstained: true,
    because: 'the analysis failed, so there is no answer',
  };
}

function answerOf(error: string, isUnread: boolean): Analysis['answer'] {
  return {
    title: isUnread ? UNREAD_TITLE : TITLE,
    // The title says it already.
    rootCause: isUnread ? error.replace(/^The log could not be read: /, '') : error,
    fixRecommendation: isUnread
      ? 'Fix what prevented the log from being read, then rerun the build or upload its log.'
      : 'Read the build log and correct this answer with what you find.',
    confidence: 0,
    claims: [],
    suspects: [],
    hypotheses: [],
  };
}

/** Why a person is asked. */
function whyOf({ fingerprint }: FailureGroup, error: string): string {
  return fingerprint.algorithm === UNREAD ? error : `the analysis failed: ${error}`;
}

function verdictOf(evidence: readonly Evidence[], why: string): Analysis['verdict'] {
  return {
    grades: Object.fromEntries(evidence.map((item) => [item.id, 'ambiguous' as const])),
    unsupportedClaims: [],
    gaps: ['The cause was not investigated.'],
    confidence: 0,
    action: 'human_review',
    reasons: [why],
  };
}

/** Where the group's first failures stand in the log; their messages where they stand in none. */
function evidenceOf({ failures }: FailureGroup): Evidence[] {
  const places = failures.map(placeOf);
  return failures
    .filter((_, index) => places.indexOf(places[index] ?? '') === index)
    .slice(0, MAX_EVIDENCE)
    .map((failure, index) => ({ id: `E${index + 1}`, tool: 'log', ...findingOf(failure) }));
}

function findingOf({ excerpt, test, message }: Failure): Omit<Evidence, 'id' | 'tool'> {
  if (excerpt === null) return { title: test?.name ?? 'failure', text: message, source: test?.at?.source ?? test?.file ?? 'build' };
  const { source, lineStart, lineEnd, text, reason } = excerpt;
  return { title: reason, text, source, lineStart, lineEnd };
}

function placeOf({ id, excerpt }: Failure): string {
  return excerpt === null ? id : `${excerpt.source}:${excerpt.lineStart}`;
}
