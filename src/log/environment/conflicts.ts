import { type LogText, linesBetween } from '../lines/lines.ts';
import type { Artifact } from './artifacts.ts';

/** An artifact that needs another version of something than the build has. */
export interface Conflict {
  /** The direct dependency that needs it, or what is needed itself where the build declares it. */
  readonly artifact: Artifact;
  /** `group:name`, or "Jenkins". */
  readonly of: string;
  readonly needed: string;
  /** The version the build has; null where the log does not say. */
  readonly used: string | null;
  /** Where the log says so. */
  readonly line: number;
}

/** ASCII literals, case ignored: a line without any of them begins no conflict. */
export const CONFLICT_LITERALS: readonly string[] = ['upper bound dep', 'convergence error for', ' requires jenkins'];

const [MAX_CONFLICTS, MAX_LINES, MAX_NAMED] = [50, 120, 3];
const CONFLICT =
  /(?:Require upper bound dependencies|Dependency convergence) error for (?<group>[\w.-]{1,120}):(?<name>[\w.-]{1,120}):(?:jar:)?(?<used>[\w.-]{1,80})/;
const NODE =
  /^(?:\[ERROR\] ?)?(?<indent>\s{0,80})(?:\+-|\\-)\s?(?<group>[\w.-]{1,120}):(?<name>[\w.-]{1,120}):(?:jar:)?(?<version>[\w.-]{1,80})(?:.{0,80}<-- [\w.-]{1,120}:[\w.-]{1,120}:(?:jar:)?(?<asked>[\w.-]{1,80}))?/;
const REQUIRES =
  /\bDependency (?<group>[\w.-]{1,120}):(?<name>[\w.-]{1,120}):jar:(?<version>[\w.-]{1,80}) requires (?<of>Jenkins) (?<needed>[\w.-]{1,40}) or higher/;

/** Reads which direct dependencies need newer versions than the build has: the one that needs most of them first. */
export function readConflicts(log: LogText, lines: readonly number[]): Conflict[] {
  const all = lines.slice(0, MAX_CONFLICTS).flatMap((line) => [...readPaths(log, line), ...readRequirement(log, line)]);
  const byArtifact = Map.groupBy(all, ({ artifact }) => `${artifact.group}:${artifact.name}`);
  return [...byArtifact.values()]
    .toSorted((one, other) => other.length - one.length)
    .slice(0, MAX_NAMED)
    .flatMap(([first]) => first ?? []);
}

function readRequirement(log: LogText, line: number): Conflict[] {
  const { group, name, version, of, needed } = REQUIRES.exec(log.line(line))?.groups ?? {};
  if (group === undefined || name === undefined || version === undefined || of === undefined || needed === undefined) return [];
  return [{ artifact: { ecosystem: 'maven', group, name, version, line, isUsed: true }, of, needed, used: null, line }];
}

/** Reads the paths of Maven's enforcer: the direct dependencies at whose end another version than the used one is asked for. */
function readPaths(log: LogText, start: number): Conflict[] {
  const { group, name, used } = CONFLICT.exec(log.line(start))?.groups ?? {};
  if (group === undefined || name === undefined || used === undefined) return [];
  const conflicts: Conflict[] = [];
  let direct: Artifact | null = null;
  let depth = 0;
  for (const [offset, text] of linesBetween(log, start + 1, start + MAX_LINES, MAX_LINES).entries()) {
    if (CONFLICT.test(text) || /^(?:\[ERROR\] ?)?\s{0,4}\]/.test(text)) break;
    const node = NODE.exec(text)?.groups;
    if (node === undefined) {
      depth = 0;
      continue;
    }
    depth++;
    if (depth === 2)
      direct = {
        ecosystem: 'maven',
        group: node.group ?? '',
        name: node.name ?? '',
        version: node.version ?? '',
        line: start + 1 + offset,
        isUsed: true,
      };
    const asked = node.asked ?? node.version ?? '';
    if (direct !== null && depth >= 2 && node.group === group && node.name === name && asked !== used)
      conflicts.push({ artifact: direct, of: `${group}:${name}`, needed: asked, used, line: start });
  }
  return conflicts;
}
