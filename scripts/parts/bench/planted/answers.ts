import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { buildHttp } from '../../../../src/api/server.ts';
import { createTerminalApp } from '../../../../src/app/terminal-app.ts';
import { createApp } from '../../../../src/app.ts';
import { createEmbeddedPreset } from '../../../../src/config/load.ts';
import { parseConfig } from '../../../../src/config/schema.ts';
import { Analysis } from '../../../../src/domain/analysis.ts';
import { createSparseBuild } from '../../../../src/domain/build.ts';
import { silentLogger } from '../../../../src/ports/telemetry.ts';
import type { PlantedHistory } from './history.ts';

const KNOWLEDGE = join(import.meta.dirname, '../../../../knowledge');
const TOKEN = 'the-token-of-the-planted-regressions';
const HEADERS = { authorization: `Bearer ${TOKEN}` };
const NEVER = new AbortController().signal;
const [TRIES, WAIT_MS] = [1_500, 20];

/** A way to ask. `knowsGreen` is true if the passing commit is given. */
export interface Path {
  answer(history: PlantedHistory, knowsGreen: boolean): Promise<Analysis>;
  close(): Promise<void>;
}

/** Opens what `faultline triage --repo … --green-commit …` uses, in memory. */
export async function openTerminalPath(folder: string): Promise<Path> {
  const app = await createTerminalApp(parseConfig(createEmbeddedPreset(folder, KNOWLEDGE)), silentLogger);
  return {
    async answer({ folder: clone, head, green, log, name }, knowsGreen) {
      const sparse = createSparseBuild({ repository: 'local/planted', pipeline: 'terminal', number: '1' });
      const build = { ...sparse, id: 'local', commit: head, receivedAt: new Date().toISOString() };
      const source = { name: 'log.txt', kind: 'log' as const, text: log, notes: [] };
      const options = { clone, ...(knowsGreen ? { greenCommit: green } : {}) };
      const { analyses } = await app.triage(build, [source], NEVER, options);
      return requireAnswer(analyses[0], name);
    },
    close: () => app.flush(),
  };
}

/**
 * Opens an embedded service with the clones. Builds are uploaded to its API, beginning with a passing one if
 * it is known.
 */
export async function openServicePath(folder: string, histories: readonly PlantedHistory[]): Promise<Path> {
  const preset = createEmbeddedPreset(folder, KNOWLEDGE);
  const clonesFor = (green: boolean) =>
    histories.map((history) => [createRepositoryFor(history, green), history.folder]);
  const clones = Object.fromEntries([true, false].flatMap(clonesFor));
  const auth = { tokens: [{ name: 'bench', token: TOKEN, roles: ['admin'] }] };
  const limits = { ...preset.http, rateLimit: 1_000_000, tokenRateLimit: 1_000_000 };
  const config = parseConfig({ ...preset, auth, http: limits, codeHost: { driver: 'local-git', clones } });
  const app = await createApp(config, silentLogger);
  const http = await buildHttp(app);
  await app.loadKnowledge();
  await app.work();
  const upload = async (metadata: object, text: string) => {
    const payload = { metadata, logs: [{ name: 'log.txt', text }] };
    const response = await http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload });
    return z.object({ buildId: z.string() }).parse(response.json()).buildId;
  };
  return {
    async answer(history, knowsGreen) {
      const { green, head, log } = history;
      const known = { repository: createRepositoryFor(history, knowsGreen), pipeline: 'ci', branch: 'main' };
      const passed = { ...known, number: 1, commit: green, status: 'passed' };
      if (knowsGreen) await upload(passed, 'All tests passed.\n');
      const buildId = await upload({ ...known, number: 2, commit: head, status: 'failed' }, log);
      for (let tries = 0; tries < TRIES; tries++) {
        const url = `/api/builds/${buildId}/analyses`;
        const { triage, analyses } = Found.parse((await http.inject({ url, headers: HEADERS })).json());
        if (triage?.state === 'done') return requireAnswer(analyses[0], history.name);
        await sleep(WAIT_MS);
      }
      throw new Error(`${history.name} was never answered`);
    },
    async close() {
      await http.close();
      await app.close({ drainMs: 1_000 });
    },
  };
}

const Found = z.object({ triage: z.object({ state: z.string() }).nullable(), analyses: z.array(Analysis) });

function createRepositoryFor({ head }: PlantedHistory, knowsGreen: boolean): string {
  return `planted/${head.slice(0, 12)}${knowsGreen ? '' : '-without-green'}`;
}

function requireAnswer(analysis: Analysis | undefined, name: string): Analysis {
  if (analysis === undefined) throw new Error(`${name} has no answer`);
  return analysis;
}
