import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TriageError } from '../domain/errors.ts';
import { connectHere, connectService } from '../mcp/client.ts';
import { type Backend, serveStdio } from '../mcp/stdio.ts';
import type { Decide, OpenReview } from '../mcp/tool.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { decideReview } from '../service/review/decide.ts';
import { openReviewFor } from '../service/review/queue.ts';

import type { ServerOptions } from './command-parts.ts';
import { getDataDirectory, LOCAL_SERVICE, readConfig, resolveToken } from './settings.ts';
import { createInterruptSignal, say } from './terminal.ts';

export interface McpCommandOptions extends Omit<ServerOptions, 'json'> {
  readonly allowFeedback?: boolean;
}

/**
 * Runs `faultline mcp`. Standard output carries only the protocol; everything else goes to standard error.
 */
export async function runMcp(options: McpCommandOptions): Promise<void> {
  const dataDir = getDataDirectory(options.data);
  const url = options.url ?? process.env.FAULTLINE_URL;
  const token = options.token ?? process.env.FAULTLINE_TOKEN;
  const backend = createBackend({
    url,
    serviceUrl: url ?? LOCAL_SERVICE,
    token,
    dataDir,
    feedback: options.allowFeedback === true,
  });
  say(
    `faultline mcp: ${describeTarget(url, dataDir)}; ${options.allowFeedback === true ? 'feedback is allowed' : 'read-only'}`,
  );
  const signal = createInterruptSignal();
  try {
    await serveStdio(backend.use, {
      input: process.stdin,
      output: process.stdout,
      logger: silentLogger,
      signal,
    });
  } finally {
    await backend.close();
  }
}

function describeTarget(url: string | undefined, dataDir: string): string {
  if (url !== undefined) return `asks ${url}`;
  return existsSync(join(dataDir, 'database'))
    ? `reads ${dataDir}, or asks the service that uses it`
    : `there is no installation in ${dataDir}, so only pasted logs can be explained`;
}

interface BackendOptions {
  /** The URL of the named service. If set, no other source is used. */
  readonly url: string | undefined;
  /** The URL of the service that uses the data directory, if there is one. */
  readonly serviceUrl: string;
  readonly token: string | undefined;
  readonly dataDir: string;
  readonly feedback: boolean;
}

type Client = Awaited<ReturnType<typeof connectHere>>;

interface Opened {
  readonly client: Client;
  close(): Promise<void>;
}

/**
 * The idle time after which the data directory is closed, in milliseconds. It belongs to one process, so it
 * is released early and `faultline serve` can start while an agent is connected.
 */
const IDLE_MS = 5_000;
/** The name of the reviewer on this machine, who needs no token. */
const LOCAL_REVIEWER = 'local';

/**
 * Selects a backend for every call: the named service; otherwise the data directory, which is opened only as
 * long as it is needed; otherwise the service that uses it. Without any installation, pasted logs can still
 * be explained.
 */
function createBackend(options: BackendOptions): { readonly use: Backend; close(): Promise<void> } {
  let opened: Promise<Opened> | undefined;
  let using = 0;
  let idle: NodeJS.Timeout | undefined;
  let closing = Promise.resolve();
  const close = async () => {
    clearTimeout(idle);
    const last = opened;
    opened = undefined;
    closing = closing.then(async () => await (await last?.catch(() => undefined))?.close());
    await closing;
  };
  const use: Backend = async (work) => {
    clearTimeout(idle);
    using += 1;
    try {
      await closing;
      opened ??= openBackend(options);
      return await work((await opened).client);
    } catch (error) {
      // The backend may no longer exist, so the next call selects again.
      if (error instanceof TriageError) await close();
      throw error;
    } finally {
      using -= 1;
      if (using === 0) idle = setTimeout(() => void close(), IDLE_MS).unref();
    }
  };
  return { use, close };
}

async function openBackend(options: BackendOptions): Promise<Opened> {
  if (options.url !== undefined) return await openService(options, options.url);
  if (!existsSync(join(options.dataDir, 'database'))) return await openLogsOnly(options);
  return await openDirectory(options).catch(async (error: unknown) => {
    if (error instanceof TriageError && error.code === 'locked')
      return await openService(options, options.serviceUrl);
    throw error;
  });
}

async function openService(
  { token: given, dataDir, feedback }: BackendOptions,
  url: string,
): Promise<Opened> {
  const client = await connectService({ url, token: resolveToken(given, dataDir), feedback });
  return { client, close: async () => await client.close() };
}

async function openDirectory({ dataDir, feedback }: BackendOptions): Promise<Opened> {
  const { createApp } = await import('../app.ts');
  const config = readConfig(dataDir);
  const app = await createApp(config, silentLogger);
  const decide: Decide = async ({ review, ...said }) =>
    await decideReview(app, { ...said, reviewId: review.id, version: review.version });
  const openReview: OpenReview = async (analysisId, by) => await openReviewFor(app, { analysisId, by });
  const allowed = feedback ? { feedback: { decide, openReview, reviewer: LOCAL_REVIEWER } } : {};
  const { stores, archive } = app;
  const installation = { stores, archive, publicUrl: config.http.publicUrl };
  const client = await connectHere(
    { installation, explainLog: app.explainLog, ...allowed, logger: silentLogger },
    silentLogger,
  );
  const close = async () => {
    await client.close();
    await app.close({ drainMs: 0 });
  };
  return { client, close };
}

async function openLogsOnly({ dataDir }: BackendOptions): Promise<Opened> {
  const { openLogExplainer } = await import('../app/terminal-app.ts');
  const explainLog = openLogExplainer(readConfig(dataDir));
  const client = await connectHere({ explainLog, logger: silentLogger }, silentLogger);
  return { client, close: async () => await client.close() };
}
