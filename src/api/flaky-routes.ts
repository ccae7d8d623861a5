import { z } from 'zod';
import type { TestFlakiness } from '../domain/flakiness.ts';
import { append, omitUndefined } from '../lib/collections.ts';
import type { Clock } from '../lib/time.ts';
import { pageQuery, queryInteger, toPage } from '../ports/database.ts';
import {
  FlakyTest,
  formatAsCsv,
  formatAsJunitNames,
  formatAsNames,
  formatFlakyTest,
  QuarantineRequest,
  quarantineTest,
} from '../service/answers/flaky.ts';
import { requireReviewer } from '../service/review/queue.ts';
import type { FlakinessFilter } from '../stores/flakiness.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { type ApiApp, route } from './route.ts';

interface FlakyRouteDeps {
  readonly stores: Pick<ScopedStores, 'flakiness'>;
  readonly clock: Clock;
}

/** The maximum number of tests in a list that is not JSON. Longer lists are cut. */
const MAX_LISTED = 2_000;
/** The number of tests that are read from the store at once. */
const BATCH_SIZE = 200;

const Query = z.strictObject({
  repository: z.string().min(1).max(300).optional(),
  test: z.string().min(1).max(2000).optional(),
  minFlakes: queryInteger(1, 100, 1).describe(
    'Minimum number of flakes among the newest runs of a test. Ignored if `quarantined` is true.',
  ),
  quarantined: z
    .enum(['true', 'false'])
    .optional()
    .transform((value) => (value === undefined ? undefined : value === 'true'))
    .describe('If true, lists quarantined tests, flaky or not. If false or absent, lists flaky tests.'),
  format: z
    .enum(['json', 'csv', 'junit-names', 'text'])
    .default('json')
    .describe(`Every format but json ignores limit and offset and returns up to ${MAX_LISTED} tests.`),
  ...pageQuery,
});

const FlakyList = z.object({
  items: z.array(FlakyTest),
  limit: z.int(),
  offset: z.int(),
  next: z.int().nullable(),
});

const TEXT_FORMATS = {
  csv: { type: 'text/csv; charset=utf-8; header=present', write: formatAsCsv },
  'junit-names': { type: 'text/plain; charset=utf-8', write: formatAsJunitNames },
  text: { type: 'text/plain; charset=utf-8', write: formatAsNames },
} as const;

/**
 * Registers the routes for flaky tests and their quarantine. Quarantine only suppresses notifications:
 * failures stay in answers and lists.
 */
export function registerFlakyRoutes(app: ApiApp, { stores, clock }: FlakyRouteDeps): void {
  app.post(
    '/api/flaky-tests/quarantine',
    route(
      'review',
      'Tests',
      'quarantineTest',
      'Quarantine a test for a number of days, which suppresses its notifications, or end its quarantine',
      {
        body: QuarantineRequest,
        response: { 200: FlakyTest },
      },
    ),
    async (request) =>
      formatFlakyTest(await quarantineTest({ stores, clock }, request.body, requireReviewer(request))),
  );
  app.get(
    '/api/flaky-tests',
    route(
      'read',
      'Tests',
      'listFlakyTests',
      'List flaky tests, highest flake rate first, or quarantined tests, soonest to end first. Formats: JSON, ' +
        'CSV, and plain lists of names.',
      {
        querystring: Query,
        response: {
          200: {
            description: 'The list in the requested format',
            content: {
              'application/json': { schema: FlakyList },
              'text/csv': { schema: z.string() },
              'text/plain': { schema: z.string() },
            },
          },
        },
      },
    ),
    async ({ query: { format, limit, offset, ...filterFields } }, reply) => {
      const filter = omitUndefined(filterFields);
      if (format !== 'json') {
        const { type, write } = TEXT_FORMATS[format];
        return await reply.type(type).send(write(await listAll(stores, filter)));
      }
      const items = (await stores.flakiness.list(filter, { limit, offset })).map(formatFlakyTest);
      return toPage(items, { limit, offset });
    },
  );
}

async function listAll(stores: FlakyRouteDeps['stores'], filter: FlakinessFilter): Promise<TestFlakiness[]> {
  const tests: TestFlakiness[] = [];
  while (tests.length < MAX_LISTED) {
    const page = await stores.flakiness.list(filter, { limit: BATCH_SIZE, offset: tests.length });
    append(tests, page);
    if (page.length < BATCH_SIZE) break;
  }
  return tests;
}
