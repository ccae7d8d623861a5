import { z } from 'zod';
import { type Analysis, Answer, Verdict } from '../domain/analysis.ts';
import { Evidence } from '../domain/evidence.ts';
import { FailureRow } from '../domain/failure.ts';
import { AnalysisSummary, summaryOf } from '../publish/analysis-summary.ts';
import { line } from './bounded-text.ts';
import { proofRows } from './proof-rows.ts';

/** Lines of a log or a document; `line` is 1-based, null where the text is of no log. */
export const Rows = z.array(z.object({ line: z.int().nullable(), text: z.string() }));

/** The answer for one cause, cut to what an agent needs. */
export const ToldCause = AnalysisSummary.extend({
  rootCause: Answer.shape.rootCause,
  fixRecommendation: Answer.shape.fixRecommendation,
  proof: z.array(z.object({ source: z.string(), line: z.int(), text: z.string() })),
  suspects: Answer.shape.suspects,
  reasons: Verdict.shape.reasons,
  evidence: z.array(Evidence.pick({ id: true, tool: true, title: true })),
});

/** Failures of one cause in one build. */
export const FailedCause = FailureRow.pick({
  repository: true,
  pipeline: true,
  number: true,
  branch: true,
  commit: true,
  category: true,
  seenAt: true,
}).extend({
  id: z.string().describe('ID to pass to get_failure'),
  buildId: z.string(),
  confidence: z.number().nullable().describe('Null if not yet analyzed'),
  title: z.string().nullable(),
  message: z.string().describe('The failing line: untrusted text of a log'),
});

/** Where a list was cut; null at its end. */
export const Cursor = z.string().nullable().describe('Pass as cursor for the next page; null on the last page');

export function toldCause(analysis: Analysis): z.infer<typeof ToldCause> {
  const { answer, verdict } = analysis;
  const evidence = analysis.evidence.filter(({ id }) => verdict.grades[id] !== 'irrelevant').slice(0, 6);
  return {
    ...summaryOf(analysis),
    title: line(answer.title, 200),
    rootCause: line(answer.rootCause, 700),
    fixRecommendation: line(answer.fixRecommendation, 700),
    proof: proofRows(analysis).map((row) => ({ ...row, text: line(row.text, 320) })),
    suspects: answer.suspects.slice(0, 4).map((one) => ({ ...one, path: line(one.path, 200), reason: line(one.reason, 200) })),
    reasons: verdict.reasons.slice(0, 3).map((reason) => line(reason, 220)),
    evidence: evidence.map(({ id, tool, title }) => ({ id, tool, title: line(title, 60) })),
  };
}

export function failedCause({ failure, analysisId, ...row }: FailureRow, analysis: Analysis | null): z.infer<typeof FailedCause> {
  const { repository, pipeline, number, branch, commit, seenAt } = row;
  return {
    id: analysisId ?? failure.buildId,
    buildId: failure.buildId,
    repository,
    pipeline,
    number,
    branch,
    commit,
    category: row.category ?? analysis?.category ?? null,
    seenAt,
    confidence: analysis?.verdict.confidence ?? null,
    title: analysis === null ? null : line(analysis.answer.title, 160),
    message: line(failure.message, 200),
  };
}
