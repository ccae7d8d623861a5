import {
  type Action,
  type Answer,
  type Claim,
  type Classification,
  type ConfidenceFactor,
  type Grade,
  isFounded,
  isNotDevelopersFault,
} from '../../src/domain/analysis.ts';
import {
  type CalibratedBy,
  type CalibrationInUse,
  type CategoryMap,
  calibrateConfidence,
  formatAnalystName,
  isCalibratedAs,
} from '../../src/domain/calibration.ts';
import { getKindRow } from '../../src/domain/category.ts';
import { type Evidence, holdsQuote } from '../../src/domain/evidence.ts';
import { listEvidenceFrom } from '../../src/domain/finding-data.ts';
import { findLastingFailure } from '../../src/domain/lasting-failure.ts';
import { boundReason, isPublishedRoute, type Route } from '../../src/domain/publish-bound.ts';
import { mayPassAnyway } from '../../src/domain/rerun.ts';
import { findMax, findMin } from '../../src/lib/collections.ts';
import { formatConfidence } from '../../src/lib/text.ts';
import type { Assessment } from '../../src/ports/analyst.ts';
import type { TriageLimits, TriageStateValue } from './state.ts';

export interface CheckedClaims {
  readonly kept: readonly Claim[];
  /** Claims that were dropped, each with the reason; `byCode`: what they cite or quote is not there. */
  readonly dropped: readonly { readonly claim: Claim; readonly reason: string; readonly byCode: boolean }[];
}

/**
 * Checks the part of an answer that no model may decide: a claim must cite evidence that exists, and every
 * quotation must occur literally on its line of that evidence. Claims that fail are dropped.
 */
export function checkClaims(
  answer: Pick<Answer, 'claims'>,
  evidence: readonly Evidence[],
  unsupported: readonly string[],
): CheckedClaims {
  const byId = new Map(evidence.map((item) => [item.id, item]));
  const kept: Claim[] = [];
  const dropped: { claim: Claim; reason: string; byCode: boolean }[] = [];
  for (const claim of answer.claims) {
    const reason = findObstacle(claim, byId);
    if (reason !== null) dropped.push({ claim, reason, byCode: true });
    else if (unsupported.includes(claim.text))
      dropped.push({ claim, reason: 'its evidence does not support it', byCode: false });
    else kept.push(claim);
  }
  return { kept, dropped };
}

/**
 * Checks whether one of the claims quotes a log or report of the build, and not only documents, code, or
 * earlier failures.
 */
export function quoteBuild(claims: readonly Claim[], sources: readonly { readonly name: string }[]): boolean {
  const printed = new Set(sources.map((source) => source.name));
  return claims.some((claim) => claim.quotes.some((quote) => printed.has(quote.source)));
}

function findObstacle(claim: Claim, byId: ReadonlyMap<string, Evidence>): string | null {
  if (claim.evidence.length === 0) return 'it cites no evidence';
  const missing = claim.evidence.filter((id) => !byId.has(id));
  if (missing.length > 0) return `it cites ${missing.join(', ')}, which does not exist`;
  const cited = claim.evidence.flatMap((id) => byId.get(id) ?? []);
  const wrong = claim.quotes.find((quote) => !cited.some((item) => holdsQuote(item, quote)));
  if (wrong !== undefined) return `the quoted text is not at ${wrong.source}:${wrong.line}`;
  return null;
}

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

function computeLogit(value: number, least = 0.01): number {
  const within = Math.min(1 - least, Math.max(least, value));
  return Math.log(within / (1 - within));
}

export interface ActionFacts {
  readonly classification: Classification;
  readonly confidence: number;
  readonly grades: Readonly<Record<string, Grade>>;
  readonly evidence: readonly Evidence[];
  /** Evidence ids that contradict the answer. */
  readonly against: readonly string[];
  /** False if no offered tool can close a gap of the answer; another round would find nothing new. */
  readonly isClosable: boolean;
  readonly claimsKept: number;
  /** True if a kept claim quotes a line that this build printed. */
  readonly quotesBuild: boolean;
  readonly corrections: number;
  readonly rounds: number;
  readonly webAsked: boolean;
  /** The part of the budget that is used up ("60,000 tokens"); null if the run may go on. */
  readonly spent: string | null;
  /** The calibration of the analyst that gave the answer. Null if none is in force. */
  readonly calibration: CalibrationInUse | null;
  /** The kind of answer whose outcomes decide about publishing; null: a person decided. */
  readonly route: Route | null;
  /** The probability that a re-run would pass, if it was estimated. */
  readonly transient?: number | undefined;
}

export interface ActionDecision {
  readonly action: Action;
  readonly confidence: number;
  /** Reasons, as text for people, why the answer may be published or why a person is asked. */
  readonly reasons: readonly string[];
  /** True if work on the answer would have continued but the budget is used up. */
  readonly stopped: boolean;
  /** The effect of the calibration on the confidence. Null if none is in force. */
  readonly calibrated: CalibratedBy | null;
}

/** Below this a verdict says "not enough evidence" (TAXONOMY, tie 7). */
const THIN = 0.49;

/**
 * Turns confidence into an action by the configured thresholds. Asymmetric: INFRA_ERROR and "flaky" may only
 * be published with positive evidence from the failing step and nothing against it, because calling a real
 * failure flaky is the worst mistake we can make. A calibration says what the confidence has turned out to
 * mean, and may name its category's own threshold.
 */
export function decideAction(facts: ActionFacts, given: TriageLimits): ActionDecision {
  const map = facts.calibration?.categories[facts.classification.category];
  const limits = withThreshold(given, map);
  const doubts = [...findDoubts(facts, limits, map), ...doubtOfBound(facts, limits)];
  const most = findMin(
    doubts.map((doubt) => doubt.most ?? 1),
    1,
  );
  const verified = Math.min(facts.confidence, most);
  // What a doubt forbids, no calibration allows: its cap binds before and after.
  const confidence = map === undefined ? verified : Math.min(calibrateConfidence(map.points, verified), most);
  // By the doubt itself and not by its cap alone: no setting of the thresholds may publish what a person must
  // see.
  const publishable = doubts.every((doubt) => doubt.most === null && doubt.forbids !== true);
  const wished = chooseAction(
    { confidence, founded: Math.max(confidence, verified), publishable },
    facts,
    limits,
  );
  const stopped = facts.spent !== null && (wished === 'self_correct' || wished === 'web_search');
  const action = stopped ? 'human_review' : wished;
  const reasons = doubts.map((doubt) => doubt.reason);
  if (facts.spent !== null && action !== 'auto_notify')
    reasons.push(`the run's budget (${facts.spent}) is used up`);
  if (action === 'auto_notify') reasons.push('every claim is backed by evidence');
  else if (reasons.length === 0) reasons.push(formatBelowThreshold(confidence, limits.thresholds.autoNotify));
  const by = facts.calibration === null ? null : { version: facts.calibration.version, raw: verified };
  return { action, confidence, reasons, stopped, calibrated: by };
}

/**
 * A reason to trust the answer less than its judge does. `most` is the maximum confidence that remains; null
 * if the doubt is only noted.
 */
interface Doubt {
  readonly reason: string;
  readonly most: number | null;
  /** Whatever the confidence, a person must see it. */
  readonly forbids?: true;
}

/** Applies the category's own threshold if its calibration has one. */
function withThreshold(limits: TriageLimits, map: CategoryMap | undefined): TriageLimits {
  const autoNotify = map?.threshold ?? limits.thresholds.autoNotify;
  return { ...limits, thresholds: { ...limits.thresholds, autoNotify } };
}

function findDoubts(facts: ActionFacts, { thresholds }: TriageLimits, map: CategoryMap | undefined): Doubt[] {
  const { classification, against } = facts;
  const doubts: Doubt[] = [];
  const excuse = isNotDevelopersFault(classification);
  if (facts.claimsKept === 0) doubts.push({ most: THIN, reason: 'no claim is backed by evidence' });
  // Without a quoted line of the failing build itself, the category is only a label, no matter which analyst
  // judged.
  else if (!facts.quotesBuild)
    doubts.push({ most: thresholds.humanReview, reason: "no claim quotes a line of this build's logs" });
  if (classification.abstained) doubts.push({ most: THIN, reason: 'too little evidence to name a category' });
  else if (!isFounded(classification))
    doubts.push({ most: null, forbids: true, reason: 'only one sign in the log supports this' });
  if (excuse && !hasPositiveLogEvidence(facts)) {
    doubts.push({
      most: thresholds.humanReview,
      reason: 'nothing in the failing step shows that the environment failed',
    });
  }
  if (against.length > 0) {
    const reason = `some evidence speaks against this answer (${against.join(', ')})`;
    doubts.push({ most: excuse ? thresholds.humanReview : null, reason });
  }
  if (facts.route !== null && mayPassAnyway(facts.transient, classification)) {
    const reason = `a re-run may pass (${formatConfidence(facts.transient ?? 0)}), and ${classification.category} does not say so`;
    doubts.push({ most: null, forbids: true, reason });
  }
  if (map?.threshold === null) {
    doubts.push({
      most: null,
      forbids: true,
      reason: `the calibration requires review for every ${classification.category}`,
    });
  }
  return doubts;
}

/**
 * Forbids publishing where too many answers of its kind were wrong, or too few are known. Without a bound, a
 * model that no calibration knows publishes nothing alone.
 */
function doubtOfBound(facts: ActionFacts, { bound }: TriageLimits): Doubt[] {
  const { route, classification, calibration } = facts;
  if (bound === undefined && route === 'model' && calibration === null)
    return [{ most: null, forbids: true, reason: UNKNOWN_MODEL }];
  if (bound === undefined || route === null || isPublishedRoute(bound, route)) return [];
  if (classification.abstained || !isFounded(classification)) return [];
  return [{ most: null, forbids: true, reason: boundReason(bound, route) }];
}

const UNKNOWN_MODEL =
  'the rules do not find the same cause, and no calibration says how often this model is right';

/**
 * `founded`: how well the answer is founded, which no calibration lowers; more evidence would not change what
 * its map makes of it.
 */
interface Sureness {
  readonly confidence: number;
  readonly founded: number;
  readonly publishable: boolean;
}

function chooseAction(
  { confidence, founded, publishable }: Sureness,
  facts: ActionFacts,
  limits: TriageLimits,
): Action {
  const { autoNotify, humanReview, selfCorrect } = limits.thresholds;
  if (confidence >= autoNotify) return publishable ? 'auto_notify' : 'human_review';
  if (founded >= humanReview) return 'human_review';
  const roundsLeft = facts.rounds < limits.maxIterations;
  if (founded >= selfCorrect) {
    const isWorthwhile = facts.isClosable && roundsLeft && facts.corrections < limits.maxCorrections;
    return isWorthwhile ? 'self_correct' : 'human_review';
  }
  return facts.webAsked ? 'human_review' : 'web_search';
}

/** Formats a confidence rounded down, so that it is below its threshold as it is read, too. */
function formatBelowThreshold(confidence: number, threshold: number): string {
  return `confidence ${formatConfidence(confidence)} is below ${Number((threshold * 100).toFixed(2))} %`;
}

function hasPositiveLogEvidence(facts: ActionFacts): boolean {
  return facts.evidence.some((item) => item.tool === 'log' && facts.grades[item.id] === 'relevant');
}

/**
 * Finds the route of an answer: what the rules based its category on. A model that names the category that
 * the rules are sure of, and the cause that they find, counts among theirs, else among those of models. Null
 * if a person decided a failure like it.
 */
export function findRoute(
  classification: Classification,
  reading: ConfidenceFacts['reading'],
  claims: readonly Claim[],
  floor: number,
): Route | null {
  if (classification.route !== undefined) return classification.route;
  if (classification.witnesses !== undefined) return null;
  const isShared =
    reading !== null &&
    reading.category === classification.category &&
    isSameCause(claims, reading.claims) &&
    !reading.abstained &&
    reading.confidence >= floor;
  return (isShared ? reading.route : undefined) ?? 'model';
}

/**
 * Checks whether two answers rest on the same cause: one line that both quote, or two lines that say the
 * same. The category alone may be right for a wrong reason, and the advice follows the reason.
 */
function isSameCause(claims: readonly Claim[], others: readonly Claim[]): boolean {
  const quotes = others.flatMap((other) => other.quotes);
  return claims
    .flatMap((claim) => claim.quotes)
    .some(({ source, line, text }) =>
      quotes.some(
        (quote) =>
          (quote.source === source && quote.line === line) ||
          (Math.min(text.length, quote.text.length) >= SAME_WORDS &&
            (quote.text.includes(text) || text.includes(quote.text))),
      ),
    );
}

/** Shorter quotations may be equal by chance. */
const SAME_WORDS = 20;

/**
 * Returns the calibration of the analyst that wrote the answer, as it was when the run began. Returns null if
 * none is in force.
 */
export function findCalibration(
  state: Pick<TriageStateValue, 'limits' | 'steps' | 'model'>,
): CalibrationInUse | null {
  const writer = state.steps.findLast((step) => step.node === 'generate_answer');
  const model = writer?.judgements?.findLast((judgement) => judgement.model !== null)?.model ?? state.model;
  const by = writer?.by ?? 'rules';
  const { calibrations = [] } = state.limits;
  const exact = calibrations.find((calibration) => calibration.analyst === formatAnalystName(by, model));
  return exact ?? calibrations.find((calibration) => isCalibratedAs(calibration.analyst, by, model)) ?? null;
}

/** Returns what the calibration added to the confidence, in logits, for explanations. */
export function listCalibrationFactors({ calibrated, confidence }: ActionDecision): ConfidenceFactor[] {
  if (calibrated === null) return [];
  const value =
    Math.round((computeLogit(confidence, 0.001) - computeLogit(calibrated.raw, 0.001)) * 1000) / 1000;
  const because =
    `calibration ${calibrated.version}: a stated confidence of ${formatConfidence(calibrated.raw)} ` +
    `counts as ${formatConfidence(confidence)}`;
  return [{ name: 'calibration', value, because }];
}
