import { z } from 'zod';
import { GreenBuild } from './build.ts';
import { RecordedKind } from './environment-record.ts';
import { LogPosition } from './failure.ts';

/**
 * A difference between a failed run and the last green run of its job: a version, an environment variable, or
 * the duration of a step.
 */
export const VersionChange = z.object({
  kind: RecordedKind.or(z.literal('step')),
  name: z.string(),
  /**
   * The value in the green run: a version, an image and its version, a duration ("10 s"), or an empty text
   * for a variable. Null if it was absent.
   */
  from: z.string().nullable(),
  /** The value in the failed run, in the same form. Null if it was absent or could not be installed. */
  to: z.string().nullable(),
  /**
   * The requirement that chose the version: "unpinned in requirements.txt", ">=2 in a.txt". Null if unknown.
   */
  chosenBy: z.string().nullable(),
  /** The line of the failed run's log that shows it. */
  at: LogPosition.nullable(),
  /**
   * The link to the failure: its words, the name of the failed step, or a frame of its trace. Begins with
   * `unavailable:` if the version could not be installed. Null if there is no link.
   */
  link: z.string().nullable(),
});
export type VersionChange = z.infer<typeof VersionChange>;

/** The differences in environment between a failed run and the last green run of its job. */
export const VersionChanges = z.object({
  /** The green run. Null if only its log is available. */
  since: GreenBuild.nullable(),
  /** True if both runs built the same commit. */
  isSameCommit: z.boolean(),
  /** The changes. Those that explain the failure come first. */
  changes: z.array(VersionChange),
  /** The number of changes that are not listed. */
  more: z.int(),
});
export type VersionChanges = z.infer<typeof VersionChanges>;

/** The maximum number of changes that are stored with an answer. */
export const MAX_CHANGES = 40;

/** Returns the change that explains the failure. Returns null if none does. */
export function findExplaining(changes: VersionChanges | undefined): VersionChange | null {
  return changes?.changes.find(({ link }) => link !== null) ?? null;
}

/** Describes a change: "pandas 2.3.1 → 3.0.0 (unpinned in requirements.txt)". */
export function formatVersionChange({ kind, name, from, to, chosenBy }: VersionChange): string {
  const why = chosenBy === null ? '' : ` (${chosenBy})`;
  if (kind === 'image') return describeImage(from ?? '', to ?? '');
  if (kind === 'env') return from === null ? `new variable ${name}` : `variable ${name} is gone`;
  if (kind === 'step') return `step “${name}” took ${to} instead of ${from}`;
  const [before, after] =
    kind === 'action' || kind === 'workflow' ? [shortenHash(from), shortenHash(to)] : [from, to];
  if (before === null) return `${name} ${after} is new${why}`;
  if (after === null) return `${name} ${before} is gone${why}`;
  return `${name} ${before} → ${after}${why}`;
}

function describeImage(from: string, to: string): string {
  const [[oldName = '', oldVersion = ''], [newName = '', newVersion = '']] = [from.split(' '), to.split(' ')];
  return oldName === newName
    ? `${newName} image ${oldVersion} → ${newVersion}`
    : `runner image ${oldName} ${oldVersion} → ${newName} ${newVersion}`;
}

/** Shortens a commit hash to ten characters. */
function shortenHash(hash: string | null): string | null {
  return hash === null ? null : hash.slice(0, 10);
}

/** Returns the heading of the changes. Between two commits, a change may be part of the diff. */
export function getChangesHeading({ isSameCommit }: Pick<VersionChanges, 'isSameCommit'>): string {
  return isSameCommit ? 'Changed, not in the diff' : 'Changed since the last green run';
}

/**
 * Describes a change and the green run for people: "Not in the diff: pandas 2.3.1 → 3.0.0 since build 812,
 * which passed on the same commit."
 */
export function describeSinceGreen(change: VersionChange, { since, isSameCommit }: VersionChanges): string {
  const words = formatVersionChange(change);
  const green = since === null ? 'the green build' : `build ${since.number}`;
  if (isSameCommit) return `Not in the diff: ${words} since ${green}, which passed on the same commit.`;
  return `Changed since the last green run${since === null ? '' : `, ${green}`}: ${words}.`;
}

/** The ways to return to an earlier version, by kind. */
const PINS: Readonly<Partial<Record<VersionChange['kind'], (change: VersionChange) => string>>> = {
  python: ({ name, from }) => `\`${name}==${from}\``,
  npm: ({ name, from }) => `\`npm install --save-exact ${name}@${from}\``,
  cargo: ({ name, from }) => `\`cargo update -p ${name} --precise ${from}\``,
  go: ({ name, from }) => `\`go get ${name}@${from}\``,
  action: ({ name, from }) => `\`${name.split('@')[0]}@${from}\``,
};

/** Advises how to go back to the version that passed. */
export function advisePin(change: VersionChange): string {
  const { kind, name, from, to } = change;
  if (kind === 'env') return `Set ${name} again, or change the step so that it does not need ${name}.`;
  if (kind === 'image') return adviseImage(from ?? '', to ?? '');
  if (from === null) return `Remove ${name} ${to}, or change the code to work with it.`;
  if (to === null && change.link?.startsWith('unavailable') === true)
    return `${name} ${from} is no longer available. Choose another version.`;
  const versions = from.split(', ');
  const pin = versions.length > 1 ? undefined : PINS[kind]?.(change);
  const how = pin === undefined ? '' : ` (${pin})`;
  const before = kind === 'action' ? from.slice(0, 10) : versions.join(' and ');
  if (to === null)
    return `Add ${name} ${before} to the project's dependencies${how}: no other package installs it now.`;
  if (kind === 'service' && from.startsWith('sha256:'))
    return `Pin ${name} to the digest that begins with ${from}, or make the code work with the new image.`;
  const later = kind === 'action' ? to.slice(0, 10) : to.split(', ').join(' and ');
  return `Pin ${name} to ${before}${how}, or make the code work with ${later}.`;
}

function adviseImage(from: string, to: string): string {
  const [[oldName = ''], [newName = '']] = [from.split(' '), to.split(' ')];
  return oldName === newName
    ? `Install the missing program in the workflow: the image ${newName} no longer contains it.`
    : `Run on ${oldName} (\`runs-on: ${oldName}\`), or install what ${newName} lacks in the workflow.`;
}
