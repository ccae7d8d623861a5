import { resolve } from 'node:path';
import { createTerminalApp } from '../app/terminal-app.ts';
import { createApp } from '../app.ts';
import type { Ask, AskInput } from '../ask/ask.ts';
import { maskingOf } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';
import { createMasker } from '../log/mask/mask.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { findBuild } from '../publish/find-build.ts';
import type { AskClient } from './ask-client.ts';
import { readInput } from './input.ts';
import { openLargeLog } from './large-log.ts';
import { localBuild } from './triage-command.ts';

const TERMINAL = 'terminal';
const LISTED = 20;

/** Asks the stores of a data directory that nobody serves. Throws `locked` where somebody does. */
export async function openStoredClient(target: string, config: Config): Promise<AskClient> {
  const app = await createApp(config, silentLogger);
  try {
    const about = await aboutOf(target, async (id) => (await findBuild(app.stores.builds, id, {})).id);
    return clientOf(target, about, app.ask, true, () => app.close({ drainMs: 0 }));
  } catch (error) {
    await app.close({ drainMs: 0 });
    throw error;
  }
}

/** Analyses a log in memory and asks about its main cause. The log stays open until the client is closed. */
export async function openLogClient(
  path: string,
  options: { readonly repo?: string; readonly onStep: (text: string) => void },
  config: Config,
  signal: AbortSignal,
): Promise<AskClient> {
  const large = await openLargeLog(path, createMasker(maskingOf(config)));
  try {
    const sources = large === null ? await readInput(path, config.http.maxLogBytes) : [large.source];
    const build = localBuild();
    const clones =
      options.repo === undefined ? config.codeHost.clones : { ...config.codeHost.clones, [build.repository]: resolve(options.repo) };
    const app = await createTerminalApp({ ...config, codeHost: { ...config.codeHost, clones } }, silentLogger);
    const told = { maskedSecrets: large?.secrets ?? 0, onStep: ({ node }: { node: string }) => options.onStep(`analyzing: ${node}`) };
    const triaged = await app.triage(build, sources, signal, told);
    if (triaged.analyses.length === 0) throw new TriageError('internal', 'No answer was produced. Please report this log');
    const ask = await triaged.ask();
    return clientOf(path, { buildId: build.id }, ask, false, async () => large?.close());
  } catch (error) {
    large?.close();
    throw error;
  }
}

/** What an id names: `bld_…` and `provider:number` a build, anything else an analysis. */
export function namesBuild(target: string): boolean {
  return target.startsWith('bld_') || target.includes(':');
}

async function aboutOf(target: string, buildIdOf: (id: string) => Promise<string>): Promise<AskInput['about']> {
  return namesBuild(target) ? { buildId: await buildIdOf(target) } : { analysisId: target };
}

function clientOf(target: string, about: AskInput['about'], ask: Ask, kept: boolean, close: () => Promise<void>): AskClient {
  return {
    target,
    kept,
    ask: async (question, threadId, watcher, signal) =>
      await ask.answer(await ask.open({ about, question, threadId, askedBy: TERMINAL }), watcher, signal),
    threads: () => ask.threads(about, { limit: LISTED, offset: 0 }),
    turns: async (threadId) => (await ask.thread(threadId)).turns,
    close,
  };
}
