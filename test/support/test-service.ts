import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { buildHttp } from '../../src/api/server.ts';
import { createApp } from '../../src/app.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { type Config, parseConfig } from '../../src/config/schema.ts';
import { Analysis } from '../../src/domain/analysis.ts';
import type { Clock } from '../../src/lib/time.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { installDatabase } from './installed-database.ts';

const TOKEN = 'the-token-of-the-reviewer-anna';
/** The headers of the reviewer anna, who is also an administrator. */
export const HEADERS = { authorization: `Bearer ${TOKEN}` };

/** A service with all of its stores in one database, reached through its API. */
export interface TestService {
  readonly app: Awaited<ReturnType<typeof createApp>>;
  readonly http: Awaited<ReturnType<typeof buildHttp>>;
  close(): Promise<void>;
}

/**
 * Opens the app in this process on an empty database and in a new folder. The database is on the server of the
 * run or, without one, embedded.
 */
export async function openTestApp(change: (config: Config) => Config, clock?: Clock) {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-app-'));
  const preset = createEmbeddedPreset(folder, join(import.meta.dirname, '../../knowledge'));
  const { config: database } = await installDatabase(folder);
  const config = parseConfig({ ...preset, database });
  const http = { ...config.http, rateLimit: 1_000_000, tokenRateLimit: 1_000_000 };
  const app = await createApp(change({ ...config, http }), silentLogger, clock);
  return {
    app,
    close: async (drainMs: number) => {
      await app.close({ drainMs });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a service with an empty database. It publishes from a confidence of `autoNotify` on, and
 * reads the code of repositories in their clones.
 */
export async function startTestService(
  autoNotify: number,
  clones: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const { app, close } = await openTestApp(({ auth, triage, codeHost, ...config }) => ({
    ...config,
    codeHost: Object.keys(clones).length > 0 ? { ...codeHost, driver: 'local-git', clones } : codeHost,
    auth: { ...auth, tokens: [{ name: 'anna', token: TOKEN, roles: ['admin'] }] },
    triage: { ...triage, thresholds: { ...triage.thresholds, autoNotify } },
  }));
  const http = await buildHttp(app);
  await app.work();
  return {
    app,
    http,
    async close() {
      await http.close();
      await close(1_000);
    },
  };
}

const Found = z.object({ triage: z.object({ state: z.string() }).nullable(), analyses: z.array(Analysis) });

/** Uploads the log of a failed build of the branch main and returns its answer. */
export async function uploadAndWait(
  { http }: TestService,
  repository: string,
  number: number,
  lines: readonly string[],
): Promise<Analysis> {
  const text = ['$ make check'].concat(lines, '##[error]Process completed with exit code 1.', '').join('\n');
  const commit = String(number % 10).repeat(40);
  const metadata = { repository, pipeline: 'ci', branch: 'main', number, commit };
  const payload = { metadata, logs: [{ name: 'log.txt', text }] };
  const sent = await http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload });
  const { buildId } = z.object({ buildId: z.string() }).parse(sent.json());
  for (let tries = 0; tries < 1_500; tries++) {
    const url = `/api/builds/${buildId}/analyses`;
    const { triage: job, analyses } = Found.parse((await http.inject({ url, headers: HEADERS })).json());
    if (job?.state === 'done' && analyses[0] !== undefined) return analyses[0];
    await sleep(20);
  }
  throw new Error(`${buildId} was never answered`);
}
