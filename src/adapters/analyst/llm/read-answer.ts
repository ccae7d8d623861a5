import type { Answer, Claim, Classification, Suspect } from '../../../domain/analysis.ts';
import { CATEGORIES, CategoryProbabilities } from '../../../domain/category.ts';
import type { Assessment, Insight } from '../../../ports/analyst.ts';
import { literalQuote } from './literal-quote.ts';
import { type AnswerReply, type ClassifyReply, clamp, type VerifyReply } from './replies.ts';
import { showFacts } from './show-facts.ts';
import { withoutAddresses } from './unbidden.ts';

/** An abstaining verdict stays below this (TAXONOMY, tie 7). */
const ABSTAINED_MOST = 0.49;
const MAX_TITLE = 200;
const MAX_TEXT = 4_000;
const MAX_CLAIMS = 12;
const MAX_SUSPECTS = 8;
const MAX_HYPOTHESES = 6;

/** A classification whose numbers agree with each other: the confidence is never above the category's own probability. */
export function readClassification(reply: ClassifyReply): Classification {
  const raw = CATEGORIES.map((category) => [category, clamp(reply.probabilities[category])] as const);
  const sum = raw.reduce((total, [, value]) => total + value, 0);
  const share = (value: number) => (sum === 0 ? 1 / CATEGORIES.length : value / sum);
  const probabilities = CategoryProbabilities.parse(Object.fromEntries(raw.map(([category, value]) => [category, share(value)])));
  const stated = Math.min(clamp(reply.confidence), probabilities[reply.category]);
  return {
    category: reply.category,
    kind: reply.kind,
    confidence: reply.abstained ? Math.min(stated, ABSTAINED_MOST) : stated,
    probabilities,
    abstained: reply.abstained,
    because: short(reply.because, 500),
  };
}

/** An answer that points to nothing that was not seen: unknown evidence ids, files, commits and authors are left out. */
export function readAnswer(reply: AnswerReply, insight: Insight): Answer {
  const ids = new Set(insight.evidence.map((item) => item.id));
  const claims = reply.claims.slice(0, MAX_CLAIMS).map(
    (claim): Claim => ({
      text: short(claim.text, 600),
      evidence: [...new Set(claim.evidence)].filter((id) => ids.has(id)),
      quotes: claim.quotes.map((quote) => literalQuote({ ...quote, line: lineOf(quote.line) ?? 1 }, insight.evidence)),
    }),
  );
  return {
    title: short(reply.title, MAX_TITLE) || 'The model gave no title',
    rootCause: withoutAddresses(reply.rootCause.slice(0, MAX_TEXT)),
    fixRecommendation: withoutAddresses(reply.fixRecommendation.slice(0, MAX_TEXT)),
    confidence: clamp(reply.confidence),
    claims,
    suspects: knownSuspects(reply.suspects, insight),
    hypotheses: reply.hypotheses.slice(0, MAX_HYPOTHESES).map((one) => ({
      ...one,
      text: withoutAddresses(one.text),
      settledBy: withoutAddresses(one.settledBy),
    })),
  };
}

/** An assessment of evidence and claims that exist. */
export function readAssessment(reply: VerifyReply, insight: Insight & { answer: Answer }): Assessment {
  const ids = new Set(insight.evidence.map((item) => item.id));
  const grades = reply.grades.filter(({ evidence }) => ids.has(evidence)).map(({ evidence, grade }) => [evidence, grade] as const);
  return {
    grades: Object.fromEntries(grades),
    unsupportedClaims: insight.answer.claims
      .filter((_claim, index) => reply.unsupportedClaims.includes(`C${index + 1}`))
      .map(({ text }) => text),
    gaps: reply.gaps.slice(0, 8).map((gap) => short(gap, 300)),
    confidence: clamp(reply.confidence),
    against: [...new Set(reply.against)].filter((id) => ids.has(id)),
  };
}

function knownSuspects(suspects: AnswerReply['suspects'], insight: Insight): Suspect[] {
  const seen = [
    showFacts(insight.subject),
    ...framesOf(insight),
    ...insight.evidence.flatMap(({ title, text, source }) => [title, text, source]),
  ].join('\n');
  const known = (value: string | null) => (value !== null && value !== '' && seen.includes(value) ? value : null);
  return suspects.slice(0, MAX_SUSPECTS).flatMap((suspect) => {
    if (known(suspect.path) === null) return [];
    const { path, reason } = suspect;
    return [
      {
        path,
        line: lineOf(suspect.line),
        commit: known(suspect.commit),
        author: known(suspect.author),
        score: clamp(suspect.score),
        reason: short(reason, 400),
      },
    ];
  });
}

function framesOf({ subject }: Insight): string[] {
  return [...subject.exceptions, ...subject.failures].flatMap((one) => one.frames.map((frame) => frame.file));
}

/** A 1-based line number, or null. */
function lineOf(value: number | null): number | null {
  if (value === null || !Number.isFinite(value)) return null;
  const line = Math.round(value);
  return line >= 1 && line <= Number.MAX_SAFE_INTEGER ? line : null;
}

function short(text: string, limit: number): string {
  return withoutAddresses(text.replace(/\s+/g, ' ').trim().slice(0, limit));
}
