import { CATEGORIES, type Category } from '../../domain/category.ts';
import type { ReplayedCase } from '../replay.ts';
import { type Figure, mean } from './figure.ts';

/** From this probability on, a wrong category is a confident error. */
const CONFIDENT = 0.85;

/**
 * Accuracy, per class and macro F1, and how far stated confidence can be trusted. A category that the labels accept beside the
 * first counts as right; a case that failed counts as wrong. Empty where nothing was classified.
 */
export function scoreCategories(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => one.row?.category != null);
  if (!labelled.some((one) => one.result.category !== null)) return [];
  const judged = labelled.map((one) => ({ truth: truthOf(one), said: one.result.category, one }));
  const share = (name: string, holds: (entry: Judged) => boolean, among: readonly Judged[] = judged): Figure => {
    return { name, value: mean(among.map((entry) => Number(holds(entry)))), cases: among.length };
  };
  const real = judged.filter(({ truth }) => truth === 'CODE_ERROR' || truth === 'TEST_FAILURE');
  return [
    share('category accuracy', isRight),
    ...scoreClasses(judged),
    share('category top-2', ({ one }) => inTopTwo(one)),
    share('code and test failures called INFRA_ERROR', ({ said }) => said === 'INFRA_ERROR', real),
    share('confident errors', (entry) => !isRight(entry) && (entry.one.result.confidence ?? 0) >= CONFIDENT),
    share('abstained', ({ one }) => one.result.abstained === true),
    { name: 'expected calibration error', value: calibrationError(judged), cases: judged.length },
    share('published without a person', ({ one }) => one.result.action === 'auto_notify'),
  ];
}

function scoreClasses(judged: readonly Judged[]): Figure[] {
  const classes = CATEGORIES.filter((category) => judged.some(({ truth }) => truth === category)).map((category) => {
    const name = `  F1 ${category}`;
    return { name, value: f1Of(category, judged), cases: judged.filter(({ truth }) => truth === category).length };
  });
  return [{ name: 'category macro-F1', value: mean(classes.map(({ value }) => value)), cases: judged.length }, ...classes];
}

interface Judged {
  readonly truth: string;
  readonly said: string | null;
  readonly one: ReplayedCase;
}

function isRight({ truth, said }: Judged): boolean {
  return truth === said;
}

function acceptedOf({ row }: ReplayedCase): Category[] {
  return [row?.category ?? [], row?.also_ok ?? [], row?.category_alternatives ?? []].flat();
}

/** The label; where an accepted alternative was said, that alternative. */
function truthOf(one: ReplayedCase): string {
  const said = one.result.category;
  const accepted: readonly string[] = acceptedOf(one);
  return said !== null && accepted.includes(said) ? said : (one.row?.category ?? '');
}

function f1Of(category: string, judged: readonly Judged[]): number {
  const hits = judged.filter((entry) => entry.truth === category && entry.said === category).length;
  const said = judged.filter((entry) => entry.said === category).length;
  const truly = judged.filter((entry) => entry.truth === category).length;
  return said + truly === 0 ? 0 : (2 * hits) / (said + truly);
}

function inTopTwo(one: ReplayedCase): boolean {
  const ranked = Object.entries(one.result.probabilities).sort((left, right) => right[1] - left[1]);
  const accepted: readonly string[] = acceptedOf(one);
  return ranked.slice(0, 2).some(([category]) => accepted.includes(category));
}

/** Expected calibration error over ten bins of stated confidence (Guo et al. 2017, arXiv 1706.04599). */
function calibrationError(judged: readonly Judged[]): number {
  let error = 0;
  for (let bin = 0; bin < 10; bin++) {
    const inside = judged.filter(({ one }) => Math.min(9, Math.floor((one.result.confidence ?? 0) * 10)) === bin);
    if (inside.length === 0) continue;
    const right = mean(inside.map((entry) => Number(isRight(entry))));
    const stated = mean(inside.map(({ one }) => one.result.confidence ?? 0));
    error += (inside.length / judged.length) * Math.abs(right - stated);
  }
  return error;
}
