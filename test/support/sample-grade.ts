import type { Build } from '../../src/domain/build.ts';
import type { GradedAnswer, QuestionGrade, Resolution } from '../../src/domain/outcome.ts';

/** Creates the grade of an answer whose failure was fixed by changing one file. */
export function sampleGrade(
  build: Build,
  change: Partial<Resolution> = {},
  grades: readonly QuestionGrade[] = [{ question: 'category', grade: 'right', because: 'code was changed' }],
): GradedAnswer {
  const { id, pipeline, number, attempt, url, commit, author, receivedAt } = build;
  const red = { id, pipeline, number, attempt, url, commit, author, receivedAt };
  const mend: Resolution = {
    kind: 'change',
    red,
    green: { ...red, id: `${id}-green`, number: `${number}0` },
    times: 1,
    files: ['deploy/values.yaml'],
    commits: [{ commit: 'c'.repeat(40), subject: 'Set the port', author: 'Ada' }],
    isRevert: false,
    doubt: null,
    ...change,
  };
  return { mend, grades: [...grades] };
}
