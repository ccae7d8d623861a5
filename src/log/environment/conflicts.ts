import { compareVersions } from '../../lib/versions.ts';
import { type LogText, listLinesBetween } from '../lines/lines.ts';
import type { Artifact } from './artifacts.ts';

/** An artifact that needs another version of something than the build has. */
export interface Conflict {
  /** The direct dependency that needs it, or what is needed itself where the build declares it. */
  readonly artifact: Artifact;
  /** `group:name`, or "Jenkins". */
  readonly of: string;
  readonly needed: string;
  /**
   * The version that conflicts: the used one for upper bounds, another requested one for convergence; null if
   * the log does not name it.
   */
  readonly used: string | null;
  /** The line that says so. */
  readonly line: number;
}

/** ASCII literals, case ignored: a line without any of them begins no conflict. */
export const CONFLICT_LITERALS: readonly string[] = [
  'upper bound dep',
  'convergence error for',
  ' requires jenkins',
];

const [MAX_CONFLICTS, MAX_LINES, MAX_NAMED] = [50, 120, 3];
const CONFLICT = new RegExp(
  '(?<kind>Require upper bound dependencies|Dependency convergence) error for ' +
    String.raw`(?<group>[\w.-]{1,120}):(?<name>[\w.-]{1,120}):(?:jar:)?(?<used>[\w.-]{1,80})`,
);
const NODE = new RegExp(
  String.raw`^(?:\[ERROR\] ?)?(?<indent>\s{0,80})(?:\+-|\\-)\s?(?<group>[\w.-]{1,120})` +
    String.raw`:(?<name>[\w.-]{1,120}):(?:jar:)?(?<version>[\w.-]{1,80})` +
    String.raw`(?:.{0,80}<-- [\w.-]{1,120}:[\w.-]{1,120}:(?:jar:)?(?<asked>[\w.-]{1,80}))?`,
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
    .slice(0, MAX_CONFLICTS)
    .flatMap((line) => [...readPaths(log, line), ...readRequirement(log, line)]);
  const byArtifact = Map.groupBy(all, ({ artifact }) => `${artifact.group}:${artifact.name}`);
  return [...byArtifact.values()]
    .toSorted((left, right) => right.length - left.length)
    .slice(0, MAX_NAMED)
    .flatMap(([first]) => first ?? []);
}

function readRequirement(log: LogText, line: number): Conflict[] {
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
  readonly asked: string;
}

/**
 * Reads the paths of Maven's enforcer: of an upper bound, the direct dependencies that ask for a newer
 * version than the used one; where versions do not converge, all that ask for any.
 */
function readPaths(log: LogText, start: number): Conflict[] {
  const { kind, group, name, used } = CONFLICT.exec(log.line(start))?.groups ?? {};
  if (group === undefined || name === undefined || used === undefined) return [];
  const paths = listPathsTo(log, start, { group, name });
  const isBound = kind === 'Require upper bound dependencies';
  const counting = isBound ? paths.filter(({ asked }) => compareVersions(asked, used) > 0) : paths;
  return counting.flatMap(({ direct, asked }) => {
    const other = isBound ? used : paths.find((path) => path.asked !== asked)?.asked;
    return other === undefined
      ? []
      : [{ artifact: direct, of: `${group}:${name}`, needed: asked, used: other, line: start }];
  });
}

function listPathsTo(log: LogText, start: number, { group, name }: Pick<Artifact, 'group' | 'name'>): Path[] {
  const paths: Path[] = [];
  let direct: Artifact | null = null;
  let depth = 0;
  for (const [offset, text] of listLinesBetween(log, start + 1, start + MAX_LINES, MAX_LINES).entries()) {
    if (CONFLICT.test(text) || /^(?:\[ERROR\] ?)?\s{0,4}\]/.test(text)) break;
    const node = NODE.exec(text)?.groups;
    depth = node === undefined ? 0 : depth + 1;
    if (node === undefined) continue;
    const { group: ofGroup = '', name: ofName = '', version = '', asked = version } = node;
    if (depth === 2)
      direct = {
        ecosystem: 'maven',
        group: ofGroup,
        name: ofName,
        version,
        line: start + 1 + offset,
        isUsed: true,
      };
    if (direct !== null && depth >= 2 && ofGroup === group && ofName === name) paths.push({ direct, asked });
  }
  return paths;
}
