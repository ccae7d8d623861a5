import { type Action, type Classification, type Grade, isFounded, isNotDevelopersFault } from '../../src/domain/analysis.ts';
import { type CalibratedBy, type CalibrationInUse, type CategoryMap, calibratedConfidence } from '../../src/domain/calibration.ts';
import type { Evidence } from '../../src/domain/evidence.ts';
import { minOf } from '../../src/lib/collections.ts';
import type { TriageLimits } from './state.ts';

export interface ActionFacts {
  readonly classification: Classification;
  readonly confidence: number;
  readonly grades: Readonly<Record<string, Grade>>;
  readonly evidence: readonly Evidence[];
  /** Evidence ids that speak against the answer. */
  readonly against: readonly string[];
  readonly claimsKept: number;
  /** Whether a kept claim quotes a line of what this build printed. */
  readonly quotesBuild: boolean;
  readonly corrections: number;
  readonly rounds: number;
  readonly webAsked: boolean;
  /** The part of the budget that is used up ("60,000 tokens"); null where the run may go on. */
  readonly spent: string | null;
  /** Of the analyst whose answer it is; null: none is in force. */
  readonly calibration: CalibrationInUse | null;
}

export interface ActionDecision {
  readonly action: Action;
  readonly confidence: number;
  /** For people: why it may be published or why a person is asked. */
  readonly reasons: readonly string[];
  /** Whether the answer would have been worked on further, had the budget not been used up. */
  readonly stopped: boolean;
  /** What the calibration made of it; null where none is in force. */
  readonly calibrated: CalibratedBy | null;
}

/** Below this a verdict says "not enough evidence" (TAXONOMY, tie 7). */
const THIN = 0.49;

/**
 * Turns confidence into an action by the configured thresholds. Asymmetric: INFRA_ERROR and "flaky" may only be published
 * with positive evidence from the failing step and nothing against it, because calling a real failure flaky is the worst
 * mistake we can make. A calibration says what the confidence has turned out to mean, and may name its category's own threshold.
 */
export function decideAction(facts: ActionFacts, given: TriageLimits): ActionDecision {
  const map = facts.calibration?.categories[facts.classification.category];
  const limits = withThreshold(given, map);
  const doubts = doubtsOf(facts, limits, map);
  const most = minOf(
    doubts.map((doubt) => doubt.most ?? 1),
    1,
  );
  const verified = Math.min(facts.confidence, most);
  // What a doubt forbids, no calibration allows: its cap binds before and after.
  const confidence = map === undefined ? verified : Math.min(calibratedConfidence(map.points, verified), most);
  // By the doubt itself and not by its cap alone: no setting of the thresholds may publish what a person must see.
  const publishable = doubts.every((doubt) => doubt.most === null && doubt.forbids !== true);
  const wished = actionFor({ confidence, founded: Math.max(confidence, verified), publishable }, facts, limits);
  const stopped = facts.spent !== null && (wished === 'self_correct' || wished === 'web_search');
  const action = stopped ? 'human_review' : wished;
  const reasons = doubts.map((doubt) => doubt.reason);
  if (facts.spent !== null && action !== 'auto_notify') reasons.push(`the run's budget (${facts.spent}) is used up`);
  if (action === 'auto_notify') reasons.push('every claim is backed by evidence');
  else if (reasons.length === 0) reasons.push(belowText(confidence, limits.thresholds.autoNotify));
  const by = facts.calibration === null ? null : { version: facts.calibration.version, raw: verified };
  return { action, confidence, reasons, stopped, calibrated: by };
}

/** Why the answer is not as sure as its judge says; `most`: the confidence that remains at most, null where it is only remarked. */
interface Doubt {
  readonly reason: string;
  readonly most: number | null;
  /** Whatever the confidence, a person must see it. */
  readonly forbids?: true;
}

/** The category's own threshold, where its calibration has one. */
function withThreshold(limits: TriageLimits, map: CategoryMap | undefined): TriageLimits {
  const autoNotify = map?.threshold ?? limits.thresholds.autoNotify;
  return { ...limits, thresholds: { ...limits.thresholds, autoNotify } };
}

function doubtsOf(facts: ActionFacts, { thresholds }: TriageLimits, map: CategoryMap | undefined): Doubt[] {
  const { classification, against } = facts;
  const doubts: Doubt[] = [];
  const excuse = isNotDevelopersFault(classification);
  if (facts.claimsKept === 0) doubts.push({ most: THIN, reason: 'no claim is backed by evidence' });
  // Whoever judges, the category is a label until a line of the failing build itself is quoted for it.
  else if (!facts.quotesBuild) doubts.push({ most: thresholds.humanReview, reason: "no claim quotes a line of this build's logs" });
  if (classification.abstained) doubts.push({ most: THIN, reason: 'too little evidence to name a category' });
  else if (!isFounded(classification)) doubts.push({ most: null, forbids: true, reason: 'only one log line supports this' });
  if (excuse && !hasPositiveLogEvidence(facts)) {
    doubts.push({ most: thresholds.humanReview, reason: 'nothing in the failing step shows that the environment failed' });
  }
  if (against.length > 0) {
    const reason = `conflicting evidence (${against.join(', ')})`;
    doubts.push({ most: excuse ? thresholds.humanReview : null, reason });
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

/** `founded`: how well the answer is founded, which no calibration lowers; more evidence would not change what its map makes of it. */
interface Sureness {
  readonly confidence: number;
  readonly founded: number;
  readonly publishable: boolean;
}

function actionFor({ confidence, founded, publishable }: Sureness, facts: ActionFacts, limits: TriageLimits): Action {
  const { autoNotify, humanReview, selfCorrect } = limits.thresholds;
  if (confidence >= autoNotify) return publishable ? 'auto_notify' : 'human_review';
  if (founded >= humanReview) return 'human_review';
  const roundsLeft = facts.rounds < limits.maxIterations;
  if (founded >= selfCorrect) return facts.corrections < limits.maxCorrections && roundsLeft ? 'self_correct' : 'human_review';
  return facts.webAsked ? 'human_review' : 'web_search';
}

/** In hundredths, unless that would say that 0.85 is below 0.85. */
function belowText(confidence: number, threshold: number): string {
  const shown = confidence.toFixed(2);
  return `confidence ${Number(shown) < threshold ? shown : confidence} is below ${threshold}`;
}

function hasPositiveLogEvidence(facts: ActionFacts): boolean {
  return facts.evidence.some((item) => item.tool === 'log' && facts.grades[item.id] === 'relevant');
}
