import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Build, SourceText } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { templatesInTurns } from '../log/green/templates.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { BuildSource } from '../ports/build-source.ts';
import type { GreenJob, GreenLog, Stores } from '../ports/stores.ts';
import { type FlagDeps, flagContradicted } from './flag-contradicted.ts';
import { greenKey } from './green-key.ts';
import { maskSources } from './read-build.ts';

export interface LearnDeps {
  readonly stores: {
    readonly builds: Pick<Stores['builds'], 'find'>;
    readonly greens: Pick<Stores['greens'], 'isWanted' | 'keep' | 'drop'>;
  };
  readonly archive: Pick<BuildArchive, 'list' | 'read'>;
  readonly masker: Masker;
  /** By provider; uploads have none. */
  readonly buildSources: Readonly<Partial<Record<Build['provider'], Pick<BuildSource, 'fetchGreen'>>>>;
  /** Looks whether what people taught stands in a green build too; absent: nobody does. */
  readonly flagging?: FlagDeps;
  /** How many green builds of a log are kept. */
  readonly greenBuilds: number;
}

/** Of all logs of one green build together, decompressed. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Keeps what the logs of a passed build say as templates. They are masked first, and the logs themselves are not kept. Ends the
 * job, without templates where there is no log, or where enough newer builds have some. Throws what its CI and the stores throw.
 */
export async function learnGreen(job: GreenJob, deps: LearnDeps, signal: AbortSignal): Promise<void> {
  const { builds, greens } = deps.stores;
  const build = await builds.find(job.buildId);
  if (build === null || !(await greens.isWanted(job.buildId, deps.greenBuilds))) return await greens.drop(job, 'skipped', null);
  const logs = await logsOf(build, deps, signal);
  const kept: GreenLog[] = [];
  const pause = async () => {
    await nextTurn();
    signal.throwIfAborted();
  };
  const masked = await maskSources(logs, deps.masker);
  for (const { name, text } of masked.sources) {
    await pause();
    kept.push({ log: greenKey(build, name, logs.length), templates: await templatesInTurns(text, pause) });
  }
  const told = kept.filter(({ templates }) => templates.lines.length > 0);
  if (told.length === 0) return await greens.drop(job, 'skipped', 'There is no log.');
  // Before the job ends: who dies in between does both again, and a build counts once.
  if (deps.flagging !== undefined) await flagContradicted(build, told, deps.flagging);
  if (!(await greens.keep(job, told, deps.greenBuilds))) {
    throw new TriageError('cancelled', 'Another process has taken over this green build', { retryable: true });
  }
}

async function logsOf(build: Build, deps: LearnDeps, signal: AbortSignal): Promise<readonly SourceText[]> {
  const source = deps.buildSources[build.provider];
  return source === undefined ? await uploaded(build, deps.archive) : await source.fetchGreen(build, signal, MAX_BYTES);
}

async function uploaded(build: Build, archive: LearnDeps['archive']): Promise<SourceText[]> {
  const logs: SourceText[] = [];
  let room = MAX_BYTES;
  for (const { name, kind, notes, bytes } of await archive.list(build.id)) {
    if (kind !== 'log' || bytes > room) continue;
    const text = await archive.read(build.id, name);
    if (text === null) continue;
    room -= bytes;
    logs.push({ name, kind, notes, text });
  }
  return logs;
}
