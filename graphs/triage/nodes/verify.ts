import type { Answer, Verdict } from '../../../src/domain/analysis.ts';
import { TriageError } from '../../../src/domain/errors.ts';
import { formatConfidence } from '../../../src/lib/text.ts';
import type { Analyst, Assessment, Judgment } from '../../../src/ports/analyst.ts';
import { askAnalyst } from '../ask-analyst.ts';
import { computeSpent, findExhaustedBudget } from '../budget.ts';
import { type CheckedClaims, checkClaims, quoteBuild } from '../check-claims.ts';
import { type ComposedConfidence, type ConfidenceFacts, composeConfidence } from '../compose-confidence.ts';
import { getContext, type TriageRuntime } from '../context.ts';
import {
  type ActionDecision,
  type ActionFacts,
  decideAction,
  findCalibration,
  listCalibrationFactors,
} from '../decide-action.ts';
import { findRoute } from '../find-route.ts';
import { createJudgedStep, getNow, sumUsage, toCostUpdate } from '../finished-step.ts';
import { addUsage, type TriageStateUpdate, type TriageStateValue, toInsight } from '../state.ts';
import { listAskableTools, listOfferedTools } from '../tool-calls.ts';

/**
 * Grades the evidence, drops claims that do not hold, and decides what happens next, as in corrective RAG
 * (arXiv 2401.15884).
 */
export async function verify(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  const { answer } = state;
  if (answer === null) throw new TriageError('internal', 'The triage graph reached verify without an answer');
  const isLast = state.rounds >= state.limits.maxIterations;
  const offered = isLast ? [] : await listOfferedTools(state, false, runtime);
  const judgment = await askAnalyst(
    runtime,
    { limits: state.limits, spent: computeSpent(state) },
    (analyst, signal) => analyst.verify({ ...toInsight(state), answer, offered }, signal),
  );
  const claims = checkClaims(answer, state.evidence, judgment.value.unsupportedClaims);
  const reading = await askRules(state, answer, judgment, runtime);
  const composed = compose(state, answer, claims, judgment, reading);
  const { classification } = toInsight(state);
  const route = findRoute(classification, reading, claims.kept, state.limits.thresholds.autoNotify);
  const webAsked = state.webAsked || !(await isWebAskable(state, runtime));
  const decision = decide({ ...state, webAsked }, judgment, claims, { ...composed, route });
  const verdict = {
    ...buildVerdict(judgment.value, claims, decision, composed),
    ...(route === null ? {} : { route }),
  };
  const { action, confidence } = decision;
  const dropped = claims.dropped.length === 0 ? '' : `, ${claims.dropped.length} claims dropped`;
  const summary = `${formatConfidence(confidence)} → ${action}${dropped}`;
  return {
    answer: { ...answer, claims: [...claims.kept], confidence },
    verdict,
    gaps: [...(judgment.value.closable ?? verdict.gaps)],
    callsAtVerdict: state.outcomes.length,
    evidenceAtVerdict: state.evidence.length,
    verdicts: [{ action, confidence, category: toInsight(state).classification.category }],
    corrections: state.corrections + (action === 'self_correct' ? 1 : 0),
    ...(decision.stopped ? { termination: 'budget_exhausted' as const } : {}),
    ...createJudgedStep(runtime, startedAt, { node: 'verify', round: state.rounds, summary }, judgment),
    // The analysis names the model that wrote the answer. Another model may have verified it.
    model: state.model ?? judgment.model,
  };
}

/** Checks whether the web can be searched. If it cannot, a weak answer goes to a person immediately. */
async function isWebAskable(state: TriageStateValue, runtime: TriageRuntime): Promise<boolean> {
  const { classification, subject } = toInsight(state);
  const tools = await listAskableTools(
    getContext(runtime).toolbox,
    classification.category,
    subject,
    runtime.signal,
  );
  return tools.some((tool) => tool.fallback);
}

type FallbackReading = ConfidenceFacts['reading'];

/** Asks the rules about the same failure. Returns null if the rules gave the answer. */
async function askRules(
  state: TriageStateValue,
  answer: Answer,
  judgment: Judgment<Assessment>,
  runtime: TriageRuntime,
): Promise<FallbackReading> {
  const { analyst, fallbackAnalyst = analyst } = getContext(runtime);
  // If a model named the category, the fallback analyst's check starts from its own probability of that
  // category.
  const classifiedBy = state.steps.find((step) => step.node === 'classify')?.by;
  const isOwn =
    fallbackAnalyst.name === analyst.name ||
    (judgment.by === fallbackAnalyst.name && classifiedBy === fallbackAnalyst.name);
  return isOwn ? null : await readWithFallback(fallbackAnalyst, state, answer, runtime.signal);
}

function compose(
  state: TriageStateValue,
  answer: Answer,
  claims: CheckedClaims,
  judgment: Judgment<Assessment>,
  reading: FallbackReading,
): ComposedConfidence {
  const { classification } = toInsight(state);
  return composeConfidence({
    classification,
    assessment: judgment.value,
    reading,
    evidence: state.evidence,
    fingerprint: state.subject.fingerprint.value,
    claims: {
      kept: claims.kept.length,
      misquoted: claims.dropped.filter((drop) => drop.byCode).length,
      all: answer.claims.length,
    },
    quotesBuild: quoteBuild(claims.kept, state.subject.sources),
    cited: [...new Set(claims.kept.flatMap((claim) => claim.evidence))],
  });
}

/**
 * Asks the fallback analyst for its own reading of the failure and its own answer, and for its assessment of
 * the answer's evidence.
 */
async function readWithFallback(
  fallbackAnalyst: Analyst,
  state: TriageStateValue,
  answer: Answer,
  signal: AbortSignal,
) {
  const classification = (await fallbackAnalyst.classify({ subject: state.subject }, signal)).value;
  const ownAnswer = await fallbackAnalyst.answer({ ...toInsight(state), classification }, signal);
  return {
    ...classification,
    claims: ownAnswer.value.claims,
    assessment: (await fallbackAnalyst.verify({ ...toInsight(state), answer }, signal)).value,
  };
}

function decide(
  state: TriageStateValue,
  judgment: Judgment<Assessment>,
  claims: CheckedClaims,
  { confidence, route }: Pick<ComposedConfidence, 'confidence'> & Pick<ActionFacts, 'route'>,
): ActionDecision {
  const { grades, against, closable } = judgment.value;
  const { evidence, corrections, rounds, webAsked, limits, usage } = state;
  const { promptHashes: verified } = toCostUpdate('verify', judgment);
  const promptHashes = { ...state.promptHashes, ...verified };
  const facts = {
    classification: toInsight(state).classification,
    confidence,
    route,
    grades,
    evidence,
    against,
    isClosable: closable === undefined || closable.length > 0,
    claimsKept: claims.kept.length,
    quotesBuild: quoteBuild(claims.kept, state.subject.sources),
    corrections,
    rounds,
    webAsked,
    // The exhausted part of the budget after the cost of this judgement.
    spent: findExhaustedBudget(
      computeSpent({ ...state, usage: addUsage(usage, sumUsage([judgment])) }),
      limits,
    ),
    calibration: findCalibration({ ...state, promptHashes }),
    transient: state.answer?.transient,
  };
  return decideAction(facts, limits);
}

function buildVerdict(
  assessment: Assessment,
  claims: CheckedClaims,
  decision: ActionDecision,
  { factors }: ComposedConfidence,
): Verdict {
  const all = [...factors, ...listCalibrationFactors(decision)];
  return {
    grades: { ...assessment.grades },
    unsupportedClaims: claims.dropped.map((drop) => `${drop.claim.text} (${drop.reason})`),
    gaps: [...assessment.gaps],
    confidence: decision.confidence,
    action: decision.action,
    reasons: [...decision.reasons],
    ...(all.length === 0 ? {} : { factors: all }),
    ...(decision.calibrated === null ? {} : { calibration: decision.calibrated }),
  };
}
