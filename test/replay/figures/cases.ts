import type { Category } from '../../../src/domain/category.ts';
import type { DatasetRow } from '../../../src/replay/cases/case.ts';
import type { Figure } from '../../../src/replay/figures/figure.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { type CaseResult, toFailedResult } from '../../../src/replay/run/results.ts';

/** A finished case with these labels and this result. */
export function createReplayed(row: Partial<DatasetRow>, result: Partial<CaseResult> = {}): ReplayedCase {
  const id = row.id ?? 'x';
  return {
    row: { ...row, id },
    result: { ...toFailedResult(id, '', 0), error: null, ...result },
    analysis: null,
    quotes: { made: 0, literal: 0 },
  };
}

/** A case of this category, of which that was said; published unless the result says otherwise. */
export function createJudged(
  category: Category,
  said: Category | null,
  row: Partial<DatasetRow> = {},
  result: Partial<CaseResult> = {},
): ReplayedCase {
  return createReplayed(
    { category, ...row },
    { category: said, confidence: 0.5, abstained: false, action: 'auto_notify', ...result },
  );
}

/** Cases that state these probabilities, right or wrong; each of a project of its own. */
export function createStated(
  ...of: readonly (readonly [probability: number, right: boolean])[]
): ReplayedCase[] {
  return of.map(([confidence, right], at) =>
    createJudged('CODE_ERROR', right ? 'CODE_ERROR' : 'TEST_FAILURE', { id: `s${at}` }, { confidence }),
  );
}

export function findFigure(figures: readonly Figure[], name: string): Figure {
  const found = figures.find((figure) => figure.name === name);
  if (found === undefined)
    throw new Error(`no figure "${name}" among ${figures.map((figure) => figure.name).join(', ')}`);
  return found;
}
