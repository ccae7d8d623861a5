import type { ExitMark, Section } from '../domain/failure.ts';
import type { LogText } from './lines/lines.ts';
import { appveyor } from './sections/appveyor.ts';
import { azure } from './sections/azure.ts';
import { buildkite } from './sections/buildkite.ts';
import { circleci } from './sections/circleci.ts';
import { cloudBuild } from './sections/cloud-build.ts';
import { codebuild } from './sections/codebuild.ts';
import { EXIT_LITERALS, readExits } from './sections/exits.ts';
import { github } from './sections/github.ts';
import { gitlab } from './sections/gitlab.ts';
import { jenkins } from './sections/jenkins.ts';
import { traceFailure } from './sections/shell-trace.ts';
import type { CiSystem } from './sections/system.ts';
import { teamcity } from './sections/teamcity.ts';
import { travis } from './sections/travis.ts';

/** What the CI system's own marks say: the steps that failed, and where each failing command ended. */
export interface Structure {
  readonly failedSections: readonly Section[];
  readonly exits: readonly ExitMark[];
  /** Lines after which the log is only clean-up; `lineCount` where nothing says so. */
  readonly end: number;
}

/** The same where no mark of a step is believed: the whole log is one step. For measurements. */
export function withoutSections(structure: Structure, log: LogText): Structure {
  return { ...structure, failedSections: [], end: log.lineCount };
}

/** Whole builds before tools that may run inside of one. */
const SYSTEMS: readonly CiSystem[] = [
  jenkins,
  gitlab,
  azure,
  github,
  travis,
  codebuild,
  cloudBuild,
  buildkite,
  appveyor,
  circleci,
  teamcity,
];

/** Literals whose lines {@link readStructure} needs. */
export const STRUCTURE_LITERALS: readonly string[] = [...new Set([...SYSTEMS.flatMap(({ literals }) => literals), ...EXIT_LITERALS])];

/** Reads the CI system's marks from the lines that hold one of {@link STRUCTURE_LITERALS}. */
export function readStructure(log: LogText, lines: readonly number[]): Structure {
  const marks = lines.map((line) => ({ line, text: log.line(line) }));
  const exits = readExits(log, marks);
  const told = firstFailures(log, marks);
  const traced = told.length > 0 ? null : traceFailure(log, exits);
  const failed = traced === null ? told : [traced];
  const failedSections = failed.map((section) => withExit(section, exits));
  const fatal = failedSections.findLast(({ consequence }) => consequence !== true);
  return { failedSections, exits, end: fatal?.lineEnd ?? log.lineCount };
}

function firstFailures(log: LogText, marks: readonly { line: number; text: string }[]): readonly Section[] {
  for (const { failures } of SYSTEMS) {
    const failed = failures(log, marks);
    if (failed.length > 0) return failed;
  }
  return [];
}

/** The last exit told inside a section, or just below it, is the one that ended it. */
function withExit(section: Section, exits: readonly ExitMark[]): Section {
  const own = exits.findLast(({ line, code }) => code !== null && line >= section.lineStart && line <= section.lineEnd + 1);
  return own?.code == null ? section : { ...section, exitCode: own.code };
}
