import { z } from 'zod';
import { GradeCount } from '../../domain/graded.ts';
import { type InsightsFilter, TOO_FEW } from '../../domain/insights.ts';
import { type OutcomeGrade, QUESTIONS } from '../../domain/outcome.ts';
import { sumNumbers } from '../../lib/collections.ts';
import { computeProportion } from '../../lib/statistics.ts';
import type { Clock } from '../../lib/time.ts';
import type { ShownStores } from '../../stores/stores.ts';
import { TRUST_DAYS } from './trust.ts';

const End = z.number().nullable();
const Shares = z.object({
  right: z.int(),
  wrong: z.int(),
  doubtful: z.int().describe('What happened next does not tell; counts for nothing'),
  byPerson: z.int().describe('Of the right and wrong ones: a person decided, whose word wins'),
  low: End.describe(
    'Of the share that was right, the lower end of its 95 % interval; null if too few are known',
  ),
  high: End.describe('The upper end of that interval'),
});

/** The shares of right answers, by what happened next and by what people decided. */
export const Outcomes = z.object({
  questions: z.array(Shares.extend({ question: GradeCount.shape.question })),
  routes: z.array(Shares.extend({ route: GradeCount.shape.route })).describe('Of the category'),
  repositories: z
    .array(Shares.extend({ repository: z.string() }))
    .describe('Of the category; at most 100, those with most answers first'),
});
export type Outcomes = z.infer<typeof Outcomes>;

export interface OutcomeDeps {
  readonly stores: { readonly grades: Pick<ShownStores['grades'], 'counts'> };
  readonly clock: Clock;
}

const MAX_REPOSITORIES = 100;
const DAY_MS = 86_400_000;

/** Counts how often the answers of a year were right. */
export async function readOutcomes(
  { stores, clock }: OutcomeDeps,
  filter: InsightsFilter,
): Promise<Outcomes> {
  return summarizeGrades(await stores.grades.counts(toYear(clock, filter)));
}

/** Returns the period that counts: a year that ends today. */
export function toYear(clock: Clock, filter: InsightsFilter) {
  const until = new Date((Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS - 1).toISOString();
  return { ...filter, until, days: TRUST_DAYS };
}

/** Sums up counts of grades by question, and those of the category by route and repository. */
function summarizeGrades(counts: readonly GradeCount[]): Outcomes {
  const category = counts.filter(({ question }) => question === 'category');
  const routes = [...Map.groupBy(category, ({ route }) => route)];
  const repositories = [...Map.groupBy(category, ({ repository }) => repository)];
  return {
    questions: QUESTIONS.map((question) => ({
      question,
      ...toShares(counts.filter((entry) => entry.question === question)),
    })),
    routes: sortBySize(routes.map(([route, own]) => ({ route, ...toShares(own) }))),
    repositories: sortBySize(
      repositories.map(([repository, own]) => ({ repository, ...toShares(own) })),
    ).slice(0, MAX_REPOSITORIES),
  };
}

function toShares(counts: readonly GradeCount[]): z.infer<typeof Shares> {
  const sum = (isMeant: (count: GradeCount) => boolean) =>
    sumNumbers(counts.filter(isMeant).map(({ count }) => count));
  const by = (wanted: OutcomeGrade) => sum(({ grade }) => grade === wanted);
  const [right, wrong, doubtful] = [by('right'), by('wrong'), by('doubtful')];
  const { low, high } = computeProportion(right, right + wrong);
  const isEnough = right + wrong >= TOO_FEW;
  return {
    right,
    wrong,
    doubtful,
    byPerson: sum(({ byPerson }) => byPerson),
    low: isEnough ? low : null,
    high: isEnough ? high : null,
  };
}

function sortBySize<Row extends { readonly right: number; readonly wrong: number }>(
  rows: readonly Row[],
): Row[] {
  return rows.toSorted((entry, other) => other.right + other.wrong - entry.right - entry.wrong);
}
