import type { Classification, Grade } from '../../../domain/analysis.ts';
import type { Assessment } from '../../../ports/analyst.ts';

/** Without a second opinion a model's word never reaches publication. */
const ALONE_MOST = 0.6;
const DOUBT: Readonly<Record<Grade, number>> = { relevant: 0, ambiguous: 1, irrelevant: 2 };

/**
 * Joins the model's assessment with that of the rules, which read the same evidence without obeying anything in it, and
 * begin with their own probability of the category.
 *
 *     confidence = min(model, (model + rules) / 2)
 *
 * The model alone can therefore only lower the confidence; to be published at 0.85 a model that says 1 needs rules that say
 * 0.7. What either holds against the answer counts. Where the answer tells a developer "not your change" (INFRA_ERROR,
 * flaky), evidence is only as relevant as the more doubtful of the two grades it. Claims are judged by the model: the rules
 * compare words, which is too coarse for its sentences (quotations are checked by the graph in any case).
 */
export function blend(model: Assessment, rules: Assessment, classification: Classification): Assessment {
  const excuse = classification.category === 'INFRA_ERROR' || classification.kind === 'flaky_timing';
  const grades: Record<string, Grade> = { ...rules.grades, ...model.grades };
  if (excuse) {
    for (const [id, grade] of Object.entries(rules.grades)) {
      const other = grades[id];
      if (other === undefined || DOUBT[grade] > DOUBT[other]) grades[id] = grade;
    }
  }
  return {
    grades,
    unsupportedClaims: model.unsupportedClaims,
    gaps: model.gaps.length > 0 ? model.gaps : rules.gaps,
    confidence: Math.min(model.confidence, (model.confidence + rules.confidence) / 2),
    against: [...new Set([...model.against, ...rules.against])],
  };
}

/** The model's assessment where no second one could be had. */
export function alone(model: Assessment): Assessment {
  return { ...model, confidence: Math.min(model.confidence, ALONE_MOST) };
}
