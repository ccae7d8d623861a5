import { type CategoryMap, calibrated, everyCategory } from '../../domain/calibration.ts';
import type { Category } from '../../domain/category.ts';
import { fitIsotonic } from './isotonic.ts';
import { asWorth, type LabelledAnswer, worthOf } from './labelled.ts';
import { fitPlatt, type Statement } from './platt.ts';

/** `auto`: isotonic where there are enough cases, else Platt. */
export type FitMethod = 'auto' | 'isotonic' | 'platt';

/** Below about a thousand cases isotonic regression fits chance, and Platt's two numbers do better (Niculescu-Mizil & Caruana 2005). */
export const ISOTONIC_FROM = 1000;
/** Fewer say little about two numbers: at 30 the share of right answers is known to ± 0.11 where it is 0.9. */
export const OWN_FROM = 30;
/** Fewer do not even show that a category behaves as the others do. */
export const POOLED_FROM = 10;
/** A category's own map and that of all weigh the same where it has so many cases. */
const DRAWN = 30;
/** What is believed of a category without cases: 6 of 8 right, so that it takes six that are right to publish at 0.85. */
const BELIEVED = { right: 6, of: 8 };

/** Where maps that are no steps get their points: closer together where answers are published. */
const GRID = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9].concat([
  0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1,
]);

type Curve = (stated: number) => number;

/** One map a category, over what was said of the answers. Weighted ones count as many as they are worth. */
export function fitCategories(answers: readonly LabelledAnswer[], method: FitMethod): Record<Category, CategoryMap> {
  const pooled = worthOf(answers) >= OWN_FROM ? curveOf(answers, method) : null;
  return everyCategory((category) => {
    const own = answers.filter((answer) => answer.category === category);
    const counts = { cases: own.length, right: own.filter(({ right }) => right).length };
    const worth = worthOf(own);
    if (pooled === null || worth < POOLED_FROM) return cappedCurve(own, counts, pooled);
    if (worth < OWN_FROM) return { method: 'pooled', ...counts, points: sampled((stated) => Math.min(stated, pooled(stated)), GRID) };
    return ownCurve(own, counts, pooled, method);
  });
}

/** Says which of the fits a category with so many cases gets. */
function methodFor(cases: number, method: FitMethod): 'isotonic' | 'platt' {
  return method === 'isotonic' || (method === 'auto' && cases >= ISOTONIC_FROM) ? 'isotonic' : 'platt';
}

/** Answers less sure than the tenth least sure were hardly seen: what a curve says there is a guess, and may lower but not raise. */
function ownCurve(
  own: readonly LabelledAnswer[],
  counts: Pick<CategoryMap, 'cases' | 'right'>,
  pooled: Curve,
  method: FitMethod,
): CategoryMap {
  const worth = worthOf(own);
  const share = worth / (worth + DRAWN);
  const curve = curveOf(own, method);
  const stated = own.map((answer) => answer.stated).sort((left, right) => left - right);
  const seen = stated[POOLED_FROM - 1] ?? 1;
  const drawn = (at: number) => share * curve(at) + (1 - share) * pooled(at);
  const fitted = methodFor(worth, method);
  return {
    method: fitted,
    ...counts,
    points: sampled((at) => (at < seen ? Math.min(at, drawn(at)) : drawn(at)), [...GRID, seen, ...(fitted === 'isotonic' ? stated : [])]),
  };
}

/** What was stated, and no more than so few cases and all others together allow. */
function cappedCurve(own: readonly LabelledAnswer[], counts: Pick<CategoryMap, 'cases' | 'right'>, pooled: Curve | null): CategoryMap {
  const right = asWorth(own).reduce((sum, answer) => sum + (answer.right ? answer.weight : 0), 0);
  const most = (right + BELIEVED.right) / (worthOf(own) + BELIEVED.of);
  const curve = (stated: number) => Math.min(stated, most, pooled?.(stated) ?? 1);
  return { method: 'capped', ...counts, points: sampled(curve, [...GRID, most]) };
}

function curveOf(statements: readonly Statement[], method: FitMethod): Curve {
  if (methodFor(worthOf(statements), method) === 'platt') return fitPlatt(asWorth(statements));
  const points = fitIsotonic(statements);
  return (stated) => calibrated(points, stated);
}

/** At most a thousand points; what they mean is rounded, and never falls. */
function sampled(curve: Curve, at: readonly number[]): CategoryMap['points'] {
  const places = [...new Set(at.map(round))].sort((left, right) => left - right);
  const kept = places.length <= 900 ? places : GRID;
  let least = 0;
  return kept.map((stated) => {
    least = Math.max(least, round(Math.min(1, Math.max(0, curve(stated)))));
    return [stated, least];
  });
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
