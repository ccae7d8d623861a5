import { Category } from '../../domain/category.ts';
import type { DecidedAnswer } from '../../ports/measurements.ts';
import { projectOf } from '../cases/project-folds.ts';
import { isRight, judgedCases } from '../figures/judged.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { LabelledAnswer } from './labelled.ts';

/** Replayed cases whose category is known and that were answered; a case that failed states nothing. */
export function labelledCases(cases: readonly ReplayedCase[]): LabelledAnswer[] {
  return judgedCases(cases).flatMap((entry) => {
    const { row, result } = entry.one;
    const category = Category.safeParse(result.category);
    // Never what a calibration made of it, or the next would be fitted on top of the last.
    const stated = result.rawConfidence ?? result.answerConfidence;
    if (row === null || stated === null || !category.success) return [];
    return [
      {
        id: result.id,
        project: projectOf(row),
        category: category.data,
        stated,
        right: isRight(entry),
        at: row.happened_at ?? null,
      },
    ];
  });
}

/**
 * Answers that people decided. Those that wait for a person are the unsure ones, and all of them are looked at sooner or later; of the
 * published ones only the drawn sample is, so each of that stands for as many as one was drawn of. Without the weight a
 * calibration would be one of unsure answers alone.
 */
export function labelledDecisions(decided: readonly DecidedAnswer[], auditEvery: number): LabelledAnswer[] {
  return decided.map(({ analysisId, repository, category, stated, right, origin, decidedAt }) => ({
    ...{ id: analysisId, project: repository, category, stated, right, at: decidedAt },
    ...(origin === 'audit' ? { weight: Math.max(1, auditEvery) } : {}),
  }));
}
