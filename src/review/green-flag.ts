import type { GreenFlag } from '../domain/library.ts';
import { standsIn } from '../log/green/stands-in.ts';
import type { GreenStore } from '../ports/stores.ts';

/** Logs of green builds that are looked through when something is taught: the newest. */
const GREEN_LOGS = 24;

/** The newest green builds of a repository in which all telling lines stand too; null where there are none. */
export async function greenFlagOf(
  greens: Pick<GreenStore, 'newest'>,
  repository: string,
  telling: readonly string[],
): Promise<GreenFlag | null> {
  if (telling.length === 0) return null;
  const same = (await greens.newest(repository, GREEN_LOGS)).filter(({ templates }) => standsIn(telling, [templates]));
  const [newest] = same;
  if (newest === undefined) return null;
  const since = same.map(({ seenAt }) => seenAt).sort()[0] ?? newest.seenAt;
  return { builds: new Set(same.map(({ build }) => build.buildId)).size, since, last: newest.build.buildId };
}

/** The flag as a sentence for reviewers. */
export function flagSentence({ builds, since }: GreenFlag): string {
  return `It also appears in ${builds === 1 ? 'a green build' : `${builds} green builds`} since ${since.slice(0, 10)}`;
}
