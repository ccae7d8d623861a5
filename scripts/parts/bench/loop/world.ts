import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { buildHttp } from '../../../../src/api/server.ts';
import { createApp } from '../../../../src/app.ts';
import { createEmbeddedPreset } from '../../../../src/config/load.ts';
import { parseConfig } from '../../../../src/config/schema.ts';
import { Analysis } from '../../../../src/domain/analysis.ts';
import type { Build } from '../../../../src/domain/build.ts';
import { silentLogger } from '../../../../src/ports/telemetry.ts';
import type { LoopCase, PastBuild } from './case.ts';

const KNOWLEDGE = join(import.meta.dirname, '../../../../knowledge');
const TOKEN = 'the-token-of-the-set-for-the-loop';
const HEADERS = { authorization: `Bearer ${TOKEN}` };
const [TRIES, WAIT_MS] = [30_000, 20];

export type World = Awaited<ReturnType<typeof openWorld>>;

/**
 * Opens an embedded service with the clones. Adds documents, earlier builds, people's decisions, and finally
 * the failed builds of the cases, all through the API.
 */
export async function openWorld(folder: string, cases: readonly LoopCase[]) {
  const preset = createEmbeddedPreset(folder, KNOWLEDGE);
  const clones = cases.flatMap(({ repository, clone }) => (clone === null ? [] : [[repository, clone]]));
  const config = parseConfig({
    ...preset,
    auth: { tokens: [{ name: 'mara', token: TOKEN, roles: ['admin'] }] },
    http: { ...preset.http, rateLimit: 1_000_000, tokenRateLimit: 1_000_000 },
    codeHost: { driver: 'local-git', clones: Object.fromEntries(clones) },
    // Every earlier answer waits for a person, so that it can be decided.
    triage: { ...preset.triage, thresholds: { ...preset.triage.thresholds, autoNotify: 1 } },
  });
  const app = await createApp(config, silentLogger);
  const http = await buildHttp(app);
  await app.loadKnowledge();
  await app.work();
  const request = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const response = await http.inject({ method, url, headers: HEADERS, ...(payload && { payload }) });
    if (response.statusCode >= 300) throw new Error(`${url}: ${response.body}`);
    return response.json();
  };
  const builds = await bringIn(cases, app, request);
  return {
    app,
    /** Returns the stored build of a case. */
    getBuild: async (loopCase: LoopCase): Promise<Build> => {
      const build = await app.stores.builds.find(builds.get(loopCase.name) ?? '');
      if (build === null) throw new Error(`${loopCase.name} has no build`);
      return build;
    },
    async close() {
      await http.close();
      await app.close({ drainMs: 1_000 });
    },
  };
}

type Request = (method: 'GET' | 'POST', url: string, payload?: object) => Promise<unknown>;
type App = Awaited<ReturnType<typeof createApp>>;

async function bringIn(
  cases: readonly LoopCase[],
  { knowledge, stores }: App,
  request: Request,
): Promise<ReadonlyMap<string, string>> {
  for (const { source, bytes } of cases.flatMap(({ documents }) => documents))
    await knowledge.add({ source, bytes, category: null, importedBy: 'mara' });
  const earlier: { readonly buildId: string; readonly past: PastBuild }[] = [];
  for (const loopCase of cases) {
    for (const [at, past] of loopCase.past.entries())
      earlier.push({ buildId: await upload(request, loopCase.repository, at + 1, past), past });
  }
  for (const { buildId, past } of earlier) {
    if (past.status !== 'failed') continue;
    const { id } = await waitForAnswer(request, buildId);
    if (past.decided !== undefined) await decide(id, past.decided, stores, request);
  }
  const builds = new Map<string, string>();
  for (const loopCase of cases) {
    const { commit, log } = loopCase;
    const failed = { status: 'failed', log, ...(commit !== null && { commit }) } as const;
    builds.set(loopCase.name, await upload(request, loopCase.repository, loopCase.past.length + 1, failed));
  }
  for (const buildId of builds.values()) await waitForAnswer(request, buildId);
  return builds;
}

async function decide(
  analysisId: string,
  { category, rootCause, fix }: NonNullable<PastBuild['decided']>,
  { reviews }: App['stores'],
  request: Request,
): Promise<void> {
  const open = await reviews.list({}, { limit: 500, offset: 0 });
  const url = `/api/reviews/${open.find((review) => review.analysisId === analysisId)?.id}`;
  const { version } = z.object({ version: z.int() }).parse(await request('POST', `${url}/claim`, {}));
  const decision = { type: 'correct', category, rootCause, fixRecommendation: fix, version };
  await request('POST', `${url}/decision`, decision);
}

async function upload(
  request: Request,
  usual: string,
  number: number,
  { repository = usual, branch = 'main', commit, status, log }: PastBuild,
): Promise<string> {
  const metadata = { repository, pipeline: 'ci', branch, number, status, ...(commit && { commit }) };
  const logs = [{ name: 'log.txt', text: log ?? 'All tests passed.\n' }];
  return z.object({ buildId: z.string() }).parse(await request('POST', '/api/builds', { metadata, logs }))
    .buildId;
}

const Found = z.object({ triage: z.object({ state: z.string() }).nullable(), analyses: z.array(Analysis) });

async function waitForAnswer(request: Request, buildId: string): Promise<Analysis> {
  for (let tries = 0; tries < TRIES; tries++) {
    const { triage, analyses } = Found.parse(await request('GET', `/api/builds/${buildId}/analyses`));
    if (triage?.state === 'done' && analyses[0] !== undefined) return analyses[0];
    await sleep(WAIT_MS);
  }
  throw new Error(`${buildId} was never answered`);
}
