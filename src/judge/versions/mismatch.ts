import type { LogPosition } from '../../domain/failure.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { compareVersions, isOlder } from '../../lib/versions.ts';
import { findMember } from './members.ts';
import type { VersionNeed } from './need.ts';
import { findRequirement } from './requirements.ts';

/** A runtime whose version in the log does not satisfy the code's need. */
export interface VersionMismatch extends VersionNeed {
  readonly running: string | null;
  /** The line that shows the running version. Null if the error message itself does, or no line. */
  readonly runningAt: LogPosition | null;
}

const NAMES = { node: 'Node', python: 'Python', go: 'Go', java: 'Java', rust: 'Rust' } as const;

/**
 * Finds what an error message needs and the running version does not have: what the message states, or else a
 * member of the standard library that was added later or removed earlier. Returns null if the log does not
 * show the running version and the message states no need.
 */
export function findMismatch(
  text: string,
  { environment }: Pick<TriageSubject, 'environment'>,
): VersionMismatch | null {
  const need = findRequirement(text) ?? findMember(text);
  if (need === null) return null;
  const runtime = environment?.runtimes.find(({ tool }) => NAMES[tool] === need.tool);
  const running = need.running ?? runtime?.version ?? null;
  const runningAt = need.running === null ? (runtime?.at ?? null) : null;
  if (!need.isFromTable) return { ...need, running, runningAt };
  if (running === null) return null;
  const fits = need.isGone ? compareVersions(running, need.version) < 0 : !isOlder(running, need.version);
  return fits ? null : { ...need, running, runningAt };
}

/** The C library of common distributions, according to their release notes. */
const GLIBC: readonly (readonly [version: string, system: string])[] = [
  ['2.31', 'Ubuntu 20.04, Debian 11'],
  ['2.34', 'Red Hat 9'],
  ['2.35', 'Ubuntu 22.04'],
  ['2.36', 'Debian 12'],
  ['2.39', 'Ubuntu 24.04'],
  ['2.41', 'Debian 13'],
];

/** Names the oldest distributions whose C library is new enough. Returns null if none is known. */
export function nameSystemsWithGlibc(version: string): string | null {
  const fitting = GLIBC.filter(([has]) => compareVersions(has, version) >= 0).slice(0, 2);
  return fitting.length === 0 ? null : `${fitting.map(([, system]) => system).join(', ')} or newer`;
}
