import { type Analysis, NO_USAGE } from '../domain/analysis.ts';
import { CATEGORIES, type Category } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import { newId } from '../domain/ids.ts';
import type { LibraryEntry } from '../domain/library.ts';
import type { TriageSubject } from '../domain/subject.ts';
import { reductionOf } from './investigate.ts';

/** A person decided this very failure before; only another person may overrule it. */
const CONFIRMED = 0.97;

/**
 * The answer to a failure whose cause a person confirmed: no graph, no model. It says who confirmed it, when, and how
 * often it was seen. Callers must not ask for generic fingerprints.
 */
export function recallAnalysis(subject: TriageSubject, entry: LibraryEntry, timesSeen: number, startedAt: number, now: number): Analysis {
  const evidence = evidenceFor(subject, entry);
  const said = `confirmed by ${entry.confirmedBy} on ${entry.confirmedAt.slice(0, 10)}, seen ${timesSeen} times`;
  return {
    id: newId('ana', now),
    buildId: subject.build.id,
    triageId: subject.triageId,
    failureIds: subject.failures.map((failure) => failure.id),
    fingerprint: subject.fingerprint.value,
    category: entry.category,
    kind: entry.kind,
    classification: {
      category: entry.category,
      kind: entry.kind,
      confidence: CONFIRMED,
      probabilities: certain(entry.category),
      abstained: false,
      because: `known failure ${entry.id}, ${said}`,
    },
    answer: {
      title: entry.title,
      rootCause: entry.rootCause,
      fixRecommendation: entry.fixRecommendation,
      confidence: CONFIRMED,
      claims: [{ text: `The same failure was ${said}.`, evidence: evidence.map((item) => item.id), quotes: [] }],
      suspects: [],
      hypotheses: [],
    },
    verdict: {
      grades: Object.fromEntries(evidence.map((item) => [item.id, 'relevant' as const])),
      unsupportedClaims: [],
      gaps: [],
      confidence: CONFIRMED,
      action: 'auto_notify',
      reasons: [`known: ${said}`],
    },
    evidence,
    steps: [
      {
        node: 'recall',
        round: 0,
        startedAt: new Date(startedAt).toISOString(),
        milliseconds: now - startedAt,
        summary: `known failure, ${said}`,
      },
    ],
    usage: NO_USAGE,
    analyst: 'recall',
    model: null,
    promptHashes: {},
    notes: subject.notes,
    terminationReason: 'known_failure',
    recalled: { entryId: entry.id, confirmedBy: entry.confirmedBy, confirmedAt: entry.confirmedAt, timesSeen },
    ...(subject.green === undefined ? {} : { green: subject.green }),
    reduction: reductionOf(subject),
    milliseconds: now - startedAt,
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

function certain(category: Category): Record<Category, number> {
  const rest = (1 - CONFIRMED) / (CATEGORIES.length - 1);
  const entries = CATEGORIES.map((one) => [one, one === category ? CONFIRMED : rest]);
  return Object.fromEntries(entries) as Record<Category, number>;
}
