import type { Answer, Claim, Classification, Quote, Suspect } from '../../../domain/analysis.ts';
import { CATEGORIES, CategoryProbabilities } from '../../../domain/category.ts';
import { type Evidence, holdsQuote } from '../../../domain/evidence.ts';
import type { Assessment, Insight, Plan } from '../../../ports/analyst.ts';
import type { ToolDescription } from '../../../ports/toolbox.ts';
import { literalQuote } from './literal-quote.ts';
import { type AnswerReply, type ClassifyReply, clamp, type ReasonReply, type VerifyReply } from './replies.ts';
import { withoutAddresses } from './sanitize-reply.ts';
import { showFacts } from './show-facts.ts';

/** An abstaining verdict stays below this (TAXONOMY, tie 7). */
const ABSTAINED_MOST = 0.49;
const MAX_TITLE = 200;
const MAX_TEXT = 4_000;
const MAX_CLAIMS = 12;
const MAX_SUSPECTS = 8;
const MAX_HYPOTHESES = 6;
const MAX_GAPS = 8;
/** From here on only what blocks the answer is worth another round. */
const SURE_ENOUGH = 0.85;

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

function isSame(one: Pick<Classification, 'category' | 'kind'>, other: Pick<Classification, 'category' | 'kind'>): boolean {
  return one.category === other.category && one.kind === other.kind;
}

/**
 * A plan. Another round is only for a gap that blocks the answer and that an offered tool could close, or while the cause is not sure; "stop" says that the cause is not in what can be
 * read, which ends the search as well.
 */
export function readPlan(reply: ReasonReply, insight: Insight & { offered?: readonly ToolDescription[] }, retrieval: number): Plan {
  const offered = new Set(insight.offered?.map(({ name }) => name));
  const gaps = reply.gaps.slice(0, MAX_GAPS).map(({ missing, tool, blocks }) => ({
    missing: short(missing, 300),
    tool: tool !== null && offered.has(tool) ? tool : null,
    blocks,
  }));
  const confidence = clamp(reply.confidence);
  const isWorthwhile = confidence < SURE_ENOUGH || gaps.some(({ blocks, tool }) => blocks && tool !== null);
  const { revised } = reply;
  return {
    thought: short(reply.thought, 1_000),
    confidence,
    enough: insight.evidence.length > 0 && (reply.next !== 'look' || !isWorthwhile),
    retrieval,
    gaps,
    ...(revised === null || isSame(revised, insight.classification) ? {} : { revised }),
  };
}

/** An answer that points to nothing that was not seen: unknown evidence ids, files, commits and authors are left out. */
export function readAnswer(reply: AnswerReply, insight: Insight): Answer {
  const ids = new Set(insight.evidence.map((item) => item.id));
  const claims = reply.claims.slice(0, MAX_CLAIMS).map((claim): Claim => {
    const quotes = claim.quotes.map((quote) => literalQuote({ ...quote, line: lineOf(quote.line) ?? 1 }, insight.evidence));
    const cited = [...new Set(claim.evidence)].filter((id) => ids.has(id));
    return { text: short(claim.text, 600), evidence: withQuoted(cited, quotes, insight.evidence), quotes };
  });
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

/** The cited evidence, and what holds a quotation that none of it holds: a line may be in several pieces of evidence. */
function withQuoted(cited: readonly string[], quotes: readonly Quote[], evidence: readonly Evidence[]): string[] {
  const holders = quotes.flatMap((quote) => {
    const holding = evidence.filter((item) => holdsQuote(item, quote)).map(({ id }) => id);
    return holding.some((id) => cited.includes(id)) ? [] : holding.slice(0, 1);
  });
  return [...new Set([...cited, ...holders])];
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
