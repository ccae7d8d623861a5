import type { Build, GreenBuild, SourceText } from '../domain/build.ts';
import type { Excerpt } from '../domain/failure.ts';
import { type GreenLog, type GreenTemplates, greenOfLogs, newSince } from '../log/green/green-diff.ts';
import type { ChosenGreen, GreenStore } from '../ports/stores.ts';
import { greenKey } from './green-key.ts';

/** What the logs of a failed build are compared with. */
export interface BesideGreen {
  readonly green: GreenTemplates;
  /** By the name of the log: the newest green build that it is compared with. */
  readonly builds: ReadonlyMap<string, GreenBuild>;
}

export interface BesideDeps {
  readonly greens: Pick<GreenStore, 'choose'>;
  /** How many green builds a log is compared with; 0: none. */
  readonly greenBuilds: number;
}

/**
 * The green builds that each log of a failed build is compared with, or only the one named `only`; null where none of its logs has any.
 * Asked again, it says the same for a log that it was asked about before, so that a build that is read twice keeps its causes.
 */
export async function diffAgainstPassing(
  build: Build,
  sources: readonly Pick<SourceText, 'name' | 'kind'>[],
  deps: BesideDeps,
  only?: string,
): Promise<BesideGreen | null> {
  const names = sources.filter(({ kind }) => kind === 'log').map(({ name }) => name);
  const wanted = only === undefined ? names : names.filter((name) => name === only);
  if (deps.greenBuilds === 0 || wanted.length === 0) return null;
  const keys = new Map(wanted.map((name) => [name, greenKey(build, name, names.length)]));
  const chosen = Map.groupBy(await deps.greens.choose(build.id, [...new Set(keys.values())], deps.greenBuilds), ({ log }) => log);
  if (chosen.size === 0) return null;
  const logs = new Map<string, GreenLog>();
  const builds = new Map<string, GreenBuild>();
  for (const [name, key] of keys) {
    const [newest, ...older] = chosen.get(key) ?? [];
    if (newest === undefined) continue;
    logs.set(name, { name: nameOf(newest), templates: [newest, ...older].map(({ templates }) => templates) });
    builds.set(name, newest.build);
  }
  return { green: greenOfLogs(logs), builds };
}

/** The green build since which some of these excerpts are new, as their reasons say: of the most telling one. */
export function greenBehind(excerpts: readonly Excerpt[], beside: BesideGreen | null): GreenBuild | null {
  if (beside === null) return null;
  for (const { source, reason } of [...excerpts].sort((a, b) => b.weight - a.weight)) {
    const build = beside.builds.get(source);
    if (build !== undefined && reason.includes(newSince(nameOf({ build })))) return build;
  }
  return null;
}

function nameOf({ build }: Pick<ChosenGreen, 'build'>): string {
  return `build ${build.number}`;
}
