import { z } from 'zod';
import type { TestFlakiness } from '../domain/flakiness.ts';
import { append, omitUndefined } from '../lib/collections.ts';
import type { Clock } from '../lib/time.ts';
import { pageQuery, queryInteger, toPage } from '../ports/database.ts';
import {
  FlakyTest,
  formatFlakyTest,
  QuarantineRequest,
  quarantineCsv,
  quarantineJunitNames,
  quarantineTest,
  quarantineText,
} from '../service/answers/flaky.ts';
import { requireReviewer } from '../service/review/queue.ts';
import type { FlakinessFilter } from '../stores/flakiness.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { type ApiApp, route } from './route.ts';

interface FlakyRouteDeps {
  readonly stores: Pick<ScopedStores, 'flakiness'>;
  readonly clock: Clock;
}

/** A list that a build reads is whole, up to so many tests. */
const MOST_LISTED = 2_000;
const PAGE = 200;

const Query = z.strictObject({
  repository: z.string().min(1).max(300).optional(),
  test: z.string().min(1).max(2000).optional(),
  minFlakes: queryInteger(1, 100, 1).describe(
    'Tests with at least as many flakes among their newest runs; ignored with `quarantined`',
  ),
  quarantined: z
    .enum(['true', 'false'])
    .optional()
    .transform((value) => (value === undefined ? undefined : value === 'true'))
    .describe('Tests in quarantine instead, flaky or not'),
  format: z
    .enum(['json', 'csv', 'junit-names', 'text'])
    .default('json')
    .describe(`Other than json: all tests, ${MOST_LISTED} at most`),
  ...pageQuery,
});

const FlakyList = z.object({
  items: z.array(FlakyTest),
  limit: z.int(),
  offset: z.int(),
  next: z.int().nullable(),
});

const TEXTS = {
  csv: { type: 'text/csv; charset=utf-8; header=present', write: quarantineCsv },
  'junit-names': { type: 'text/plain; charset=utf-8', write: quarantineJunitNames },
  text: { type: 'text/plain; charset=utf-8', write: quarantineText },
} as const;

/**
 * Registers the routes for tests that failed and passed without a change. A build may read the list to
 * quarantine them; Faultline itself hides no failure because of it.
 */
export function registerFlakyRoutes(app: ApiApp, { stores, clock }: FlakyRouteDeps): void {
  app.post(
    '/api/flaky-tests/quarantine',
    route(
      'review',
      'Tests',
      'quarantineTest',
      'Quarantine a test for some days, so that nobody is notified of its failures, or end its quarantine',
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
      'Flaky tests, the highest share of flakes first; also as CSV and as lists of names',
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
    async ({ query: { format, limit, offset, ...given } }, reply) => {
      const filter = omitUndefined(given);
      if (format !== 'json') {
        const { type, write } = TEXTS[format];
        return await reply.type(type).send(write(await listAll(stores, filter)));
      }
      const items = (await stores.flakiness.list(filter, { limit, offset })).map(formatFlakyTest);
      return toPage(items, { limit, offset });
    },
  );
}

async function listAll(stores: FlakyRouteDeps['stores'], filter: FlakinessFilter): Promise<TestFlakiness[]> {
  const all: TestFlakiness[] = [];
  while (all.length < MOST_LISTED) {
    const page = await stores.flakiness.list(filter, { limit: PAGE, offset: all.length });
    append(all, page);
    if (page.length < PAGE) break;
  }
  return all;
}
