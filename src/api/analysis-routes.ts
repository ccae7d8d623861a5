import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ShownAnalysis, shownAnalysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { LibraryEntry } from '../domain/library.ts';
import { parseSearch, searchWords } from '../domain/search.ts';
import { present } from '../lib/collections.ts';
import { operation } from '../lib/openapi.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import { pageOf } from '../ports/database.ts';
import { ctrfOf, type Exported, sarifOf } from '../service/answers/export.ts';
import { AnalysisTrace, traceOf } from '../service/answers/trace.ts';
import {
  AmbiguousBuild,
  BuildAnalyses,
  BuildList,
  BuildsQuery,
  BuildView,
  ByNumberQuery,
  FailureList,
  FailuresQuery,
  findBuild,
  findByNumber,
  LibraryList,
  LibraryQuery,
  NarrowQuery,
  summaryOf,
  type TriageState,
} from '../service/answers/views.ts';
import type { ScopedStores, ShownStores } from '../stores/stores.ts';
import { registerFlakyRoutes } from './flaky-routes.ts';

interface PublishDeps extends BuildRouteDeps, TraceRouteDeps, Pick<ExportDeps, 'config'> {
  readonly clock: Clock;
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
        ...operation('Analyses', 'getAnalysis', 'One analysis with its steps, evidence and usage'),
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
        ...operation('Failures', 'searchFailures', 'Search failures, newest first'),
        querystring: FailuresQuery,
        response: { 200: FailureList },
      },
    },
    async ({ query: { limit, offset, since, text, q = '', ...given } }) => {
      const { words: wanted = [], ...searched } = parseSearch(q, Date.now()).filter;
      const words = [...wanted, ...searchWords(text ?? '')];
      const filter = {
        ...searched,
        ...present(given),
        ...(words.length > 0 && { words }),
        ...(since !== undefined && { since: new Date(Math.max(0, Date.parse(since))).toISOString() }),
      };
      const items = await stores.failures.search(filter, { limit, offset });
      return pageOf(items, { limit, offset });
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
        ...operation('Library', 'listLibraryEntries', 'Library entries, newest first'),
        querystring: LibraryQuery,
        response: { 200: LibraryList },
      },
    },
    async ({ query: { limit, offset, withdrawn, flagged } }) => {
      const filter = { withdrawn: withdrawn === 'true', flagged: flagged === 'true' };
      const items = await stores.library.list({ limit, offset }, filter);
      return pageOf(items, { limit, offset });
    },
  );
  typed.get(
    '/api/library/:id',
    {
      config: access,
      schema: { ...operation('Library', 'getLibraryEntry', 'One library entry'), params: Params, response: { 200: LibraryEntry } },
    },
    async ({ params: { id } }) => {
      const entry = await stores.library.find(id);
      if (entry === null) throw new TriageError('not-found', `There is no library entry ${id}.`);
      return entry;
    },
  );
}

interface BuildRouteDeps {
  readonly stores: Pick<ShownStores, 'builds' | 'triages' | 'analyses'>;
  /** Names the graph's node that works on the build now, where it can be known. */
  readonly currentStep?: (buildId: string) => Promise<string | null>;
}

const BuildParams = z.object({ id: z.string().min(1).max(300).describe('Our id, or `provider:number` such as `github:812`') });
/** Most answers come within seconds. */
const RETRY_AFTER_SECONDS = 2;

/** Builds by our id or by their CI's number, with how far their triage is. */
function registerBuildRoutes(app: FastifyInstance, deps: BuildRouteDeps): void {
  registerList(app, deps);
  registerByNumber(app, deps);
  registerOne(app, deps);
  registerAnalyses(app, deps);
}

function registerByNumber(app: FastifyInstance, deps: BuildRouteDeps): void {
  const schema = {
    ...operation('Builds', 'findBuildByNumber', "One build by its CI's number"),
    querystring: ByNumberQuery,
    response: { 200: BuildView, 409: AmbiguousBuild },
  };
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/api/builds/by-number',
      { config: access, errorHandler: answerAmbiguity, schema },
      async ({ query }, reply) => await viewOf(deps, await findByNumber(deps.stores.builds, query), reply),
    );
}

function registerOne(app: FastifyInstance, deps: BuildRouteDeps): void {
  const response = { 200: BuildView, 409: AmbiguousBuild };
  const schema = {
    ...operation('Builds', 'getBuild', 'One build and the progress of its triage'),
    params: BuildParams,
    querystring: NarrowQuery,
    response,
  };
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/api/builds/:id',
      { config: access, errorHandler: answerAmbiguity, schema },
      async ({ params: { id }, query }, reply) => await viewOf(deps, await findBuild(deps.stores.builds, id, query), reply),
    );
}

function registerAnalyses(app: FastifyInstance, deps: BuildRouteDeps): void {
  const response = { 200: BuildAnalyses, 409: AmbiguousBuild };
  const schema = {
    ...operation('Builds', 'listBuildAnalyses', 'The answers for one build'),
    params: BuildParams,
    querystring: NarrowQuery,
    response,
  };
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/api/builds/:id/analyses',
      { config: access, errorHandler: answerAmbiguity, schema },
      async ({ params: { id }, query }, reply) => {
        const build = await findBuild(deps.stores.builds, id, query);
        const triage = await triageState(deps, build.id, reply);
        return { buildId: build.id, triage, analyses: (await deps.stores.analyses.listByBuild(build.id)).map(shownAnalysis) };
      },
    );
}

async function viewOf(deps: BuildRouteDeps, build: Build, reply: FastifyReply) {
  const [triage, analyses] = await Promise.all([triageState(deps, build.id, reply), deps.stores.analyses.listByBuild(build.id)]);
  return { build, triage, analyses: analyses.map(summaryOf) };
}

function registerList(app: FastifyInstance, { stores }: BuildRouteDeps): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    '/api/builds',
    {
      config: access,
      schema: { ...operation('Builds', 'listBuilds', 'Builds, newest first'), querystring: BuildsQuery, response: { 200: BuildList } },
    },
    async ({ query: { limit, offset, ...given } }) => {
      const items = await stores.builds.list(present(given), { limit, offset });
      return pageOf(items, { limit, offset });
    },
  );
}

/** An error handler of routes that take a build's number: an ambiguous one is answered with the builds that bear it. */
function answerAmbiguity(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof TriageError) || error.code !== 'conflict') throw error;
  const { code, message, details } = error;
  reply.code(409).send({ error: { code, message, requestId: request.id, details } });
}

/** Also tells the caller when to ask again, while there is something to wait for. */
async function triageState({ stores, currentStep }: BuildRouteDeps, buildId: string, reply: FastifyReply): Promise<TriageState | null> {
  const job = await stores.triages.findByBuild(buildId);
  if (job === null) return null;
  const waiting = job.state === 'queued' || job.state === 'running';
  if (waiting) reply.header('retry-after', RETRY_AFTER_SECONDS);
  const { state, attempts, error, createdAt, updatedAt } = job;
  const step = job.state === 'running' ? ((await currentStep?.(buildId)) ?? null) : null;
  return { state, attempts, error, createdAt, updatedAt, step };
}

interface TraceRouteDeps {
  readonly stores: Pick<ShownStores, 'analyses'>;
  readonly masker: Pick<Masker, 'mask'>;
}

/** How an analysis came to its answer. An analysis never changes, so who asks again is told so (ETag). */
function registerTraceRoute(app: FastifyInstance, { stores, masker }: TraceRouteDeps): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    '/api/analyses/:id/trace',
    {
      config: access,
      schema: {
        ...operation(
          'Analyses',
          'getAnalysisTrace',
          'Every step, judgment and tool call of one analysis, with time, tokens, cost, cache hits and retries',
        ),
        params: Params,
        response: { 200: AnalysisTrace, 304: z.null().describe('The trace still matches the ETag in If-None-Match') },
      },
    },
    async ({ params: { id }, headers }, reply) => {
      const analysis = await stores.analyses.find(id);
      if (analysis === null) throw new TriageError('not-found', `There is no analysis ${id}.`);
      const trace = await traceOf(analysis, async (text) => (await masker.mask(text)).text);
      const tag = `"${createHash('sha256').update(JSON.stringify(trace)).digest('base64url').slice(0, 27)}"`;
      reply.header('etag', tag).header('cache-control', 'private, no-cache');
      if (headers['if-none-match']?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag) === true) {
        return reply.code(304).send(null);
      }
      return trace;
    },
  );
}

interface ExportDeps {
  readonly stores: Pick<ShownStores, 'builds' | 'analyses' | 'failures'>;
  readonly config: { readonly http: { readonly publicUrl: string | null } };
}

const Json = z.record(z.string(), z.unknown());

const FORMATS = {
  sarif: {
    operationId: 'exportBuildAsSarif',
    summary: 'The answers for one build as SARIF 2.1.0, for code scanning and editors',
    type: 'application/sarif+json',
    write: sarifOf,
  },
  ctrf: {
    operationId: 'exportBuildAsCtrf',
    summary: 'What failed in one build, with the causes, as a CTRF report',
    type: 'application/json',
    write: ctrfOf,
  },
} as const;

/** One build in formats that other tools read. */
function registerExportRoutes(app: FastifyInstance, deps: ExportDeps): void {
  for (const [name, { operationId, summary, type, write }] of Object.entries(FORMATS)) {
    const response = {
      200: { description: 'See the published schema of the format', content: { [type]: { schema: Json } } },
      409: AmbiguousBuild,
    };
    const schema = { ...operation('Builds', operationId, summary), params: BuildParams, querystring: NarrowQuery, response };
    app
      .withTypeProvider<ZodTypeProvider>()
      .get(
        `/api/builds/:id/${name}`,
        { config: access, errorHandler: answerAmbiguity, schema },
        async ({ params: { id }, query }, reply) => {
          const exported = await read(deps, id, query);
          return reply
            .type(`${type}; charset=utf-8`)
            .serializer(JSON.stringify)
            .send({ ...write(exported) });
        },
      );
  }
}

async function read({ stores, config }: ExportDeps, id: string, narrow: z.infer<typeof NarrowQuery>): Promise<Exported> {
  const build = await findBuild(stores.builds, id, narrow);
  const [analyses, failures] = await Promise.all([stores.analyses.listByBuild(build.id), stores.failures.listByBuild(build.id)]);
  return { build, analyses, failures, publicUrl: config.http.publicUrl };
}
