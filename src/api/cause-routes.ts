import { z } from 'zod';
import { Cause, CauseChange, CauseEvent, CauseList } from '../domain/cause.ts';
import type { Clock } from '../lib/time.ts';
import { createListSchema, pageQuery, takePage, toPage } from '../ports/database.ts';
import { changeCause } from '../service/causes.ts';
import { requireReviewer } from '../service/review/queue.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { type ApiApp, route } from './route.ts';

interface CauseRouteDeps {
  readonly stores: Pick<ScopedStores, 'causes'>;
  readonly clock: Clock;
}

const name = z.string().min(1).max(300);
const Query = z.strictObject({
  list: CauseList.default('open').describe('open: not fixed and not muted; red: on a default branch now'),
  repository: name.optional(),
  ...pageQuery,
});
const Key = z.strictObject({ repository: name, fingerprint: name });
const Body = Key.extend({
  version: z.int().min(1).max(2_147_483_647).describe('The version that was read'),
  change: CauseChange,
});
const MAX_EVENTS = 100;

/** Registers the routes that show the status of causes and change it. */
export function registerCauseRoutes(app: ApiApp, { stores, clock }: CauseRouteDeps): void {
  app.get(
    '/api/causes',
    route('read', 'Causes', 'listCauses', 'Causes by state, red ones first', {
      querystring: Query,
      response: { 200: createListSchema(Cause) },
    }),
    async ({ query: { list, repository, limit, offset }, principal }) => {
      const filter = {
        list,
        assignee: principal?.name ?? '',
        ...(repository !== undefined && { repository }),
      };
      return toPage(await stores.causes.list(filter, { limit, offset }), { limit, offset });
    },
  );
  app.get(
    '/api/causes/events',
    route('read', 'Causes', 'listCauseEvents', 'The history of a cause, newest first', {
      querystring: Key.extend(pageQuery),
      response: { 200: createListSchema(CauseEvent) },
    }),
    async ({ query: { limit, offset, ...key } }) =>
      takePage(await stores.causes.events(key, MAX_EVENTS), { limit, offset }),
  );
  app.post(
    '/api/causes',
    route('review', 'Causes', 'changeCause', 'Acknowledge, assign, mute, fix or link a cause', {
      description: '409 if it changed since `version`.',
      body: Body,
      response: { 200: Cause },
    }),
    async (request) => await changeCause({ stores, clock }, request.body, requireReviewer(request)),
  );
}
