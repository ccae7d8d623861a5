import { z } from 'zod';
import { Category } from '../domain/category.ts';
import { RecordedVersion } from '../domain/environment-record.ts';
import { Health, RepositoryHealth } from '../domain/health.ts';
import { type AnsweredCount, type DecidedCount, TopCause, WeekFigures } from '../domain/insights.ts';
import { omitUndefined, sumNumbers } from '../lib/collections.ts';
import { computeProportion } from '../lib/statistics.ts';
import type { Clock } from '../lib/time.ts';
import { createListSchema, pageQuery, queryInteger, takePage, toPage } from '../ports/database.ts';
import { findBuild, NarrowQuery } from '../service/answers/views.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { BuildParams } from './build-params.ts';
import { type ApiApp, route } from './route.ts';

interface InsightDeps {
  readonly stores: Pick<ScopedStores, 'builds' | 'health' | 'insights' | 'environments'>;
  readonly clock: Clock;
}

const TAG = 'Insights';
const repository = z.string().min(1).max(300);
const days = (standard: number) =>
  queryInteger(1, 366, standard).describe('Length of the period in UTC days');
const to = z.iso.date().optional().describe('Last day of the period. The default is today.');
/** The maximum number of branches of one repository. */
const MAX_BRANCHES = 200;
/** The period of the figures about accuracy. */
const YEAR = 365;

const Share = z.object({
  right: z.int(),
  decided: z.int(),
  share: z.number().nullable().describe('Null if nothing was decided'),
  low: z.number().describe('Lower end of the 95 % Wilson interval'),
  high: z.number(),
});
const Accuracy = z.object({
  days: z.int(),
  all: Share,
  categories: z.array(Share.extend({ category: Category })),
  levels: z.array(
    Share.extend({
      from: z.number().describe('Stated confidence from here, up to a tenth more'),
      answered: z.int().describe('Answers of this level, decided or not'),
    }),
  ),
});
const Environment = z.object({
  log: z.string(),
  versions: z.array(RecordedVersion.pick({ kind: true, name: true, version: true })),
  steps: z.array(z.object({ name: z.string(), seconds: z.number() })),
});

/** Registers the figures of the pages below `/insights` as JSON, and the recorded environment of a build. */
export function registerInsightRoutes(app: ApiApp, deps: InsightDeps): void {
  registerHealthRoutes(app, deps);
  registerAnswerRoutes(app, deps);
  app.get(
    '/api/builds/:id/environments',
    route(
      'read',
      'Builds',
      'listEnvironments',
      'The versions of packages, tools, actions and images that each log of a build shows',
      {
        params: BuildParams,
        querystring: NarrowQuery.extend(pageQuery),
        response: { 200: createListSchema(Environment) },
      },
    ),
    async ({ params: { id }, query: { limit, offset, ...narrow } }) => {
      const build = await findBuild(deps.stores.builds, id, narrow);
      const records = await deps.stores.environments.find(build.id);
      return takePage(
        records.map(({ log, versions, steps }) => ({ log, versions: [...versions], steps: [...steps] })),
        { limit, offset },
      );
    },
  );
}

function registerHealthRoutes(app: ApiApp, { stores, clock }: InsightDeps): void {
  const period = (last: string | undefined, length: number) => ({
    until: `${last ?? new Date(clock.now()).toISOString().slice(0, 10)}T23:59:59.999Z`,
    days: length,
  });
  app.get(
    '/api/insights/pipelines',
    route('read', TAG, 'listPipelineHealth', 'Health of pipelines, those with the most failed builds first', {
      description: 'Figures named `…Before` are of the period of the same length before.',
      querystring: z.strictObject({ repository: repository.optional(), days: days(7), to, ...pageQuery }),
      response: { 200: createListSchema(Health) },
    }),
    async ({ query: { limit, offset, to: last, days: length, ...within } }) =>
      takePage(
        await stores.health.pipelines({ ...period(last, length), ...omitUndefined(within) }, offset + limit),
        { limit, offset },
      ),
  );
  app.get(
    '/api/insights/repository',
    route(
      'read',
      TAG,
      'getRepositoryHealth',
      'Health of one repository: its branches, the jobs that failed, its days, and deployments',
      {
        querystring: z.strictObject({ repository, days: days(30), to }),
        response: { 200: RepositoryHealth },
      },
    ),
    async ({ query }) =>
      await stores.health.repository(
        { ...period(query.to, query.days), repository: query.repository },
        MAX_BRANCHES,
      ),
  );
}

function registerAnswerRoutes(app: ApiApp, { stores, clock }: InsightDeps): void {
  const period = (length: number, named: string | undefined) => ({
    until: new Date(clock.now()).toISOString(),
    days: length,
    ...omitUndefined({ repository: named }),
  });
  app.get(
    '/api/insights/causes',
    route('read', TAG, 'listTopCauses', 'Causes that cost the most hours of builds, the costliest first', {
      querystring: z.strictObject({ repository: repository.optional(), days: days(30), ...pageQuery }),
      response: { 200: createListSchema(TopCause) },
    }),
    async ({ query: { limit, offset, days: length, repository: named } }) =>
      toPage(await stores.insights.topCauses(period(length, named), limit, offset), { limit, offset }),
  );
  app.get(
    '/api/insights/cost',
    route('read', TAG, 'getCost', 'Cost and time of answers per week, oldest week first', {
      querystring: z.strictObject({
        repository: repository.optional(),
        weeks: queryInteger(1, 53, 12),
      }),
      response: { 200: z.object({ weeks: z.array(WeekFigures) }) },
    }),
    async ({ query: { weeks, repository: named } }) => ({
      weeks: await stores.insights.perWeek(period(weeks * 7, named)),
    }),
  );
  app.get(
    '/api/insights/accuracy',
    route(
      'read',
      TAG,
      'getAccuracy',
      'How often decided answers of a year were right, by category and by stated confidence',
      {
        querystring: z.strictObject({ repository: repository.optional() }),
        response: { 200: Accuracy },
      },
    ),
    async ({ query }) => {
      const year = period(YEAR, query.repository);
      return computeAccuracy(await stores.insights.decided(year), await stores.insights.answered(year));
    },
  );
}

function computeAccuracy(
  decided: readonly DecidedCount[],
  answered: readonly AnsweredCount[],
): z.infer<typeof Accuracy> {
  const findLevel = (at: number) => Math.min(9, Math.floor(at * 10));
  const levels = Array.from({ length: 10 }, (_, level) => ({
    from: level / 10,
    answered: sumNumbers(answered.filter(({ at }) => findLevel(at) === level).map(({ count }) => count)),
    ...computeShare(decided.filter(({ at }) => findLevel(at) === level)),
  }));
  const categories = Category.options.map((category) => ({
    category,
    ...computeShare(decided.filter((count) => count.category === category)),
  }));
  return { days: YEAR, all: computeShare(decided), categories, levels };
}

function computeShare(counts: readonly DecidedCount[]): z.infer<typeof Share> {
  const right = sumNumbers(counts.filter((count) => count.right).map(({ count }) => count));
  const { of, share, low, high } = computeProportion(right, sumNumbers(counts.map(({ count }) => count)));
  return { right, decided: of, share: of === 0 ? null : share, low, high };
}
