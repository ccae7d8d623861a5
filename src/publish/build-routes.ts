import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { shownAnalysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { present } from '../lib/present.ts';
import type { ShownStores } from '../ports/stores.ts';
import { summaryOf } from './analysis-summary.ts';
import { findBuild, findByNumber } from './find-build.ts';
import { AmbiguousBuild, BuildAnalyses, BuildList, BuildsQuery, BuildView, ByNumberQuery, NarrowQuery, type TriageState } from './views.ts';

export interface BuildRouteDeps {
  readonly stores: Pick<ShownStores, 'builds' | 'triages' | 'analyses'>;
  /** Names the graph's node that works on the build now, where it can be known. */
  readonly currentStep?: (buildId: string) => Promise<string | null>;
}

const Params = z.object({ id: z.string().min(1).max(300).describe('Our id, or `provider:number` such as `github:812`') });
const access = { access: { role: 'read' } } as const;
const tags = ['Builds'];
/** Most answers come within seconds. */
const RETRY_AFTER_SECONDS = 2;

/** Builds by our id or by their CI's number, with how far their triage is. */
export function registerBuildRoutes(app: FastifyInstance, deps: BuildRouteDeps): void {
  registerList(app, deps);
  registerByNumber(app, deps);
  registerOne(app, deps);
  registerAnalyses(app, deps);
}

function registerByNumber(app: FastifyInstance, deps: BuildRouteDeps): void {
  const schema = {
    tags,
    operationId: 'findBuildByNumber',
    summary: "One build by its CI's number",
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
    tags,
    operationId: 'getBuild',
    summary: 'One build and how far its triage is',
    params: Params,
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
    tags,
    operationId: 'listBuildAnalyses',
    summary: 'The answers for one build',
    params: Params,
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
      schema: { tags, operationId: 'listBuilds', summary: 'Builds, newest first', querystring: BuildsQuery, response: { 200: BuildList } },
    },
    async ({ query: { limit, offset, ...given } }) => {
      const items = await stores.builds.list(present(given), { limit, offset });
      return { items, limit, offset, next: items.length < limit ? null : offset + limit };
    },
  );
}

/** An error handler of routes that take a build's number: an ambiguous one is answered with the builds that bear it. */
export function answerAmbiguity(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
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
