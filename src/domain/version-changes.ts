import { z } from 'zod';
import { GreenBuild } from './build.ts';
import { RecordedKind } from './environment-record.ts';
import { LogPosition } from './failure.ts';

/** One thing of which a failed run uses another version than the last green run of its job. */
export const VersionChange = z.object({
  kind: RecordedKind.or(z.literal('step')),
  name: z.string(),
  /** The version of the green run. Null if the green run did not have it. */
  from: z.string().nullable(),
  /** The version of the failed run. Null if the failed run does not have it, or could not get it. */
  to: z.string().nullable(),
  /** The requirement that chose it: "unpinned in requirements.txt", ">=2 in a.txt". Null if unknown. */
  chosenBy: z.string().nullable(),
  /** The line of the failed run's log that shows it. */
  at: LogPosition.nullable(),
  /** The words of the failure that refer to it. Null if nothing links the failure to it. */
  link: z.string().nullable(),
});
export type VersionChange = z.infer<typeof VersionChange>;

/** The differences between the last green run of a job and a failed one that are not in the diff. */
export const VersionChanges = z.object({
  /** The green run. Null if only its log is available. */
  since: GreenBuild.nullable(),
  /** True if both ran on one commit. */
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
export function describeVersionChange({ kind, name, from, to, chosenBy }: VersionChange): string {
  const why = chosenBy === null ? '' : ` (${chosenBy})`;
  if (kind === 'image') return describeImage(from ?? '', to ?? '');
  if (kind === 'env') return from === null ? `new variable ${name}` : `variable ${name} is gone`;
  if (kind === 'step') return `step “${name}” took ${to} instead of ${from}`;
  const [before, after] =
    kind === 'action' || kind === 'workflow' ? [shortenVersion(from), shortenVersion(to)] : [from, to];
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

/** Shortens a commit. */
function shortenVersion(version: string | null): string | null {
  return version === null ? null : version.slice(0, 10);
}

/**
 * Describes a change and the run since which it exists: "pandas 2.3.1 → 3.0.0 since build 812, which passed
 * on this commit".
 */
export function describeChange(change: VersionChange, { since, isSameCommit }: VersionChanges): string {
  const green = since === null ? 'the green build' : `build ${since.number}`;
  const commit = isSameCommit ? ', which passed on the same commit' : ', which passed';
  return `Not in the diff: ${describeVersionChange(change)} since ${green}${commit}.`;
}

/** The ways in which a project goes back to a version of each kind. */
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
  if (kind === 'env') return `Set ${name} again, or take it out of what asks for it.`;
  if (kind === 'image') return adviseImage(from ?? '', to ?? '');
  if (from === null) return `Take ${name} ${to} out again, or make the code work with it.`;
  if (to === null && change.link?.startsWith('unavailable') === true)
    return `${name} ${from} is not offered any more: choose another version.`;
  const pin = PINS[kind]?.(change);
  const how = pin === undefined ? '' : ` (${pin})`;
  if (to === null) return `Ask for ${name} ${from} yourself${how}: nothing brings it any more.`;
  const before = kind === 'action' ? from.slice(0, 10) : from;
  const later = kind === 'action' ? to.slice(0, 10) : to;
  return `Pin ${name} to ${before}${how}, or make the code work with ${later}.`;
}

function adviseImage(from: string, to: string): string {
  const [[oldName = ''], [newName = '']] = [from.split(' '), to.split(' ')];
  return oldName === newName
    ? `Install what is missing in the workflow itself: the image ${newName} no longer brings it.`
    : `Run on ${oldName} (\`runs-on: ${oldName}\`), or install what ${newName} lacks in the workflow.`;
}
