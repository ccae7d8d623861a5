import type { Analysis } from '../../domain/analysis.ts';
import type { Reading } from '../../domain/reading.ts';
import type { ArrangedAnswer } from '../../notifications/build-answers.ts';
import type { AnalysisTrace } from '../../service/answers/trace.ts';

/**
 * The version of the format. It increases when the meaning of a field changes. Added fields do not change it.
 */
const SCHEMA = 2;

/** The path of the file, with `--each`. Null without `--each`. */
type EachPath = string | null;

/**
 * Formats the JSON of `faultline triage`: one object, with an analysis for each cause in the order in which
 * to fix them. `traces` are in the same order. The list is empty if no traces were requested.
 */
export function formatTriage(
  answers: readonly ArrangedAnswer[],
  reading: Reading,
  traces: readonly AnalysisTrace[],
  file: EachPath,
): object {
  return {
    ...createHeader(file, true),
    failureFound: true,
    analyses: answers.map((answer) => formatAnalysis(answer)),
    ...(traces.length === 0 ? {} : { traces }),
    log: formatLog(reading),
  };
}

/** Formats the result for a log without failures. `analyses` is empty, and `message` says so. */
export function formatNoFailure({ notes, ...reading }: Reading, message: string, file: EachPath): object {
  return {
    ...createHeader(file, true),
    failureFound: false,
    message,
    analyses: [],
    notes,
    log: formatLog(reading),
  };
}

/** Formats the error for a file of `--each` that cannot be analyzed. */
export function formatUnreadable(code: string, message: string, file: string): object {
  return { ...createHeader(file, false), error: { code, message } };
}

function createHeader(file: EachPath, ok: boolean): object {
  return { ok, schema: SCHEMA, ...(file === null ? {} : { file }) };
}

function formatLog({
  sources,
  tokens,
  maskedSecrets,
}: Pick<Reading, 'sources' | 'tokens' | 'maskedSecrets'>): object {
  return { lines: sources.reduce((total, source) => total + source.lines, 0), tokens, maskedSecrets };
}

function formatAnalysis({ analysis, explains }: ArrangedAnswer): object {
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
    act: answer.act ?? null,
    transient: answer.transient ?? null,
    tests: explains.tests,
    failures: explains.failures,
    grouped: explains.grouped,
    logs: explains.logs,
    claims: answer.claims,
    evidence: formatEvidence(analysis),
    suspects: answer.suspects,
    hypotheses: answer.hypotheses,
    reasons: verdict.reasons,
    notes: analysis.notes,
    fingerprint: analysis.fingerprint,
    usage: { seconds: analysis.milliseconds / 1000, ...usage },
    analyst: analysis.analyst,
    model: analysis.model,
    terminationReason: analysis.terminationReason,
    experiment: analysis.experiment ?? null,
    changes: analysis.changes ?? null,
  };
}

function formatEvidence({ evidence }: Analysis): object[] {
  return evidence.map(({ id, tool, title, source, lineStart, lineEnd, text, url, score }) => {
    return { id, tool, title, source, lineStart, lineEnd, text, url, score };
  });
}
