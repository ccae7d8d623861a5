import { z } from 'zod';
import { type Classification, type ConfidenceFactor, isNotDevelopersFault } from '../../src/domain/analysis.ts';
import { Category } from '../../src/domain/category.ts';
import type { Evidence } from '../../src/domain/evidence.ts';
import { maxOf } from '../../src/lib/collections.ts';
import type { Assessment } from '../../src/ports/analyst.ts';

export interface ConfidenceFacts {
  readonly classification: Classification;
  /** Of whoever verified. */
  readonly assessment: Assessment;
  /** What the fallback analyst, who costs nothing and obeys no text, makes of the same failure; null where he was the one who verified. */
  readonly reading: (Pick<Classification, 'category' | 'kind' | 'confidence' | 'abstained'> & { readonly assessment: Assessment }) | null;
  readonly evidence: readonly Evidence[];
  readonly fingerprint: string;
  readonly claims: { readonly kept: number; readonly misquoted: number; readonly all: number };
  /** Whether a kept claim quotes a line that this build printed. */
  readonly quotesBuild: boolean;
  /** Evidence that kept claims cite. */
  readonly cited: readonly string[];
}

export interface ComposedConfidence {
  readonly confidence: number;
  readonly factors: readonly ConfidenceFactor[];
}

/** What a model's claims are worth at most; as the rules' own ceiling. */
const CEILING = 0.97;
/** Without a line of the build itself, a claim is a label. */
const UNQUOTED = 0.6;
/** A claim that was dropped is not told; that it was made counts half. */
const DROPPED = 0.5;
/** Where the rules are certain of another category; less where they are less sure, nothing where they are in doubt. */
const DISAGREES = -3.5;
/** Where the rules find the same, by how sure they are of it: half, since both have read the same log. */
const AGREES = 0.5;
/** A cause that the model finds less probable is its guess: that the rules find the same category makes it no better. */
const GUESS = 0.65;
/** What "not your fault" is worth at most where the rules do not find it too. */
const EXCUSED_ALONE = 0.6;
const WAS_OTHERWISE = -0.4;
const MISQUOTED = -0.9;
/** A machine that fails for so many builds in a row is set up wrongly rather than ill. */
const LONG_RED = 5;

/**
 * How sure the answer is, from facts rather than from the word of whoever gave it:
 *
 *     rules alone   σ(logit(rules) + quotations + history)
 *     a model       min(σ(logit(judged) + shared), σ(logit(evidence) + confirmed + agreement + quotations + history))
 *
 * `rules` is the learned judgement with what people decided. `evidence` is measured by code on the model's claims: the share that survived
 * the check, whether one quotes the failing build, how much of what they cite was graded relevant. `judged` is the model's own word, which
 * only lowers what the evidence is worth. Rules that find the same category are a second witness (`shared`): a model that agrees with them must
 * not leave the answer less sure than they are alone. That does not hold for infrastructure and flakiness, which are never sure where the rules
 * do not find them too. Rules that are in doubt say nothing of a model's answer, and those that are sure of another category speak against it.
 * Quotations and history only speak against. The weights are judgement; without any of them the learned figure stays as it is.
 */
export function composeConfidence(facts: ConfidenceFacts): ComposedConfidence {
  const { assessment, reading } = facts;
  const moving = [...misquotations(facts), ...agreement(facts), ...history(facts)];
  if (reading === null) {
    return { confidence: moved(assessment.confidence, moving), factors: [...(assessment.factors ?? []), ...moving] };
  }
  const strength = evidenceStrength(facts);
  const confirmed = (reading.assessment.factors ?? []).filter((one) => one.name === 'confirmed');
  const factors = [
    factor(
      'evidence',
      logit(strength),
      `${facts.claims.kept} of ${facts.claims.all} claims are supported; ${facts.quotesBuild ? 'the log is quoted' : 'no line of the log is quoted'}`,
    ),
    ...confirmed,
    ...moving,
  ];
  const { category, kind } = facts.classification;
  const isShared = reading.category === category && (kind !== 'flaky_timing' || reading.kind === kind);
  const most = isNotDevelopersFault(facts.classification) && !isShared ? EXCUSED_ALONE : CEILING;
  const judged = moved(
    assessment.confidence,
    moving.filter((one) => one.name === 'agreement' && one.value > 0),
  );
  return { confidence: Math.min(most, judged, moved(strength, [...confirmed, ...moving])), factors };
}

function evidenceStrength({ claims, quotesBuild, cited, assessment }: ConfidenceFacts): number {
  if (claims.all === 0) return 0.05;
  const relevant = cited.filter((id) => assessment.grades[id] === 'relevant').length;
  const graded = cited.length === 0 ? 0 : relevant / cited.length;
  const lost = 1 - claims.kept / claims.all;
  return CEILING * (claims.kept === 0 ? 0.5 : 1 - DROPPED * lost) * (quotesBuild ? 1 : UNQUOTED) * (0.85 + 0.15 * graded);
}

/** Quotations that do not stand where they should: whoever invents one may have invented more. */
function misquotations({ claims }: ConfidenceFacts): ConfidenceFactor[] {
  if (claims.misquoted === 0) return [];
  return [
    factor(
      'quotations',
      (MISQUOTED * claims.misquoted) / claims.all,
      `${claims.misquoted} of ${claims.all} claims cite or quote something that does not exist`,
    ),
  ];
}

function agreement({ reading, classification, assessment }: ConfidenceFacts): ConfidenceFactor[] {
  if (reading === null) return [];
  if (reading.category === classification.category) {
    const counts = assessment.confidence >= GUESS && !reading.abstained && !isNotDevelopersFault(classification);
    return [factor('agreement', counts ? Math.max(0, AGREES * logit(reading.confidence)) : 0, `the rules also find ${reading.category}`)];
  }
  if (reading.abstained) return [factor('agreement', 0, 'the rules are unsure')];
  const sure = Math.max(0, 2 * reading.confidence - 1);
  return [factor('agreement', DISAGREES * sure, `the rules find ${reading.category}`)];
}

const Past = z.object({ fingerprint: z.string(), category: Category });
const Red = z.object({ count: z.int() });

/** The same failure was called something else before; or what should pass has lasted for many builds. */
function history({ evidence, classification, fingerprint }: ConfidenceFacts): ConfidenceFactor[] {
  const found: ConfidenceFactor[] = [];
  const past = evidence.flatMap((item) => {
    const data = Past.safeParse(item.data);
    return data.success && data.data.fingerprint === fingerprint ? [data.data.category] : [];
  });
  const other = past.find((category) => category !== classification.category);
  if (other !== undefined && !past.includes(classification.category))
    found.push(factor('history', WAS_OTHERWISE, `the same failure was ${other} before`));
  const red = evidence
    .filter((item) => item.tool === 'count_consecutive_failures')
    .map((item) => Red.safeParse(item.data).data?.count ?? 0);
  const longest = maxOf(red, 0);
  if (classification.category === 'INFRA_ERROR' && longest >= LONG_RED) {
    found.push(factor('history', WAS_OTHERWISE, `it has failed ${longest} times in a row`));
  }
  return found;
}

function factor(name: string, value: number, because: string): ConfidenceFactor {
  return { name, value: Math.round(value * 1000) / 1000, because };
}

function moved(from: number, factors: readonly ConfidenceFactor[]): number {
  const by = factors.reduce((sum, one) => sum + one.value, 0);
  if (by === 0) return from;
  return Math.round((1 / (1 + Math.exp(-(logit(from) + by)))) * 1000) / 1000;
}

function logit(value: number): number {
  const within = Math.min(0.99, Math.max(0.01, value));
  return Math.log(within / (1 - within));
}
