import type { Category } from '../../../src/domain/category.ts';
import type { LabelledAnswer } from '../../../src/replay/calibrate/fit.ts';

/** So many right and so many wrong answers of one category that stated the same; `projects` of them take turns. */
export function createLabeled(
  category: Category,
  stated: number,
  right: number,
  wrong: number,
  projects = 10,
): LabelledAnswer[] {
  return Array.from({ length: right + wrong }, (_, index) => ({
    id: `${category}-${stated}-${index}`,
    project: `project ${index % projects}`,
    category,
    stated,
    right: index < right,
    at: null,
  }));
}
