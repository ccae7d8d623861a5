import type { Action, Classification, Grade } from '../../src/domain/analysis.ts';
import type { Evidence } from '../../src/domain/evidence.ts';
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
}

export interface ActionDecision {
  readonly action: Action;
  readonly confidence: number;
  /** For people: why it may be published or why a person is asked. */
  readonly reasons: readonly string[];
}

/** Below this a verdict says "not enough evidence" (TAXONOMY, tie 7). */
const THIN = 0.49;

/**
 * Turns confidence into an action by the configured thresholds. Asymmetric: INFRA_ERROR and "flaky" may only be published
 * with positive evidence from the failing step and nothing against it, because calling a real failure flaky is the worst
 * mistake we can make.
 */
export function decideAction(facts: ActionFacts, limits: TriageLimits): ActionDecision {
  const reasons: string[] = [];
  let confidence = facts.confidence;
  if (facts.claimsKept === 0) {
    confidence = Math.min(confidence, THIN);
    reasons.push('no claim could be tied to evidence');
  }
  // Whoever judges, the category is a label until a line of the failing build itself is quoted for it.
  if (facts.claimsKept > 0 && !facts.quotesBuild) {
    confidence = Math.min(confidence, limits.thresholds.humanReview);
    reasons.push('no claim quotes a line that this build printed');
  }
  if (facts.classification.abstained) {
    confidence = Math.min(confidence, THIN);
    reasons.push('the evidence is too thin to name a category');
  }
  const excuse = isExcuse(facts.classification);
  if (excuse && !hasPositiveLogEvidence(facts)) {
    confidence = Math.min(confidence, limits.thresholds.humanReview);
    reasons.push('nothing from the failing step itself shows that the surroundings failed');
  }
  if (facts.against.length > 0) {
    if (excuse) confidence = Math.min(confidence, limits.thresholds.humanReview);
    reasons.push(`${facts.against.join(', ')} ${facts.against.length === 1 ? 'speaks' : 'speak'} against it`);
  }
  const action = actionFor(confidence, facts, limits);
  if (action === 'auto_notify') reasons.push('every claim rests on evidence');
  else if (reasons.length === 0) reasons.push(`confidence ${confidence.toFixed(2)} is below ${limits.thresholds.autoNotify}`);
  return { action, confidence, reasons };
}

function actionFor(confidence: number, facts: ActionFacts, limits: TriageLimits): Action {
  const { autoNotify, humanReview, selfCorrect } = limits.thresholds;
  if (confidence >= autoNotify) return 'auto_notify';
  if (confidence >= humanReview) return 'human_review';
  const roundsLeft = facts.rounds < limits.maxIterations;
  if (confidence >= selfCorrect) return facts.corrections < limits.maxCorrections && roundsLeft ? 'self_correct' : 'human_review';
  return facts.webAsked ? 'human_review' : 'web_search';
}

/** Categories and kinds that tell a developer "not your fault". */
function isExcuse(classification: Classification): boolean {
  return classification.category === 'INFRA_ERROR' || classification.kind === 'flaky_timing';
}

function hasPositiveLogEvidence(facts: ActionFacts): boolean {
  return facts.evidence.some((item) => item.tool === 'log' && facts.grades[item.id] === 'relevant');
}
