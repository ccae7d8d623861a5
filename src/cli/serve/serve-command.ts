import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { buildOperations } from '../../api/operations.ts';
import { buildHttp, type HttpDeps } from '../../api/server.ts';
import { type App, createApp, createLogger } from '../../app.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import { systemClock } from '../../lib/time.ts';
import { type Logger, silentLogger } from '../../ports/telemetry.ts';
import { createProviders } from '../../providers/registry.ts';
import { startDeliveryProcessor } from '../../service/intake/delivery-processor.ts';
import { syncLibraryIndex } from '../../service/review/learn.ts';
import type { TokenStore } from '../../stores/access.ts';
import { type DemoService, runDemo } from '../demo/demo.ts';
import { createDemoClock, makeDemoCode } from '../demo/demo-week.ts';
import {
  getDataDirectory,
  getSecretsFile,
  type KeptSettings,
  keepSettings,
  readServedConfig,
  readStoreConfig,
  type ServedConfig,
} from '../settings.ts';
import { print, say } from '../terminal.ts';
import { writeMetricsTarget } from './metrics-target.ts';

export interface ServeCommandOptions {
  readonly data?: string;
  readonly port?: number;
  readonly demo?: boolean;
}

/** A server that is closed before the app. */
interface Closeable {
  close(): Promise<unknown>;
}

const DRAIN_MS = 20_000;

/**
 * Runs `faultline serve`: HTTP server and worker in one process, until Ctrl-C. Running triages then finish
 * and everything is closed.
 */
export async function runServe(options: ServeCommandOptions): Promise<void> {
  const startedAt = performance.now();
  const dataDir = getDataDirectory(options.data);
  const served = readServedConfig(dataDir);
  const { config } = served;
  const settings =
    options.port === undefined ? config : { ...config, http: { ...config.http, port: options.port } };
  // Users of the demo want to see the table, not log lines in between.
  const logger = await openLogger(
    options.demo && process.env.FAULTLINE_LOG_LEVEL === undefined ? 'warn' : settings.log.level,
    settings,
  );
  // The first start takes seconds and would look frozen without a message.
  if (config.database.driver === 'pglite' && !existsSync(config.database.dataDir))
    say(`creating a new database in ${dataDir} …`);
  const demo = options.demo
    ? { clock: createDemoClock(), code: await makeDemoCode(join(dataDir, 'demo-code')) }
    : null;
  const clones = { ...demo?.code.clones, ...settings.codeHost.clones };
  const app = await createApp(
    { ...settings, codeHost: { ...settings.codeHost, clones } },
    logger,
    demo?.clock ?? systemClock,
  );
  const servers: Closeable[] = [];
  const keeping =
    config.database.driver === 'pglite'
      ? { keepSettings: async (made: KeptSettings) => keepSettings(dataDir, made) }
      : {};
  const address = await stopOnFailure(app, servers, start(app, servers, keeping));
  const closing = closeOnSignals(app, servers, logger);
  await announce(address, served, dataDir, performance.now() - startedAt);
  if (takesUploadsOnly(config))
    say(
      'no webhook secret is set: builds can be uploaded (POST /api/builds); ' +
        'webhooks need FAULTLINE_GITHUB_WEBHOOK_SECRET or that of another provider',
    );
  if (demo !== null) await demonstrate(address, served, { ...demo, app });
  await closing;
}

/**
 * Does everything that can still fail before the address is printed. Adds each server to `servers` once it
 * exists.
 */
async function start(
  app: App,
  servers: Closeable[],
  keeping: Pick<HttpDeps, 'keepSettings'>,
): Promise<string> {
  const { host, port } = app.config.http;
  const { createKeptRuns } = await import('../../replay/compare/kept-runs.ts');
  const http = await buildHttp({ ...app, ...keeping, keptRuns: createKeptRuns(app.config.runs.folder) });
  servers.push(http);
  await requireToken(app.config, app.stores.tokens);
  const library = { library: app.stores.library, vectorIndex: app.vectorIndex, logger: app.logger };
  await Promise.all([
    app.runAtStartup('knowledge', () => app.loadKnowledge()),
    app.runAtStartup('error library', () => syncLibraryIndex(library)),
  ]);
  const address = await http.listen({ host, port }).catch((cause: unknown) => {
    throw new TriageError(
      'conflict',
      `Cannot listen on ${host}:${port}: ${getErrorMessage(cause)}. Use --port 0 for a free port.`,
      {
        cause,
      },
    );
  });
  if (app.config.jobQueue.inServe) await app.work();
  append(servers, await openWatching(app));
  return address;
}

/**
 * Closes everything that was opened if the start fails. A process that only seems to run would never be
 * restarted.
 */
async function stopOnFailure<Result>(
  app: App,
  servers: readonly Closeable[],
  starting: Promise<Result>,
): Promise<Result> {
  try {
    return await starting;
  } catch (error) {
    await stopService(app, servers, 0).catch((reason: unknown) =>
      app.logger.error({ error: reason }, 'closing failed'),
    );
    throw error;
  }
}

/**
 * Runs `faultline worker`: processes jobs without an HTTP server. Any number of workers can run if the stores
 * are separate services.
 */
export async function runWorker(options: { readonly data?: string }): Promise<void> {
  const config = readStoreConfig(getDataDirectory(options.data));
  const logger = await openLogger(config.log.level, config);
  const app = await createApp(config, logger);
  const servers: Closeable[] = [];
  await stopOnFailure(app, servers, startWork(app, servers));
  say('The worker is running. Press Ctrl-C to finish current jobs and stop.');
  await closeOnSignals(app, servers, logger);
}

async function startWork(app: App, servers: Closeable[]): Promise<void> {
  await app.runAtStartup('knowledge', () => app.loadKnowledge());
  await app.work();
  // Deliveries that a process with an HTTP server received before it crashed must still be processed.
  const processor = startDeliveryProcessor(app);
  servers.push({ close: () => processor.stop() });
  append(servers, await openWatching(app));
}

async function announce(
  address: string,
  { config, madeToken }: ServedConfig,
  dataDir: string,
  milliseconds: number,
): Promise<void> {
  // Operators know a token that they configured, and printed output stays in logs, so a configured token is
  // not printed.
  const configured = config.auth.tokens.length;
  const known =
    configured === 0
      ? 'in the database: faultline token list'
      : `${formatCount(configured, 'is', 'are')} configured`;
  const token = madeToken ?? known;
  await print(
    [
      `Faultline is listening on ${address}  (ready in ${(milliseconds / 1000).toFixed(1)} s)`,
      `  console    ${address}/  (sign in with the token)`,
      `  token      ${token}`,
      `  data       ${describeLocation(config.database)}`,
      `  API        ${address}/docs`,
      `  webhooks   ${
        listWebhookPaths(config)
          .map((path) => `${address}${path}`)
          .join('   ') || 'none: no webhook secret is set'
      }`,
      ...(config.jobQueue.inServe ? [] : ['  worker     none in this process; run `faultline worker`']),
      ...(existsSync(getSecretsFile(dataDir))
        ? [`  secrets    generated secrets are in ${getSecretsFile(dataDir)}`]
        : []),
      'Press Ctrl-C to finish current jobs and stop.',
    ].join('\n'),
  );
}

/** Describes the location of the data, without the password of the URL. */
function describeLocation(database: App['config']['database']): string {
  if (database.driver === 'pglite') return dirname(database.dataDir);
  const { host, pathname } = new URL(database.url);
  return `PostgreSQL at ${host}${pathname}`;
}

async function demonstrate(
  address: string,
  { config, madeToken }: ServedConfig,
  demo: Pick<DemoService, 'app' | 'clock' | 'code'>,
): Promise<void> {
  try {
    const token = config.auth.tokens.find(({ roles }) =>
      ['ingest', 'read'].every((role) => roles.some((other) => other === role || other === 'admin')),
    );
    if (token === undefined)
      throw new TriageError('forbidden', 'no token in FAULTLINE_TOKENS has both the roles ingest and read');
    await runDemo({ address, token: token.token, shownToken: madeToken ?? '$TOKEN', ...demo });
  } catch (error) {
    say(`the demo stopped: ${getErrorMessage(error)}`);
  }
}

/** Resolves when the process was asked to stop and everything is closed. */
function closeOnSignals(app: App, servers: readonly Closeable[], logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    closeWithGrace(
      {
        delay: DRAIN_MS + 5_000,
        logger: { error: (error: unknown) => logger.error({ error }, 'closing failed') },
      },
      async ({ err, signal }) => {
        if (err !== undefined) logger.error({ error: err }, 'stopping after an unhandled error');
        say(`${signal ?? 'stop'}: finishing current jobs …`);
        await stopService(app, servers, DRAIN_MS);
        say('stopped');
        resolve();
      },
    );
  });
}

/**
 * Opens the service log as JSON lines on standard error. None of the configuration's own secrets appears in
 * it.
 */
async function openLogger(level: string, config: Config): Promise<Logger> {
  return level === 'silent' ? silentLogger : createLogger(level, createMaskingOptions(config).known);
}

/**
 * Checks whether uploads are the only way to send builds. An embedded installation creates its own webhook
 * secrets; a shared one needs configured secrets.
 */
export function takesUploadsOnly({
  database,
  providers,
}: Pick<Config, 'providers'> & { readonly database: Pick<Config['database'], 'driver'> }): boolean {
  return (
    database.driver !== 'pglite' &&
    Object.values(providers).every(({ webhookSecrets }) => webhookSecrets.length === 0)
  );
}

/**
 * Throws `invalid-config` if no token opens the API: none is configured, and the database knows no
 * administrator's.
 */
export async function requireToken(
  { auth }: { readonly auth: Pick<Config['auth'], 'tokens'> },
  tokens: Pick<TokenStore, 'countAdmins'>,
): Promise<void> {
  if (auth.tokens.length > 0 || (await tokens.countAdmins()) > 0) return;
  throw new TriageError(
    'invalid-config',
    'No token gives access to the API: none is configured, and the database has no admin token. ' +
      'Create one with: faultline token make --name ann --role admin; or set FAULTLINE_TOKENS',
  );
}

/**
 * Closes the servers and ends running triages at the same time, so that both fit into `drainMs`; then the
 * stores, which both need to the end. What fails is logged and holds up nothing.
 */
export async function stopService(
  app: Pick<App, 'stopTriage' | 'logger' | 'close'>,
  servers: readonly Closeable[],
  drainMs: number,
): Promise<void> {
  const ended = await Promise.allSettled([
    ...servers.map((server) => server.close()),
    app.stopTriage({ drainMs }),
  ]);
  for (const { reason } of ended.filter((result) => result.status === 'rejected')) {
    app.logger.error({ error: reason, reason: getErrorMessage(reason) }, 'a component did not stop cleanly');
  }
  await app.close({ drainMs: 0 });
}

/**
 * Opens the monitoring server if one is configured, and checks every backend once, so that unavailable ones
 * are reported at startup.
 */
async function openWatching(app: App): Promise<Closeable[]> {
  // Not waited for: what hangs must not hold up the start.
  void app.readiness();
  const { metrics, http } = app.config;
  if (metrics.port === null) return [];
  const servers = await buildOperations(app);
  const address = await servers.listen({ host: http.host, port: metrics.port }).catch((cause: unknown) => {
    throw new TriageError(
      'conflict',
      `Cannot listen on ${http.host}:${metrics.port}: ${getErrorMessage(cause)}. ` +
        'Use FAULTLINE_METRICS_PORT=0 for a free port.',
      { cause },
    );
  });
  say(`metrics, health and readiness on ${address}`);
  if (metrics.targets === null) return [servers];
  try {
    return [writeMetricsTarget(metrics.targets, address), servers];
  } catch (error) {
    await servers.close();
    throw error;
  }
}

/** Lists the paths of active webhooks. A route without a secret rejects everything. */
function listWebhookPaths({ providers }: Pick<Config, 'providers'>): string[] {
  return createProviders(providers).flatMap(({ webhook }) =>
    webhook.secrets.length > 0 ? [webhook.path] : [],
  );
}
