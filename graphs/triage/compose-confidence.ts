import {
  type Claim,
  type Classification,
  type ConfidenceFactor,
  isNotDevelopersFault,
} from '../../src/domain/analysis.ts';
import { getKindRow } from '../../src/domain/category.ts';
import type { Evidence } from '../../src/domain/evidence.ts';
import { listEvidenceFrom } from '../../src/domain/finding-data.ts';
import { findLastingFailure } from '../../src/domain/lasting-failure.ts';
import { findMax } from '../../src/lib/collections.ts';
import type { Assessment } from '../../src/ports/analyst.ts';

export interface ConfidenceFacts {
  readonly classification: Classification;
  /** The assessment of the analyst that verified the answer. */
  readonly assessment: Assessment;
  /**
   * The reading of the same failure by the fallback analyst, which costs nothing and follows no instructions
   * in a text. Null if the fallback analyst itself verified the answer.
   */
  readonly reading:
    | (Pick<Classification, 'category' | 'kind' | 'confidence' | 'abstained' | 'route'> & {
        readonly assessment: Assessment;
        /** The claims of the fallback analyst's own answer. */
        readonly claims: readonly Claim[];
      })
    | null;
  readonly evidence: readonly Evidence[];
  readonly fingerprint: string;
  readonly claims: { readonly kept: number; readonly misquoted: number; readonly all: number };
  /** True if a kept claim quotes a line that this build printed. */
  readonly quotesBuild: boolean;
  /** Evidence that kept claims cite. */
  readonly cited: readonly string[];
}

export interface ComposedConfidence {
  readonly confidence: number;
  readonly factors: readonly ConfidenceFactor[];
}

/** Maximum confidence from a model's claims; the same as the limit for rules. */
const CEILING = 0.97;
/** Factor for claims that quote no line of the build itself: without one, a claim is only a label. */
const UNQUOTED = 0.6;
/** A claim that was dropped is not shown; that it was made counts half. */
const DROPPED = 0.5;
/**
 * Change in logits if the rules are certain of another category. It is smaller if they are less certain and
 * zero if they are unsure.
 */
const DISAGREES = -3.5;
/**
 * Share of the rules' own logit that counts if they find the same category: half, because both have read the
 * same log.
 */
const AGREES = 0.5;
/**
 * A cause that the model finds less probable is its guess: that the rules find the same category makes it no
 * better.
 */
const GUESS = 0.65;
/** Maximum confidence in "not your fault" if the rules do not find it too. */
const EXCUSED_ALONE = 0.6;
const WAS_OTHERWISE = -0.4;
const MISQUOTED = -0.9;
/**
 * The number of failed builds in a row from which a service is more likely set up wrongly than unavailable.
 */
const LONG_RED = 5;
/** The change in logits for a machine that lacks the same resource every time. */
const LASTS = 0.4;

/**
 * Computes the confidence of an answer from facts, and not from the statement of the analyst that gave it:
 *
 *     rules alone   σ(logit(rules) + quotations + history)
 *     a model       min(σ(logit(judged) + shared), σ(logit(evidence) + confirmed + agreement + quotations + history))
 *
 * `rules` is the learned judgement with what people decided. `evidence` is measured by code on the model's
 * claims: the share that survived the check, whether one quotes the failing build, and how much of what they
 * cite was graded relevant. `judged` is the model's own statement, which only lowers what the evidence is
 * worth. Rules that find the same category are a second witness (`shared`): a model that agrees with them
 * must not leave the answer less sure than they are alone. This does not apply to infrastructure and
 * flakiness, which are never sure if the rules do not find them too. Rules that are unsure have no influence
 * on a model's answer, and rules that are sure of another category lower its confidence. Quotations only lower
 * the confidence; history raises it where the failure lasts as its cause would. The weights are estimates; if none of them applies, the learned figure
 * stays unchanged.
 */
export function composeConfidence(facts: ConfidenceFacts): ComposedConfidence {
  const { assessment, reading } = facts;
  const moving = [...penalizeMisquotations(facts), ...weighAgreement(facts), ...weighHistory(facts)];
  if (reading === null) {
    return {
      confidence: sumFactors(assessment.confidence, moving),
      factors: [...(assessment.factors ?? []), ...moving],
    };
  }
  const strength = computeEvidenceStrength(facts);
  const confirmed = (reading.assessment.factors ?? []).filter((other) => other.name === 'confirmed');
  const factors = [
    createFactor(
      'evidence',
      computeLogit(strength),
      `${facts.claims.kept} of ${facts.claims.all} claims are ` +
        `supported; ${facts.quotesBuild ? 'the log is quoted' : 'no line of the log is quoted'}`,
    ),
    ...confirmed,
    ...moving,
  ];
  const { category, kind } = facts.classification;
  const isShared = reading.category === category && (kind !== 'flaky_timing' || reading.kind === kind);
  const most = isNotDevelopersFault(facts.classification) && !isShared ? EXCUSED_ALONE : CEILING;
  const judged = sumFactors(
    assessment.confidence,
    moving.filter((candidate) => candidate.name === 'agreement' && candidate.value > 0),
  );
  return { confidence: Math.min(most, judged, sumFactors(strength, [...confirmed, ...moving])), factors };
}

function computeEvidenceStrength({ claims, quotesBuild, cited, assessment }: ConfidenceFacts): number {
  if (claims.all === 0) return 0.05;
  const relevant = cited.filter((id) => assessment.grades[id] === 'relevant').length;
  const graded = cited.length === 0 ? 0 : relevant / cited.length;
  const lost = 1 - claims.kept / claims.all;
  return (
    CEILING *
    (claims.kept === 0 ? 0.5 : 1 - DROPPED * lost) *
    (quotesBuild ? 1 : UNQUOTED) *
    (0.85 + 0.15 * graded)
  );
}

/** Lowers the confidence for wrong quotations: an analyst that invents one may have invented more. */
function penalizeMisquotations({ claims }: ConfidenceFacts): ConfidenceFactor[] {
  if (claims.misquoted === 0) return [];
  return [
    createFactor(
      'quotations',
      (MISQUOTED * claims.misquoted) / claims.all,
      `${claims.misquoted} of ${claims.all} claims cite or quote something that does not exist`,
    ),
  ];
}

function weighAgreement({ reading, classification, assessment }: ConfidenceFacts): ConfidenceFactor[] {
  if (reading === null) return [];
  if (reading.category === classification.category) {
    const counts =
      assessment.confidence >= GUESS && !reading.abstained && !isNotDevelopersFault(classification);
    return [
      createFactor(
        'agreement',
        counts ? Math.max(0, AGREES * computeLogit(reading.confidence)) : 0,
        `the rules also find ${reading.category}`,
      ),
    ];
  }
  if (reading.abstained) return [createFactor('agreement', 0, 'the rules are unsure')];
  const sure = Math.max(0, 2 * reading.confidence - 1);
  return [createFactor('agreement', DISAGREES * sure, `the rules find ${reading.category}`)];
}

/** The tools that say what category earlier failures had. */
const REMEMBERING = ['read_failure_history', 'find_similar_failures', 'search_error_library'] as const;

/**
 * Returns what earlier builds say for and against the answer: the same failure had another category before,
 * or how often in a row the pipeline failed fits this cause, or does not.
 */
function weighHistory({ evidence, classification, fingerprint }: ConfidenceFacts): ConfidenceFactor[] {
  const found: ConfidenceFactor[] = [];
  const past = listEvidenceFrom(evidence, REMEMBERING).flatMap(({ data }) =>
    data.fingerprint === fingerprint ? (data.category ?? []) : [],
  );
  const other = past.find((category) => category !== classification.category);
  if (other !== undefined && !past.includes(classification.category))
    found.push(createFactor('history', WAS_OTHERWISE, `the same failure was ${other} before`));
  return found.concat(weighLasting(classification, evidence) ?? []);
}

/**
 * Weighs how often in a row the pipeline failed. What a machine lacks, it lacks every time; a service that is
 * away for many builds is more likely set up wrongly; and everything else is more likely where a passing
 * disturbance is less so. Returns null if this tells nothing. The judgement itself weighs flaky tests.
 */
function weighLasting(
  { category, kind, probabilities }: Classification,
  evidence: readonly Evidence[],
): ConfidenceFactor | null {
  const same = findLastingFailure(evidence);
  if (category === 'INFRA_ERROR') {
    if (same !== null && getKindRow(kind).group === 'machine full')
      return createFactor('history', LASTS, `it has failed this way ${same.times} times in a row`);
    const red = listEvidenceFrom(evidence, ['count_consecutive_failures']).map(({ data }) => data.count ?? 0);
    const longest = findMax(red, 0);
    return longest < LONG_RED
      ? null
      : createFactor('history', WAS_OTHERWISE, `it has failed ${longest} times in a row`);
  }
  if (same === null || kind === 'flaky_timing') return null;
  const others = 1 - probabilities[category];
  const halved = Math.max(others - probabilities.INFRA_ERROR / 2, others / 2);
  const because = `it has failed this way ${same.times} times in a row, so a disturbance is less likely`;
  return others <= 0 ? null : createFactor('history', Math.log(others / halved), because);
}

function createFactor(name: string, value: number, because: string): ConfidenceFactor {
  return { name, value: Math.round(value * 1000) / 1000, because };
}

function sumFactors(from: number, factors: readonly ConfidenceFactor[]): number {
  const by = factors.reduce((sum, other) => sum + other.value, 0);
  if (by === 0) return from;
  return Math.round((1 / (1 + Math.exp(-(computeLogit(from) + by)))) * 1000) / 1000;
}

/** Converts a probability to logits, bounded away from 0 and 1. */
export function computeLogit(value: number, least = 0.01): number {
  const within = Math.min(1 - least, Math.max(least, value));
  return Math.log(within / (1 - within));
}
