import {
  type Action,
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
  isAnsweredWith,
  isCalibratedAs,
} from '../../src/domain/calibration.ts';
import type { Evidence } from '../../src/domain/evidence.ts';
import { boundReason, isPublishedRoute, type Route } from '../../src/domain/publish-bound.ts';
import { mayPassAnyway } from '../../src/domain/rerun.ts';
import { findMin } from '../../src/lib/collections.ts';
import { formatConfidence } from '../../src/lib/text.ts';
import { computeLogit } from './compose-confidence.ts';
import type { TriageLimits, TriageStateValue } from './state.ts';

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
  'the rules do not find the same cause, and no calibration is for this model and its prompts';

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
 * Returns the calibration of the analyst and the prompts that wrote the answer, as it was when the run began.
 * Returns null if none is in force.
 */
export function findCalibration(
  state: Pick<TriageStateValue, 'limits' | 'steps' | 'model' | 'promptHashes'>,
): CalibrationInUse | null {
  const writer = state.steps.findLast((step) => step.node === 'generate_answer');
  const model = writer?.judgements?.findLast((judgment) => judgment.model !== null)?.model ?? state.model;
  const by = writer?.by ?? 'rules';
  const calibrations = (state.limits.calibrations ?? []).filter(({ prompts = [] }) =>
    isAnsweredWith(prompts, by, state.promptHashes),
  );
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
