import { randomUUID } from 'node:crypto';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import fastify, { type FastifyInstance, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { App } from '../app/served-app.ts';
import type { Config } from '../config/schema.ts';
import { registerConsole, sendUnknownPage } from '../console/console.ts';
import type { ConsoleDeps } from '../console/console-deps.ts';
import { TriageError } from '../domain/errors.ts';
import { type McpRouteDeps, registerMcpRoutes } from '../mcp/routes.ts';
import type { KeptRuns } from '../ports/kept-runs.ts';
import { silentMetrics, silentTracer } from '../ports/telemetry.ts';
import { createProviders } from '../providers/registry.ts';
import { findBuild } from '../service/answers/views.ts';
import { followChanges } from '../service/changes.ts';
import { decideReview } from '../service/review/decide.ts';
import { decideInChat } from '../service/review/decide-in-chat.ts';
import { openReviewFor } from '../service/review/queue.ts';
import { enforceAccess } from './access.ts';
import { registerPublishRoutes } from './analysis-routes.ts';
import { describeApi, STRICT_CSP } from './api-description.ts';
import { registerAskRoutes } from './ask-routes.ts';
import { registerCauseRoutes } from './cause-routes.ts';
import { registerExperimentRoutes } from './experiment-routes.ts';
import { registerDeliveryRoute, registerIntakeRoutes } from './intake-routes.ts';
import { registerKnowledgeRoutes } from './knowledge-routes.ts';
import { createLimits, type Limits, refuseOtherSites } from './limits.ts';
import { registerNotificationRoutes } from './notification-routes.ts';
import { observeRequests, registerOperations } from './operations.ts';
import {
  answerUnrouted,
  createTooManyError,
  logAnswer,
  recordRefusal,
  refuse,
  refuseBroken,
  toFastifyLogger,
  type UnknownPages,
} from './refusal.ts';
import { registerRepositoryAskRoutes } from './repository-ask-routes.ts';
import { registerReviewRoutes } from './review-routes.ts';
import { followScope } from './scope.ts';
import {
  scopeArchive,
  scopeAsk,
  scopeChanges,
  scopeKeptRuns,
  scopeRepositoryAsk,
  scopeStores,
} from './scoped-stores.ts';
import { createSessions } from './sessions.ts';
import { registerSlackWebhook } from './slack-webhook.ts';
import { createTokenHolders } from './token-holders.ts';
import { registerTokenRoutes } from './token-routes.ts';
import { registerUploadScript } from './upload-script.ts';

const REQUEST_TIMEOUT_MS = 120_000;
/**
 * The time for which a request that is still arriving may delay shutdown, in milliseconds. The running
 * triages and the database are closed after that.
 */
const CLOSE_GRACE_MS = 2_000;
/**
 * The maximum length of a path parameter, such as the encoded URL of a build. The routes' own schemas allow
 * less.
 */
const MAX_PARAMETER = 2000;

/**
 * The parts of an `App` that the HTTP server needs. Without `uploadReaders`, uploads are decoded and read
 * immediately. Without `explainLog`, pasted logs are not explained to agents. Without `slack`, requests from
 * its buttons are refused. Without `metrics` or `tracer`, nothing is counted or traced.
 */
export interface HttpDeps extends Pick<App, NeededPart>, Partial<Pick<App, OptionalPart>> {
  readonly config: Pick<Config, 'http' | 'providers' | 'review'> & {
    readonly auth: Pick<Config['auth'], 'tokens'>;
  };
  /** The replays that were kept for comparison. If absent, none can be shown. */
  readonly keptRuns?: KeptRuns;
  /** Keeps settings that the console created; absent if they are configured elsewhere. */
  readonly keepSettings?: NonNullable<ConsoleDeps['keepSettings']>;
  /** Further routes, each with its `config.access`. */
  readonly routes?: readonly ((app: FastifyInstance) => Promise<void> | void)[];
}

type NeededPart =
  | ('stores' | 'database' | 'archive' | 'notifier' | 'vectorIndex' | 'knowledge')
  | ('masker' | 'ask' | 'repositoryAsk' | 'logger' | 'clock' | 'readiness');
type OptionalPart =
  | ('buildSources' | 'indexNow' | 'uploadReaders' | 'explainLog' | 'messengers' | 'slack')
  | ('metrics' | 'tracer' | 'currentStep' | 'unseen' | 'signIn');

/**
 * Builds the HTTP server, ready to listen. If a route has no `config.access`, the server does not start, so
 * that nothing is open by accident. Every error is answered as `{ error: { code, message } }` and logged; a
 * stack never reaches the client.
 */
export async function buildHttp(deps: HttpDeps): Promise<FastifyInstance> {
  const { config, messengers = {}, metrics = silentMetrics, tracer = silentTracer } = deps;
  const app = createServer(deps);
  const unrouted: UnknownPages = { unknown: null };
  const limits = await limitAndHarden(app, deps, unrouted);
  const holders = createTokenHolders({ ...deps, configured: config.auth.tokens, tokens: deps.stores.tokens });
  const sessions = createSessions(deps.stores.sessions, holders, config.http.publicUrl);
  refuseOtherSites(app, config.http.publicUrl);
  enforceAccess(app, { holders, sessions, count: limits.countHolder });
  const scope = followScope(app);
  app.addHook(
    'preClose',
    async () => void setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS).unref(),
  );
  app.addHook('onResponse', async (request, reply) => logAnswer(deps.logger, request, reply));
  observeRequests(app, { logger: deps.logger, metrics, tracer });
  await describeApi(app, config.http.publicUrl);
  registerUploadScript(app);
  registerOperations(app, { ...deps, metrics }, { metrics: { role: 'read' }, details: { role: 'read' } });
  await registerIntakeRoutes(app, { ...deps, settings: config });
  // Questions and decisions use stores that are limited to what the caller may see.
  const stores = scopeStores(deps.stores, scope);
  await app.register(async (part) => registerDeliveryRoute(part, { stores, settings: config }));
  // The configuration names the users who may decide in Slack; they may decide for every repository.
  const chat = { ...deps, publicUrl: config.http.publicUrl };
  const decideThere = { decide: decideInChat.bind(null, chat) };
  await app.register(async (part) => registerSlackWebhook(part, { ...deps, ...decideThere }));
  await app.register(async (part) => registerKnowledgeRoutes(part, deps));
  const holding = {
    stores,
    archive: scopeArchive(deps.archive, deps.stores, scope),
    ask: scopeAsk(deps.ask, { ...stores, builds: deps.stores.builds }, scope),
    repositoryAsk: scopeRepositoryAsk(deps.repositoryAsk, deps.stores, scope),
  };
  const reading = {
    ...deps,
    ...holding,
    messengers,
    publicUrl: config.http.publicUrl,
    undoMs: config.review.undoMs,
  };
  await app.register(async (part) => registerPublishRoutes(part, reading));
  await app.register(async (part) => registerCauseRoutes(part, reading));
  await app.register(async (part) => registerExperimentRoutes(part, reading));
  await app.register(async (part) => registerNotificationRoutes(part, reading));
  await app.register(async (part) => registerReviewRoutes(part, { ...reading, ...config.review }));
  const asking = { ...reading, findBuild: (id: string) => findBuild(stores.builds, id, {}) };
  await app.register(async (part) => registerAskRoutes(part, asking));
  await app.register(async (part) => registerRepositoryAskRoutes(part, asking));
  const decide: McpRouteDeps['decide'] = async ({ review, ...said }) =>
    await decideReview(reading, { ...said, reviewId: review.id, version: review.version });
  const openReview: McpRouteDeps['openReview'] = async (analysisId, by) =>
    await openReviewFor(reading, { analysisId, by });
  const agents = { ...reading, decide, openReview };
  await app.register(async (part) => registerMcpRoutes(part, agents));
  const configuredNames = config.auth.tokens.map(({ name }) => name);
  const tokens = {
    tokens: deps.stores.tokens,
    configuredNames,
    onRevoked: holders.forget,
    logger: deps.logger,
  };
  await app.register(async (part) => registerTokenRoutes(part, tokens));
  const refused: ConsoleDeps['refused'] = (thrown, request, reply) =>
    recordRefusal(thrown, request, reply, deps.logger);
  const pages = { providers: createProviders(config.providers), sessions, ...limits, refused };
  const changes = followChanges({ store: deps.stores.changes, logger: deps.logger });
  app.addHook('preClose', async () => changes.stop());
  const console = {
    ...asking,
    ...pages,
    changes: scopeChanges(changes, deps.stores, scope),
    keptRuns: scopeKeptRuns(deps.keptRuns, deps.stores, scope),
  };
  unrouted.unknown = async (request, reply) => await sendUnknownPage(request, reply, console);
  await app.register(async (part) => registerConsole(part, console));
  for (const register of deps.routes ?? []) await app.register(async (part) => register(part));
  await app.ready();
  return app;
}

/** Creates the server without routes: its limits, request IDs, and refusals of unreadable requests. */
function createServer({ config, logger }: Pick<HttpDeps, 'config' | 'logger'>) {
  const app = fastify({
    loggerInstance: toFastifyLogger(logger),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: config.http.maxBodyBytes,
    trustProxy: createTrustedProxies(config.http.trustProxy),
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAMETER },
    // Errors of the router itself, such as a broken URL, are answered like all others.
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply, logger),
    clientErrorHandler: (error, socket) => refuseBroken(error, socket, logger),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.removeContentTypeParser('text/plain');
  return app;
}

/**
 * Creates Fastify's proxy setting. A number counts hops from this server: the first hop is the direct peer.
 */
function createTrustedProxies(
  trust: Config['http']['trustProxy'],
): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof trust === 'number' ? (_address, hop) => hop < trust : trust;
}

async function limitAndHarden(app: FastifyInstance, deps: HttpDeps, unrouted: UnknownPages): Promise<Limits> {
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: STRICT_CSP },
    strictTransportSecurity: false,
  });
  await app.register(rateLimit, {
    max: deps.config.http.rateLimit,
    timeWindow: 60_000,
    errorResponseBuilder: (_request, context) =>
      createTooManyError('Too many requests from this address.', context.ttl),
  });
  const { tokenRateLimit, sourceRateLimit } = deps.config.http;
  const limits = createLimits(app, { perToken: tokenRateLimit, perSource: sourceRateLimit });
  app.setErrorHandler(async (error, request, reply) => {
    const isGuess = error instanceof TriageError && error.code === 'unauthenticated';
    const waitMs = isGuess ? await limits.countGuess(request) : null;
    const answer =
      waitMs === null
        ? error
        : createTooManyError('Too many invalid tokens or signatures from this address.', waitMs);
    return refuse(answer, request, reply, deps.logger);
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    // Routes whose responses may be cached set this header themselves, as static files do.
    reply.header('cache-control', 'no-store');
    if (request.protocol === 'https') reply.header('strict-transport-security', 'max-age=31536000');
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      throw new TriageError(
        'unsupported-type',
        `Content-Encoding ${encoding.slice(0, 50)} is not accepted. Send the body as it is; ` +
          'log files inside it may be gzip.',
      );
    }
  });
  answerUnrouted(app, unrouted);
  return limits;
}
