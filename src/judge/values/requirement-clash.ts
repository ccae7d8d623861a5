import { compareVersions } from '../../lib/versions.ts';
import type { FailureBlock, ShownLine } from '../failure-block.ts';
import type { Value } from '../sentence.ts';

/** A line of pip's list of conflicting requirements. */
interface Requirement {
  /** The release that requires it ("pear 3.1"); null if the requirements of the project do. */
  readonly by: string | null;
  /** The package and its versions: "plum>=2.0". */
  readonly needs: string;
  readonly at: ShownLine;
}

type Clash = readonly [first: Requirement, second: Requirement];

/** One end of a range of versions. */
interface End {
  readonly version: string;
  /** True if the version itself is not in the range. */
  readonly isExcluded: boolean;
}

/** Versions between two ends. An end that is null is open. */
interface Range {
  readonly low: End | null;
  readonly high: End | null;
}

/** The maximum number of lines of the list that are compared. */
const MAX_REQUIREMENTS = 60;
const ASKED =
  /^\s{2,8}The user requested (?:\(constraint\) )?(?<needs>[\w.-]{1,80}(?:\[[\w,.-]{1,80}\])?\S{1,80})/;
const DEPENDS =
  /^\s{2,8}(?<by>[\w.-]{1,80}(?:\[[\w,.-]{1,80}\])? \d\S{0,40}) depends on (?<needs>[\w.-][^\s;]{1,160})/;
const PARTS = /^(?<name>[\w.-]{1,80}?)(?:\[[\w,.-]{1,80}\])?(?<range>[<>=!~].{1,120})$/;

/** The slots for two requirements of one package that no version satisfies, in the words of pip. */
export const CLASH_READERS: Readonly<Record<string, (block: FailureBlock) => Value | null>> = {
  clashAsked: readWith(([first]) => (first.by === null ? first.needs : null), 0),
  clashFirstBy: readWith(([first]) => first.by, 0),
  clashFirstNeeds: readWith(([first]) => first.needs, 0),
  clashBy: readWith(([, second]) => second.by, 1),
  clashNeeds: readWith(([, second]) => second.needs, 1),
  /** The package of the second requirement, if pip tried only one release of it. */
  clashOnly: readWith(
    ([, { by }], all) => (countReleases(getPackage(by), all) > 1 ? null : getPackage(by)),
    1,
  ),
};

function readWith(
  choose: (clash: Clash, all: readonly Requirement[]) => string | null,
  index: 0 | 1,
): (block: FailureBlock) => Value | null {
  return ({ step }) => {
    const all = step.flatMap(readRequirement).slice(0, MAX_REQUIREMENTS);
    const clash = findClash(all);
    const text = clash === null ? null : choose(clash, all);
    if (clash === null || text === null) return null;
    const { source, line } = clash[index].at;
    return { text, source, line, near: 'step' };
  };
}

function countReleases(name: string | null, all: readonly Requirement[]): number {
  return new Set(all.map(({ by }) => by).filter((by) => getPackage(by) === name)).size;
}

function getPackage(release: string | null): string | null {
  return release?.split(' ')[0] ?? null;
}

function readRequirement(at: ShownLine): Requirement[] {
  const { by = null, needs } = (ASKED.exec(at.text) ?? DEPENDS.exec(at.text))?.groups ?? {};
  return needs === undefined ? [] : [{ by, needs, at }];
}

/** Finds two requirements of one package that no version satisfies, those of the project first. */
function findClash(requirements: readonly Requirement[]): Clash | null {
  const ordered = requirements.toSorted(
    (left, right) => Number(left.by !== null) - Number(right.by !== null),
  );
  for (const [index, first] of ordered.entries()) {
    const second = ordered.slice(index + 1).find(
      // Releases of one package are alternatives that pip tried.
      (other) => getPackage(other.by) !== getPackage(first.by) && areApart(first.needs, other.needs),
    );
    if (second !== undefined) return [first, second];
  }
  return null;
}

function areApart(first: string, second: string): boolean {
  const [[name, range], [otherName, otherRange]] = [readParts(first), readParts(second)];
  return name === otherName && (isBelow(range, otherRange) || isBelow(otherRange, range));
}

/** Splits "Plum_jam[hot]>=2.0" into the normalized name of the package and the range of versions. */
function readParts(needs: string): readonly [name: string, range: Range] {
  const { name = needs, range = '' } = PARTS.exec(needs)?.groups ?? {};
  return [name.toLowerCase().replace(/[._-]{1,9}/g, '-'), readRange(range)];
}

/** Tells whether all versions of a range are below all versions of another. */
function isBelow({ high }: Range, { low }: Range): boolean {
  if (high === null || low === null) return false;
  const difference = compareVersions(high.version, low.version);
  return difference < 0 || (difference === 0 && (high.isExcluded || low.isExcluded));
}

/** Reads the ends of ">=1.0,<2". A pin is a range of one version; "==1.*" and "!=1.0" have no ends. */
function readRange(text: string): Range {
  let low: End | null = null;
  let high: End | null = null;
  for (const part of text.split(',')) {
    const { comparison = '!=', version = '' } =
      /^(?<comparison>[<>=!~]{1,3})(?<version>\d[\w.+]{0,40})$/.exec(part)?.groups ?? {};
    if (comparison === '!=') continue;
    const end = { version, isExcluded: comparison === '<' || comparison === '>' };
    if (!comparison.startsWith('<')) low = end;
    if (!comparison.startsWith('>') && comparison !== '~=') high = end;
  }
  return { low, high };
}
