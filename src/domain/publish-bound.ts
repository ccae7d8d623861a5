import { z } from 'zod';
import { computeUpperShare, type Risk } from '../lib/binomial-bound.ts';

/**
 * The grounds of an answer, the most reliable first: this order is the fixed sequence in which routes are
 * tested, and must not be changed by looking at outcomes. In the route after `tool error` and the two after
 * `precedent`, a rule that may decide alone names the cause. `inferred`: a test or a tool's error, but for
 * another category than it shows by itself. `Java compiler`: its errors look the same whether the code or a
 * library changed. `precedent`: the same failure had the same answer before, and the outcome proved it right.
 * `contradicted`: a rule for another category was met, too.
 */
export const ROUTES = [
  'tool error and words',
  'test and words',
  'test',
  'tool error',
  'telling exception',
  'precedent',
  'telling rule and clear words',
  'telling rule and words',
  'rule and words',
  'inferred',
  'Java compiler',
  'exception',
  'contradicted',
  'rule',
  'words',
  'model',
] as const;
export const Route = z.enum(ROUTES);
export type Route = z.infer<typeof Route>;

/** An answer whose truth is known: its route, its confidence, and whether it was right. */
export interface RouteOutcome {
  readonly route: Route;
  readonly stated: number;
  readonly right: boolean;
  /** The number of answers that it represents. 1 if absent. */
  readonly weight?: number;
  /** The probability that it was wrong although it counts as right. Absent if a person or a label decided. */
  readonly doubt?: number;
}

/** The known outcomes of one route. */
const RouteStanding = z.object({
  route: Route,
  outcomes: z.number(),
  wrong: z.number(),
  /**
   * The highest share of wrong answers that is still possible if this route is published with those before
   * it.
   */
  upper: z.number(),
  /** True if the route may be published; never true if no outcome is known. */
  published: z.boolean(),
  /** The number of right outcomes that are still needed before it may be published. 0 if it already may. */
  missing: z.int(),
});
export type RouteStanding = z.infer<typeof RouteStanding>;

/** The routes that may be published so that at most this share of the published answers is wrong. */
export const PublishBound = z.object({
  maxWrong: z.number(),
  confidence: z.number(),
  routes: z.array(RouteStanding),
});
export type PublishBound = z.infer<typeof PublishBound>;

/** Explains to people why answers of this route are not published. */
export function boundReason({ routes }: PublishBound, route: Route): string {
  const standing = routes.find((other) => other.route === route);
  const { outcomes = 0, wrong = 0, missing = 0 } = standing ?? {};
  const known =
    Math.round(outcomes) === 0
      ? 'no answer like this was checked yet'
      : `${Math.round(wrong)} of ${Math.round(outcomes)} answers like this were wrong`;
  const more =
    standing === undefined
      ? ''
      : `; ${missing} more must be right before they are published without a person`;
  return `${known}${more}`;
}

/** The description of each route, to be read after "answers". */
export const ROUTE_WORDS: Readonly<Record<Route, string>> = {
  'tool error and words': "from a tool's error and the learned words",
  'test and words': 'from a failing test and the learned words',
  test: 'from a failing test',
  'tool error': "from a tool's error",
  'telling exception': 'from an exception that settles the cause',
  'telling rule and clear words': 'from a log line that settles the cause and clear words',
  'telling rule and words': 'from a log line that settles the cause and the learned words',
  precedent: 'that were right before, by what happened next',
  'rule and words': 'from a log line and the learned words',
  inferred: "inferred from a test or a tool's error",
  'Java compiler': 'from errors of the Java compiler',
  exception: 'from an exception',
  contradicted: 'with conflicting evidence',
  rule: 'from one log line',
  words: 'from the learned words alone',
  model: 'from a model alone',
};

/** The confidence with which the bound must hold. */
export const BOUND_CONFIDENCE = 0.9;
/**
 * The minimum number of outcomes from which a route must also keep to the bound by itself. A route with fewer
 * is pooled with those before it, if one more wrong answer would not make it worse than stated. This number
 * of right outcomes keeps to 3% by itself, even if each counts as 0.5% wrong.
 */
const ALONE_FROM = 110;
/** A route for which no release ships outcomes. It is skipped while an installation has too few. */
const LOCAL: Route = 'precedent';
/**
 * The last of the routes that are pooled and tested first. These routes rest on a structured witness that
 * itself names the category.
 */
const FIRST_TESTED: Route = 'telling exception';
/** The routes that rest on one line or on words alone. They are never published without a person. */
const UNFOUNDED: ReadonlySet<Route> = new Set(['rule', 'words']);
/** Tells whether answers of a route may be published. A route without known outcomes may not. */
export function isPublishedRoute({ routes }: PublishBound, route: Route): boolean {
  return routes.some((other) => other.route === route && other.published);
}

/**
 * Chooses the routes to publish by Learn then Test (Angelopoulos et al. 2021, arXiv 2110.01052): those with
 * structured witnesses together, then one route more each time in the order of ROUTES. Each time the
 * one-sided Clopper-Pearson bound on the share of wrong answers among all that would be published is tested,
 * until the first failure. The fixed sequence needs no correction for several tests. A route that joins the
 * structured ones must be no worse by itself than stated, even with one more wrong answer. A route whose
 * outcomes only an installation has is passed over, and not published, while they are too few to pass. That
 * depends only on their number and takes no test. Only outcomes from `floor` on count: others are not
 * published. The route `model` is tested by itself, since outcomes of the rules say nothing about a model.
 * Weighted outcomes count as many as they are worth (Kish).
 */
export function choosePublished(
  outcomes: readonly RouteOutcome[],
  { maxWrong, floor }: { maxWrong: number; floor: number },
): PublishBound {
  const risk = { most: maxWrong, confidence: BOUND_CONFIDENCE };
  const known = outcomes.filter(({ stated, route }) => stated >= floor && !UNFOUNDED.has(route));
  let pool: Tally = { size: 0, wrong: 0 };
  let isOpen = true;
  let isTested = false;
  const pending: RouteStanding[] = [];
  const waiting: RouteStanding[] = [];
  const routes: RouteStanding[] = [];
  for (const route of ROUTES.filter((name) => !UNFOUNDED.has(name) && name !== 'model')) {
    const answers = known.filter((routeOutcome) => routeOutcome.route === route);
    const tally = countTally(answers);
    const within = isOpen ? { size: pool.size + tally.size, wrong: pool.wrong + tally.wrong } : tally;
    const upper = computeUpperShare(within.wrong, within.size, risk.confidence);
    const standing = {
      route,
      outcomes: tally.size,
      wrong: tally.wrong,
      upper,
      published: false,
      missing: Math.max(
        countMissing(within, risk),
        isFirstTested(route) ? 0 : countMissingAlone(tally, risk),
      ),
    };
    if (route === LOCAL && areTooFew(answers, risk)) {
      waiting.push(standing);
      continue;
    }
    if (isOpen) pool = within;
    pending.push(standing);
    isTested ||= route === FIRST_TESTED;
    if (!isOpen || !isTested) continue;
    isOpen = keeps(pool, risk) && pending.every((candidate) => mayJoin(candidate, risk));
    if (!isOpen) continue;
    for (const candidate of pending.splice(0))
      routes.push({ ...candidate, upper, published: candidate.outcomes > 0, missing: 0 });
  }
  const model = countTally(known.filter(({ route }) => route === 'model'));
  const isKept = keeps(model, risk);
  const alone = {
    route: 'model' as const,
    outcomes: model.size,
    wrong: model.wrong,
    upper: computeUpperShare(model.wrong, model.size, risk.confidence),
    published: isKept,
    missing: isKept ? 0 : countMissing(model, risk),
  };
  return { maxWrong, confidence: risk.confidence, routes: [...routes, ...waiting, ...pending, alone] };
}

/** Checks that a route by itself is no worse than stated, even with one more wrong answer. */
function mayJoin({ route, outcomes, wrong }: RouteStanding, risk: Risk): boolean {
  if (outcomes >= ALONE_FROM) return keeps({ size: outcomes, wrong }, risk);
  return isFirstTested(route) || outcomes === 0 || wrong + 1 <= risk.most * outcomes;
}

/** Tells whether a route could not be published even if all of its outcomes were right. */
function areTooFew(outcomes: readonly RouteOutcome[], risk: Risk): boolean {
  const { size, wrong } = countTally(outcomes.map(({ weight, ...rest }) => ({ ...rest, right: true })));
  return wrong + 1 > risk.most * size;
}

/** Counts how many right outcomes more a route needs by itself before it may join the others. */
function countMissingAlone({ size, wrong }: Tally, risk: Risk): number {
  if (size >= ALONE_FROM) return countMissing({ size, wrong }, risk);
  return risk.most === 0 ? MAX_MISSING : Math.max(0, Math.ceil((wrong + 1) / risk.most - size));
}

function isFirstTested(route: Route): boolean {
  return ROUTES.indexOf(route) <= ROUTES.indexOf(FIRST_TESTED);
}

interface Tally {
  readonly size: number;
  readonly wrong: number;
}

/** Counts weighted outcomes as the number of equal cases that they are worth (Kish 1965). */
function countTally(outcomes: readonly RouteOutcome[]): Tally {
  const sums = { weight: 0, squares: 0, wrong: 0 };
  for (const { right, weight = 1, doubt = 0 } of outcomes) {
    sums.weight += weight;
    sums.squares += weight ** 2;
    sums.wrong += right ? weight * doubt : weight;
  }
  if (sums.weight === 0) return { size: 0, wrong: 0 };
  const size = sums.weight ** 2 / sums.squares;
  return { size, wrong: (sums.wrong / sums.weight) * size };
}

function keeps({ wrong, size }: Tally, { most, confidence }: Risk): boolean {
  return computeUpperShare(wrong, size, confidence) <= most;
}

const MAX_MISSING = 1_000_000;

/**
 * Finds by binary search how many more right outcomes are needed to keep the risk. Returns `MAX_MISSING` if
 * the risk is zero.
 */
function countMissing({ wrong, size }: Tally, risk: Risk): number {
  let [low, high] = [0, MAX_MISSING];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (keeps({ wrong, size: size + middle }, risk)) high = middle;
    else low = middle + 1;
  }
  return low;
}
