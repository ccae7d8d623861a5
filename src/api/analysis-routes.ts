import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { ShownAnalysis, toShownAnalysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { LibraryEntry } from '../domain/library.ts';
import { GradedAnswer } from '../domain/outcome.ts';
import { parseSearch, searchWords } from '../domain/search.ts';
import { Trust, type UnseenFigures } from '../domain/trust.ts';
import { withAgreedFix } from '../domain/whose.ts';
import { omitUndefined } from '../lib/collections.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import { toPage } from '../ports/database.ts';
import { buildCodeQualityReport, buildCtrfReport, buildSarifLog } from '../service/answers/export.ts';
import { Outcomes, readOutcomes } from '../service/answers/outcomes.ts';
import { AnalysisTrace, buildTrace } from '../service/answers/trace.ts';
import { readTrust, type TrustDeps } from '../service/answers/trust.ts';
import {
  AmbiguousBuild,
  AnalysisSummary,
  BuildAnalyses,
  BuildList,
  BuildsQuery,
  BuildView,
  ByNumberQuery,
  FailureList,
  FailuresQuery,
  findBuild,
  findByNumber,
  getAnsweredAnalysis,
  LibraryList,
  LibraryQuery,
  NarrowQuery,
  readBuildAnswers,
  type TriageState,
  toAnalysisSummary,
} from '../service/answers/views.ts';
import { findShownWhose } from '../service/answers/whose.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { BuildParams } from './build-params.ts';
import { registerDeploymentRoutes } from './deployment-routes.ts';
import { registerFlakyRoutes } from './flaky-routes.ts';
import { registerInsightRoutes } from './insight-routes.ts';
import { type ApiApp, requireFound, route } from './route.ts';

interface PublishDeps {
  readonly clock: Clock;
  readonly stores: ScopedStores;
  readonly masker: Pick<Masker, 'mask'>;
  readonly config: TrustDeps['config'] & { readonly http: { readonly publicUrl: string | null } };
  readonly unseen?: readonly UnseenFigures[];
  /** Names the node of the graph that works on the build now, if it is known. */
  readonly currentStep?: (buildId: string) => Promise<string | null>;
}

const AnalysisWithWhose = ShownAnalysis.extend({
  whose: AnalysisSummary.shape.whose,
  outcome: GradedAnswer.nullable().describe('Null if no build has passed since'),
});

const Params = z.object({ id: z.string().min(1).max(300) });
/**
 * A build by its id here or its number in the CI. If several builds have the number, the response lists them.
 */
const oneBuild = { params: BuildParams, querystring: NarrowQuery };

/**
 * Registers the routes that read builds, analyses, failures and the lessons from reviews. All of them need
 * the role `read` and change nothing.
 */
export function registerPublishRoutes(app: ApiApp, deps: PublishDeps): void {
  registerBuildRoutes(app, deps);
  registerAnalysisRoutes(app, deps);
  registerExportRoutes(app, deps);
  registerFailureRoute(app, deps);
  registerFlakyRoutes(app, deps);
  registerDeploymentRoutes(app, deps);
  registerLibraryRoutes(app, deps);
  registerTrustRoute(app, deps);
  registerOutcomesRoute(app, deps);
  registerInsightRoutes(app, deps);
}

const TrustQuery = z.strictObject({ repository: z.string().min(1).max(300).optional() });

/** Registers the figures of `/insights/trust`. */
function registerTrustRoute(app: ApiApp, deps: PublishDeps): void {
  app.get(
    '/api/trust',
    route(
      'read',
      'Insights',
      'getTrust',
      'What would be published at which threshold, how often it was right, and what the latest changes did',
      {
        querystring: TrustQuery,
        response: { 200: Trust },
      },
    ),
    async ({ query }) => (await readTrust(deps, omitUndefined(query))).trust,
  );
}

/** Registers the figures of how often answers were right, as the page Trust shows it. */
function registerOutcomesRoute(app: ApiApp, deps: PublishDeps): void {
  const summary = 'How often answers were right, by what happened next and by what people decided';
  app.get(
    '/api/outcomes',
    route('read', 'Insights', 'getOutcomes', summary, {
      querystring: TrustQuery,
      response: { 200: Outcomes },
    }),
    async ({ query }) => await readOutcomes(deps, omitUndefined(query)),
  );
}

function registerBuildRoutes(app: ApiApp, deps: PublishDeps): void {
  const { builds } = deps.stores;
  const readBuildView = async (build: Build, reply: FastifyReply) => {
    const [triage, answers] = await Promise.all([
      triageState(deps, build.id, reply),
      readBuildAnswers(deps.stores, build.id),
    ]);
    return { build, triage, analyses: answers.map(toAnalysisSummary) };
  };
  app.get(
    '/api/builds',
    route('read', 'Builds', 'listBuilds', 'Builds, newest first', {
      querystring: BuildsQuery,
      response: { 200: BuildList },
    }),
    async ({ query: { limit, offset, since, until, ...given } }) => {
      const filter = {
        ...omitUndefined(given),
        ...(since !== undefined && { since: toIsoTime(since) }),
        ...(until !== undefined && { until: toIsoTime(until) }),
      };
      return toPage(await builds.list(filter, { limit, offset }), { limit, offset });
    },
  );
  app.get(
    '/api/builds/by-number',
    route('read', 'Builds', 'findBuildByNumber', "One build by its CI's number or run id", {
      querystring: ByNumberQuery,
      response: { 200: BuildView, 409: AmbiguousBuild },
    }),
    async ({ query }, reply) => await readBuildView(await findByNumber(builds, query), reply),
  );
  app.get(
    '/api/builds/:id',
    route('read', 'Builds', 'getBuild', 'One build and the progress of its triage', {
      ...oneBuild,
      response: { 200: BuildView, 409: AmbiguousBuild },
    }),
    async ({ params: { id }, query }, reply) =>
      await readBuildView(await findBuild(builds, id, query), reply),
  );
  app.get(
    '/api/builds/:id/analyses',
    route('read', 'Builds', 'listBuildAnalyses', 'The answers for one build', {
      ...oneBuild,
      response: { 200: BuildAnalyses, 409: AmbiguousBuild },
    }),
    async ({ params: { id }, query }, reply) => {
      const build = await findBuild(builds, id, query);
      const triage = await triageState(deps, build.id, reply);
      return {
        buildId: build.id,
        triage,
        analyses: (await readBuildAnswers(deps.stores, build.id)).map(getAnsweredAnalysis),
      };
    },
  );
}

/** The delay after which a client should ask again, in seconds. Most answers are ready within seconds. */
const RETRY_AFTER_SECONDS = 2;

/** Returns the state of a triage. While it is open, sets the header that says when to ask again. */
async function triageState(
  { stores, currentStep }: PublishDeps,
  buildId: string,
  reply: FastifyReply,
): Promise<TriageState | null> {
  const job = await stores.triages.findByBuild(buildId);
  if (job === null) return null;
  const waiting = job.state === 'queued' || job.state === 'running';
  if (waiting) reply.header('retry-after', RETRY_AFTER_SECONDS);
  const { state, attempts, error, createdAt, updatedAt } = job;
  const step = job.state === 'running' ? ((await currentStep?.(buildId)) ?? null) : null;
  return { state, attempts, error, createdAt, updatedAt, step };
}

function registerAnalysisRoutes(app: ApiApp, { stores, masker }: PublishDeps): void {
  app.get(
    '/api/analyses/:id',
    route('read', 'Analyses', 'getAnalysis', 'One analysis with its steps, evidence and usage', {
      params: Params,
      response: { 200: AnalysisWithWhose },
    }),
    async ({ params: { id } }) => {
      const analysis = requireFound(await stores.analyses.find(id), `analysis ${id}`);
      const answers = await readBuildAnswers(stores, analysis.buildId);
      const whose = answers.find((answer) => answer.analysis.id === id)?.whose ?? null;
      const outcome = await stores.grades.find(id);
      return { ...toShownAnalysis(withAgreedFix(analysis, whose)), whose: findShownWhose(whose), outcome };
    },
  );
  const summary =
    'Every step, judgment and tool call of one analysis, with time, tokens, cost, cache hits and retries';
  app.get(
    '/api/analyses/:id/trace',
    route('read', 'Analyses', 'getAnalysisTrace', summary, {
      params: Params,
      response: {
        200: AnalysisTrace,
        304: z.null().describe('The trace still matches the ETag in If-None-Match'),
      },
    }),
    async ({ params: { id }, headers }, reply) => {
      const analysis = requireFound(await stores.analyses.find(id), `analysis ${id}`);
      const trace = await buildTrace(analysis, async (text) => (await masker.mask(text)).text);
      // An analysis never changes.
      const tag = `"${createHash('sha256').update(JSON.stringify(trace)).digest('base64url').slice(0, 27)}"`;
      reply.header('etag', tag).header('cache-control', 'private, no-cache');
      const isKnown =
        headers['if-none-match']
          ?.split(',')
          .some((entityTag) => entityTag.trim().replace(/^W\//, '') === tag) === true;
      return isKnown ? reply.code(304).send(null) : trace;
    },
  );
}

const Json = z.record(z.string(), z.unknown());
const SARIF = 'The answers for one build as SARIF 2.1.0, for code scanning and editors';
const CTRF = 'What failed in one build, with the causes, as a CTRF report';
const CODE_QUALITY = 'The causes of one build at their places, as a code quality report of GitLab';
const FORMATS = [
  {
    name: 'sarif',
    operationId: 'exportBuildAsSarif',
    summary: SARIF,
    type: 'application/sarif+json',
    shape: Json,
    write: buildSarifLog,
  },
  {
    name: 'ctrf',
    operationId: 'exportBuildAsCtrf',
    summary: CTRF,
    type: 'application/json',
    shape: Json,
    write: buildCtrfReport,
  },
  {
    name: 'code-quality',
    operationId: 'exportBuildAsCodeQuality',
    summary: CODE_QUALITY,
    type: 'application/json',
    shape: z.array(Json),
    write: buildCodeQualityReport,
  },
];

/** Registers one build in formats that other tools read. */
function registerExportRoutes(app: ApiApp, { stores, config: { http } }: PublishDeps): void {
  for (const { name, operationId, summary, type, shape, write } of FORMATS) {
    const exported = {
      description: 'See the published schema of the format',
      content: { [type]: { schema: shape } },
    };
    app.get(
      `/api/builds/:id/${name}`,
      route('read', 'Builds', operationId, summary, {
        ...oneBuild,
        response: { 200: exported, 409: AmbiguousBuild },
      }),
      async ({ params, query }, reply) => {
        const build = await findBuild(stores.builds, params.id, query);
        const [answers, failures] = await Promise.all([
          readBuildAnswers(stores, build.id),
          stores.failures.listByBuild(build.id),
        ]);
        const report = write({ build, answers, failures, publicUrl: http.publicUrl });
        return reply
          .type(`${type}; charset=utf-8`)
          .serializer(JSON.stringify)
          .send(Array.isArray(report) ? report.map((finding) => ({ ...finding })) : { ...report });
      },
    );
  }
}

/** Converts a time from a query string to the form that stores expect. */
function toIsoTime(given: string): string {
  return new Date(Math.max(0, Date.parse(given))).toISOString();
}

function registerFailureRoute(app: ApiApp, { stores }: PublishDeps): void {
  app.get(
    '/api/failures',
    route('read', 'Failures', 'searchFailures', 'Search failures, newest first', {
      querystring: FailuresQuery,
      response: { 200: FailureList },
    }),
    async ({ query: { limit, offset, since, text, q = '', ...given } }) => {
      const { words: wanted = [], ...searched } = parseSearch(q, Date.now()).filter;
      const words = [...wanted, ...searchWords(text ?? '')];
      const filter = {
        ...searched,
        ...omitUndefined(given),
        ...(words.length > 0 && { words }),
        ...(since !== undefined && { since: toIsoTime(since) }),
      };
      return toPage(await stores.failures.search(filter, { limit, offset }), { limit, offset });
    },
  );
}

function registerLibraryRoutes(app: ApiApp, { stores }: PublishDeps): void {
  app.get(
    '/api/library',
    route('read', 'Library', 'listLibraryEntries', 'Library entries, newest first', {
      querystring: LibraryQuery,
      response: { 200: LibraryList },
    }),
    async ({ query: { limit, offset, withdrawn, flagged } }) => {
      const filter = { withdrawn: withdrawn === 'true', flagged: flagged === 'true' };
      return toPage(await stores.library.list({ limit, offset }, filter), { limit, offset });
    },
  );
  app.get(
    '/api/library/:id',
    route('read', 'Library', 'getLibraryEntry', 'One library entry', {
      params: Params,
      response: { 200: LibraryEntry },
    }),
    async ({ params: { id } }) => requireFound(await stores.library.find(id), `library entry ${id}`),
  );
}
