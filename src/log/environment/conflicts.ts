import { compareVersions } from '../../lib/versions.ts';
import { type LogText, listLinesBetween } from '../lines/lines.ts';
import type { Artifact } from './artifacts.ts';

/** An artifact that needs another version of something than the build has. */
export interface Conflict {
  /** The direct dependency that needs it; if the build declares the dependency itself, that one. */
  readonly artifact: Artifact;
  /** `group:name`, or "Jenkins". */
  readonly of: string;
  readonly needed: string;
  /**
   * The version that conflicts: the used one for upper bounds, another requested one for convergence; null if
   * the log does not name it.
   */
  readonly used: string | null;
  /** The line number, 1-based. */
  readonly line: number;
}

/** Lowercase texts. Every line that begins a conflict contains one of them. */
export const CONFLICT_LITERALS: readonly string[] = [
  'upper bound dep',
  'convergence error for',
  ' requires jenkins',
];

/** Maximum number of reports that are read. */
const MAX_REPORTS = 50;
/** Maximum number of lines of one report. */
const MAX_LINES = 120;
/** Maximum number of dependencies that are returned. */
const MAX_REPORTED = 3;
const CONFLICT = new RegExp(
  '(?<kind>Require upper bound dependencies|Dependency convergence) error for ' +
    String.raw`(?<group>[\w.-]{1,120}):(?<name>[\w.-]{1,120}):(?:jar:)?(?<used>[\w.-]{1,80})`,
);
const NODE = new RegExp(
  String.raw`^(?:\[ERROR\] ?)?\s{0,80}(?:\+-|\\-)\s?(?<group>[\w.-]{1,120})` +
    String.raw`:(?<name>[\w.-]{1,120}):(?:jar:)?(?<version>[\w.-]{1,80})` +
    String.raw`(?:.{0,80}<-- [\w.-]{1,120}:[\w.-]{1,120}:(?:jar:)?(?<requested>[\w.-]{1,80}))?`,
);
const REQUIRES = new RegExp(
  String.raw`\bDependency (?<group>[\w.-]{1,120}):(?<name>[\w.-]{1,120}):jar:(?<version>[\w.-]{1,80})` +
    String.raw` requires (?<of>Jenkins) (?<needed>[\w.-]{1,40}) or higher`,
);

/**
 * Reads at most three direct dependencies with version conflicts, the one with most conflicts first, and one
 * conflict for each.
 */
export function readConflicts(log: LogText, lines: readonly number[]): Conflict[] {
  const all = lines
    .slice(0, MAX_REPORTS)
    .flatMap((line) => [...readEnforcerReport(log, line), ...readJenkinsRequirement(log, line)]);
  const byArtifact = Map.groupBy(all, ({ artifact }) => `${artifact.group}:${artifact.name}`);
  return [...byArtifact.values()]
    .toSorted((left, right) => right.length - left.length)
    .slice(0, MAX_REPORTED)
    .flatMap(([first]) => first ?? []);
}

function readJenkinsRequirement(log: LogText, line: number): Conflict[] {
  const { group, name, version, of, needed } = REQUIRES.exec(log.line(line))?.groups ?? {};
  if (
    group === undefined ||
    name === undefined ||
    version === undefined ||
    of === undefined ||
    needed === undefined
  )
    return [];
  return [
    {
      artifact: { ecosystem: 'maven', group, name, version, line, isUsed: true },
      of,
      needed,
      used: null,
      line,
    },
  ];
}

interface Path {
  readonly direct: Artifact;
  readonly requested: string;
}

/**
 * Reads the dependency paths of one report of Maven's enforcer. For an upper bound, keeps those that request
 * a newer version than the one in use; for convergence, all of them.
 */
function readEnforcerReport(log: LogText, start: number): Conflict[] {
  const { kind, group, name, used } = CONFLICT.exec(log.line(start))?.groups ?? {};
  if (group === undefined || name === undefined || used === undefined) return [];
  const paths = listPathsTo(log, start, { group, name });
  const isBound = kind === 'Require upper bound dependencies';
  const conflicting = isBound ? paths.filter(({ requested }) => compareVersions(requested, used) > 0) : paths;
  return conflicting.flatMap(({ direct, requested }) => {
    const conflictingVersion = isBound ? used : paths.find((path) => path.requested !== requested)?.requested;
    return conflictingVersion === undefined
      ? []
      : [
          {
            artifact: direct,
            of: `${group}:${name}`,
            needed: requested,
            used: conflictingVersion,
            line: start,
          },
        ];
  });
}

function listPathsTo(log: LogText, start: number, { group, name }: Pick<Artifact, 'group' | 'name'>): Path[] {
  const paths: Path[] = [];
  let direct: Artifact | null = null;
  let pathLength = 0;
  for (const [offset, text] of listLinesBetween(log, start + 1, start + MAX_LINES, MAX_LINES).entries()) {
    if (CONFLICT.test(text) || /^(?:\[ERROR\] ?)?\s{0,4}\]/.test(text)) break;
    const node = NODE.exec(text)?.groups;
    pathLength = node === undefined ? 0 : pathLength + 1;
    if (node === undefined) continue;
    const { group: nodeGroup = '', name: nodeName = '', version = '', requested = version } = node;
    if (pathLength === 2)
      direct = {
        ecosystem: 'maven',
        group: nodeGroup,
        name: nodeName,
        version,
        line: start + 1 + offset,
        isUsed: true,
      };
    if (direct !== null && pathLength >= 2 && nodeGroup === group && nodeName === name)
      paths.push({ direct, requested });
  }
  return paths;
}
