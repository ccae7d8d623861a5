import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ShownAnalysis, shownAnalysis } from '../domain/analysis.ts';
import { TriageError } from '../domain/errors.ts';
import { LibraryEntry } from '../domain/library.ts';
import type { ScopedStores } from '../ports/stores.ts';
import { type BuildRouteDeps, registerBuildRoutes } from './build-routes.ts';
import { type ExportDeps, registerExportRoutes } from './export/export-routes.ts';
import { registerFlakyRoutes } from './flaky/flaky-routes.ts';
import { present } from './present.ts';
import { registerTraceRoute, type TraceRouteDeps } from './trace-route.ts';
import { FailureList, FailuresQuery, LibraryList, LibraryQuery } from './views.ts';

export interface PublishDeps extends BuildRouteDeps, TraceRouteDeps, Pick<ExportDeps, 'config'> {
  readonly stores: ScopedStores;
}

const Params = z.object({ id: z.string().min(1).max(300) });
const access = { access: { role: 'read' } } as const;

/** Answers out: builds, analyses, failures and what people taught. All of it needs the role `read` and changes nothing. */
export function registerPublishRoutes(app: FastifyInstance, deps: PublishDeps): void {
  registerBuildRoutes(app, deps);
  registerAnalysisRoute(app, deps);
  registerTraceRoute(app, deps);
  registerExportRoutes(app, deps);
  registerFailureRoute(app, deps);
  registerFlakyRoutes(app, deps);
  registerLibraryRoutes(app, deps);
}

function registerAnalysisRoute(app: FastifyInstance, { stores }: PublishDeps): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    '/api/analyses/:id',
    {
      config: access,
      schema: {
        tags: ['Analyses'],
        operationId: 'getAnalysis',
        summary: 'One analysis with its steps, evidence and usage',
        params: Params,
        response: { 200: ShownAnalysis },
      },
    },
    async ({ params: { id } }) => {
      const analysis = await stores.analyses.find(id);
      if (analysis === null) throw new TriageError('not-found', `There is no analysis ${id}.`);
      return shownAnalysis(analysis);
    },
  );
}

function registerFailureRoute(app: FastifyInstance, { stores }: PublishDeps): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    '/api/failures',
    {
      config: access,
      schema: {
        tags: ['Failures'],
        operationId: 'searchFailures',
        summary: 'Search failures, newest first',
        querystring: FailuresQuery,
        response: { 200: FailureList },
      },
    },
    async ({ query: { limit, offset, since, ...given } }) => {
      const filter = { ...present(given), ...(since !== undefined && { since: new Date(Math.max(0, Date.parse(since))).toISOString() }) };
      const items = await stores.failures.search(filter, { limit, offset });
      return { items, limit, offset, next: items.length < limit ? null : offset + limit };
    },
  );
}

function registerLibraryRoutes(app: FastifyInstance, { stores }: PublishDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get(
    '/api/library',
    {
      config: access,
      schema: {
        tags: ['Library'],
        operationId: 'listLibraryEntries',
        summary: 'Library entries, newest first',
        querystring: LibraryQuery,
        response: { 200: LibraryList },
      },
    },
    async ({ query: { limit, offset, withdrawn, flagged } }) => {
      const filter = { withdrawn: withdrawn === 'true', flagged: flagged === 'true' };
      const items = await stores.library.list({ limit, offset }, filter);
      return { items, limit, offset, next: items.length < limit ? null : offset + limit };
    },
  );
  typed.get(
    '/api/library/:id',
    {
      config: access,
      schema: {
        tags: ['Library'],
        operationId: 'getLibraryEntry',
        summary: 'One library entry',
        params: Params,
        response: { 200: LibraryEntry },
      },
    },
    async ({ params: { id } }) => {
      const entry = await stores.library.find(id);
      if (entry === null) throw new TriageError('not-found', `There is no library entry ${id}.`);
      return entry;
    },
  );
}
