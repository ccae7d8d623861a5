import type { Analysis } from '../domain/analysis.ts';
import type { Reading } from '../domain/reading.ts';
import type { AnalysisTrace } from '../publish/trace.ts';

/** The terminal's JSON: one object, the main cause on top, further ones in `otherCauses`, the names of all failing tests in `tests`. `traces` are in the same order, where asked for. `schema` rises when a field changes meaning. */
export function jsonOf(analyses: readonly Analysis[], reading: Reading, traces: readonly AnalysisTrace[] = []): object {
  const [main, ...rest] = analyses.map((analysis) => causeOf(analysis));
  return {
    ok: true,
    schema: 1,
    failureFound: true,
    ...main,
    otherCauses: rest,
    tests: [...new Set(reading.failingTests.map(({ name }) => name))],
    ...(traces.length === 0 ? {} : { traces }),
    log: logOf(reading),
  };
}

/** The same shape for a log in which nothing failed: no category, no cause, and a sentence that says so. */
export function noFailureJson(reading: Reading, message: string): object {
  const { notes } = reading;
  const nothing = { category: null, kind: null, message, otherCauses: [], tests: [] };
  return { ok: true, schema: 1, failureFound: false, ...nothing, notes, log: logOf(reading) };
}

function logOf({ sources, tokens, maskedSecrets }: Reading): object {
  return { lines: sources.reduce((total, source) => total + source.lines, 0), tokens, maskedSecrets };
}

function causeOf(analysis: Analysis): object {
  const { answer, verdict, usage } = analysis;
  return {
    id: analysis.id,
    category: analysis.category,
    kind: analysis.kind,
    confidence: verdict.confidence,
    calibrated: verdict.calibration !== undefined,
    abstained: analysis.classification.abstained,
    probabilities: analysis.classification.probabilities,
    because: analysis.classification.because,
    record: analysis.classification.record ?? null,
    action: verdict.action,
    title: answer.title,
    rootCause: answer.rootCause,
    fix: answer.fixRecommendation,
    claims: answer.claims,
    evidence: analysis.evidence.map(({ id, tool, title, source, lineStart, lineEnd, text, url, score }) => {
      return { id, tool, title, source, lineStart, lineEnd, text, url, score };
    }),
    suspects: answer.suspects,
    hypotheses: answer.hypotheses,
    reasons: verdict.reasons,
    notes: analysis.notes,
    fingerprint: analysis.fingerprint,
    usage: { seconds: analysis.milliseconds / 1000, ...usage },
    analyst: analysis.analyst,
    model: analysis.model,
    terminationReason: analysis.terminationReason,
  };
}
