import type { Verdict } from '../../../src/domain/analysis.ts';
import { TriageError } from '../../../src/domain/errors.ts';
import type { Assessment } from '../../../src/ports/analyst.ts';
import { type CheckedClaims, checkClaims, quoteBuild } from '../check-claims.ts';
import { contextOf, type TriageRuntime } from '../context.ts';
import { type ActionDecision, decideAction } from '../decide-action.ts';
import { insightOf } from '../insight.ts';
import { costOf, finishedStep, startWatch, traceOf } from '../judge.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Corrective RAG (arXiv 2401.15884): grades the evidence, drops claims that do not hold, and says what happens next. */
export async function verify(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const { analyst } = contextOf(runtime);
  if (state.answer === null) throw new TriageError('internal', 'The triage graph reached verify without an answer');
  const insight = insightOf(state);
  const judgement = await analyst.verify({ ...insight, answer: state.answer }, runtime.signal);
  const assessment = judgement.value;
  const claims = checkClaims(state.answer, state.evidence, assessment.unsupportedClaims);
  const decision = decideAction(
    {
      classification: insight.classification,
      confidence: assessment.confidence,
      grades: assessment.grades,
      evidence: state.evidence,
      against: assessment.against,
      claimsKept: claims.kept.length,
      quotesBuild: quoteBuild(claims.kept, state.subject.sources),
      corrections: state.corrections,
      rounds: state.rounds,
      webAsked: state.webAsked,
    },
    state.limits,
  );
  const verdict = verdictOf(assessment, claims, decision);
  const dropped = claims.dropped.length === 0 ? '' : `, ${claims.dropped.length} claims dropped`;
  return {
    answer: { ...state.answer, claims: [...claims.kept], confidence: decision.confidence },
    verdict,
    gaps: verdict.gaps,
    callsAtVerdict: state.outcomes.length,
    corrections: state.corrections + (decision.action === 'self_correct' ? 1 : 0),
    ...costOf('verify', judgement),
    ...finishedStep(runtime, watch, {
      node: 'verify',
      round: state.rounds,
      by: judgement.by,
      judgements: [traceOf(runtime, 'verify', watch.startedAt, judgement)],
      summary: `${decision.confidence.toFixed(2)} → ${decision.action}${dropped}`,
    }),
  };
}

function verdictOf(assessment: Assessment, claims: CheckedClaims, decision: ActionDecision): Verdict {
  return {
    grades: { ...assessment.grades },
    unsupportedClaims: claims.dropped.map((drop) => `${drop.claim.text} (${drop.reason})`),
    gaps: [...assessment.gaps],
    confidence: decision.confidence,
    action: decision.action,
    reasons: [...decision.reasons],
  };
}
