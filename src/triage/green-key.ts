import type { Build } from '../domain/build.ts';

/**
 * What the same log of two builds of a pipeline has in common: its name, as fetched. An upload's only log is the same log whatever
 * its file is called that day.
 */
export function greenKey(build: Pick<Build, 'provider'>, name: string, logs: number): string {
  return build.provider === 'upload' && logs === 1 ? '' : name;
}
