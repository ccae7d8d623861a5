import { type Analysis, NO_USAGE } from '../domain/analysis.ts';
import { CATEGORIES, type Category } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import { newId } from '../domain/ids.ts';
import type { LibraryEntry } from '../domain/library.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { reductionOf } from './investigate.ts';

/** A person decided this very failure before; only another person may overrule it. */
const CONFIRMED = 0.97;

/**
 * The answer to a failure whose cause a person confirmed: no graph, no model. It says who confirmed it, when, and how
 * often it was seen. Callers must not ask for generic fingerprints.
 */
export function recallAnalysis(subject: TriageSubject, entry: LibraryEntry, timesSeen: number, startedAt: number, now: number): Analysis {
  const said = `confirmed by ${entry.confirmedBy} on ${entry.confirmedAt.slice(0, 10)}, seen ${timesSeen} times`;
  return {
    ...knownAnswer(subject, {
      node: 'recall',
      said,
      confidence: CONFIRMED,
      known: entry,
      claim: `The same failure was ${said}.`,
      because: `known failure ${entry.id}, ${said}`,
      evidence: evidenceFor(subject, entry),
      startedAt,
      now,
    }),
    recalled: { entryId: entry.id, confirmedBy: entry.confirmedBy, confirmedAt: entry.confirmedAt, timesSeen },
  };
}

/** What a person said of a failure before it happened. */
export interface KnownFacts {
  readonly node: 'recall' | 'rule';
  /** Who said it and when, in a few words. */
  readonly said: string;
  readonly confidence: number;
  readonly known: Pick<LibraryEntry, 'category' | 'kind' | 'title' | 'rootCause' | 'fixRecommendation'>;
  readonly claim: string;
  readonly because: string;
  readonly evidence: Evidence[];
  readonly startedAt: number;
  readonly now: number;
}

/** An answer that is a person's, so that nothing of it is a machine's to be counted. */
export function knownAnswer(subject: TriageSubject, facts: KnownFacts): Analysis {
  const { node, said, confidence, known, claim, because, evidence, startedAt, now } = facts;
  const { category, kind, title, rootCause, fixRecommendation } = known;
  const milliseconds = now - startedAt;
  const ids = evidence.map(({ id }) => id);
  return {
    id: newId('ana', now),
    buildId: subject.build.id,
    triageId: subject.triageId,
    failureIds: subject.failures.map((failure) => failure.id),
    fingerprint: subject.fingerprint.value,
    category,
    kind,
    classification: { category, kind, confidence, probabilities: certain(category, confidence), abstained: false, because },
    answer: {
      ...{ title, rootCause, fixRecommendation, confidence },
      claims: [{ text: claim, evidence: ids, quotes: [] }],
      suspects: [],
      hypotheses: [],
    },
    verdict: {
      grades: Object.fromEntries(ids.map((id) => [id, 'relevant' as const])),
      unsupportedClaims: [],
      gaps: [],
      confidence,
      action: 'auto_notify',
      reasons: [`known: ${said}`],
    },
    evidence,
    steps: [{ node, round: 0, startedAt: new Date(startedAt).toISOString(), milliseconds, summary: `known failure, ${said}` }],
    usage: NO_USAGE,
    analyst: 'recall',
    model: null,
    promptHashes: {},
    notes: subject.notes,
    terminationReason: 'known_failure',
    recalled: null,
    ...(subject.green === undefined ? {} : { green: subject.green }),
    reduction: reductionOf(subject),
    milliseconds,
    createdAt: new Date(now).toISOString(),
  };
}

function evidenceFor(subject: TriageSubject, entry: LibraryEntry): Evidence[] {
  const known: Evidence = {
    id: 'E1',
    tool: 'recall',
    title: entry.title,
    text: entry.rootCause,
    source: `library:${entry.id}`,
    score: 1,
    data: { entryId: entry.id, confirmedBy: entry.confirmedBy, analysisId: entry.analysisId },
  };
  const excerpt = subject.failures.find((failure) => failure.excerpt !== null)?.excerpt ?? subject.excerpts[0];
  if (excerpt === undefined) return [known];
  const { source, lineStart, lineEnd, text } = excerpt;
  return [known, { id: 'E2', tool: 'log', title: excerpt.reason, text, source, lineStart, lineEnd }];
}

function certain(category: Category, confidence: number): Record<Category, number> {
  const rest = (1 - confidence) / (CATEGORIES.length - 1);
  const entries = CATEGORIES.map((one) => [one, one === category ? confidence : rest]);
  return Object.fromEntries(entries) as Record<Category, number>;
}
