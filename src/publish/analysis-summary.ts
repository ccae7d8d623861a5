import { z } from 'zod';
import { Action, type Analysis, ShownAnalysis, shownAnalysis } from '../domain/analysis.ts';
import { Kind } from '../domain/category.ts';

/** One answer of a build in a few words. */
export const AnalysisSummary = z.object({
  id: z.string(),
  category: ShownAnalysis.shape.category,
  kind: Kind,
  title: z.string(),
  confidence: z.number(),
  action: Action,
  failures: z.int(),
});
export type AnalysisSummary = z.infer<typeof AnalysisSummary>;

export function summaryOf(analysis: Analysis): AnalysisSummary {
  const { id, kind, answer, verdict, failureIds } = analysis;
  return {
    id,
    category: shownAnalysis(analysis).category,
    kind,
    title: answer.title,
    confidence: verdict.confidence,
    action: verdict.action,
    failures: failureIds.length,
  };
}
