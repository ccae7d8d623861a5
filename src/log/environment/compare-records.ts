import type {
  EnvironmentRecord,
  RecordedKind,
  RecordedVersion,
  StatedRequirement,
} from '../../domain/environment-record.ts';
import type { VersionChange } from '../../domain/version-changes.ts';
import { canonicalizePythonName } from './read-record.ts';

/** Kinds whose installer prints a whole list: a package that is missing in it is not installed. */
const WHOLE_LISTS: ReadonlySet<RecordedKind> = new Set(['python', 'npm']);
/** The minimum share of common names at which two lists are compared as the same list. */
const ALIKE = 0.5;
/** The factor and the seconds by which a step must take longer to count as slower. */
const [SLOWER, LONG] = [3, 60];

/** Returns what differs between the record of a green run and that of a failed run of the same job. */
export function compareRecords(green: EnvironmentRecord, red: EnvironmentRecord): VersionChange[] {
  const before = new Map(green.versions.map((version) => [toKey(version), version]));
  const after = new Map(red.versions.map((version) => [toKey(version), version]));
  const requirements = new Map(red.requirements.map((requirement) => [requirement.name, requirement]));
  const toChange = (recorded: RecordedVersion, from: string | null, to: string | null): VersionChange => ({
    kind: recorded.kind,
    name: recorded.name,
    from,
    to,
    chosenBy:
      recorded.kind === 'python'
        ? describeRange(requirements.get(canonicalizePythonName(recorded.name)))
        : null,
    at: recorded.line > 0 && to !== null ? { source: red.log, line: recorded.line } : null,
    link: null,
  });
  const changed = [...after].flatMap(([key, one]) => {
    const old = before.get(key);
    return old === undefined || isSameVersion(old, one) ? [] : [toChange(one, old.version, one.version)];
  });
  const whole = new Set([...WHOLE_LISTS].filter((kind) => areAlike(kind, before, after)));
  const isListed = ({ kind }: RecordedVersion) => whole.has(kind) || kind === 'env';
  const added = [...after].filter(([key, one]) => !before.has(key) && isListed(one));
  const gone = [...before].filter(([key, one]) => !after.has(key) && isListed(one));
  return [
    ...changed,
    ...added.map(([, one]) => toChange(one, null, one.version)),
    ...gone.map(([, one]) => toChange(one, one.version, null)),
    ...findSlowerSteps(green, red),
  ];
}

/** Returns the packages of a green run that the failed run has no version of. */
export function findAbsent(green: EnvironmentRecord, red: EnvironmentRecord): RecordedVersion[] {
  const has = new Set(red.versions.map(toKey));
  return green.versions.filter((version) => !has.has(toKey(version)));
}

function toKey({ kind, name }: RecordedVersion): string {
  return `${kind} ${kind === 'python' ? canonicalizePythonName(name) : name}`;
}

function isSameVersion({ version: left }: RecordedVersion, { version: right }: RecordedVersion): boolean {
  const sorted = (versions: string) => versions.split(', ').sort().join();
  // "3.12" and "3.12.7" count as equal, because the shorter one only is less exact.
  return (
    sorted(left) === sorted(right) || `${left}.`.startsWith(`${right}.`) || `${right}.`.startsWith(`${left}.`)
  );
}

/**
 * Tells whether both runs have a list of this kind, and the lists have most names of the shorter one in
 * common.
 */
function areAlike(
  kind: RecordedKind,
  before: ReadonlyMap<string, RecordedVersion>,
  after: ReadonlyMap<string, RecordedVersion>,
): boolean {
  const [one, other] = [before, after].map((all) =>
    [...all.keys()].filter((key) => key.startsWith(`${kind} `)),
  );
  if (one === undefined || other === undefined || one.length === 0 || other.length === 0) return false;
  const common = one.filter((key) => after.has(key)).length;
  return common >= ALIKE * Math.max(one.length, other.length);
}

function describeRange(requirement: StatedRequirement | undefined): string | null {
  if (requirement === undefined) return null;
  const { range, from } = requirement;
  if (range === '' && from === null) return null;
  const place = from === null ? '' : ` in ${from}`;
  return range === '' ? `unpinned${place}` : `${range}${place}`;
}

function findSlowerSteps(green: EnvironmentRecord, red: EnvironmentRecord): VersionChange[] {
  const before = new Map(green.steps.map(({ name, seconds }) => [name, seconds]));
  return red.steps.flatMap(({ name, seconds }): VersionChange[] => {
    const old = before.get(name);
    if (old === undefined || seconds < LONG || seconds < SLOWER * Math.max(old, 1)) return [];
    const [from, to] = [`${old} s`, `${seconds} s`];
    return [{ kind: 'step', name, from, to, chosenBy: null, at: null, link: null }];
  });
}
