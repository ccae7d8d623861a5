import type { ExitMark, Section } from '../domain/failure.ts';
import type { LogText } from './lines/lines.ts';
import { azure, teamcity } from './sections/blocks.ts';
import { COMMAND_SYSTEMS, cloudBuild } from './sections/commands.ts';
import { ECHO_LITERALS, readEchoes } from './sections/echoes.ts';
import { EXIT_LITERALS, readExits } from './sections/exits.ts';
import { github } from './sections/github.ts';
import { gitlab } from './sections/gitlab.ts';
import { jenkins } from './sections/jenkins.ts';
import { traceFailure } from './sections/shell-trace.ts';
import { type CiSystem, isWithin, type LineRange, type Step, type SystemReading } from './sections/system.ts';

export type { LineRange, Step } from './sections/system.ts';

/** What the CI system's own marks say: the steps, those that turned the build red, and where each failing command ended. */
export interface Structure {
  /** In the order of the log, but those that only follow from others come last. */
  readonly failedSections: readonly Section[];
  readonly exits: readonly ExitMark[];
  /** Lines after which the log is only clean-up; `lineCount` where nothing says so. */
  readonly end: number;
  /** The same by job: what stands behind the step that failed it. */
  readonly afterwards: readonly LineRange[];
  /** In the order of the log, which need not mark all of its steps. */
  readonly steps: readonly Step[];
  /** Lines that no program of the build wrote as its output, ascending: commands echoed, and what people wrote around a quoted log. */
  readonly echoes: readonly LineRange[];
}

/** The same where no mark of a step is believed: the whole log is one step. For measurements. */
export function withoutSections(structure: Structure, log: LogText): Structure {
  return { ...structure, failedSections: [], end: log.lineCount, afterwards: [], steps: [], echoes: [] };
}

/** Jobs of one log whose ends are told; more have no honest use. */
const MAX_JOBS = 500;

/** Whole builds before tools that may run inside of one. */
const SYSTEMS: readonly CiSystem[] = [jenkins, gitlab, azure, github, ...COMMAND_SYSTEMS, cloudBuild, teamcity];

/** Literals whose lines {@link readStructure} needs. */
export const STRUCTURE_LITERALS: readonly string[] = [
  ...new Set([...SYSTEMS.flatMap(({ literals }) => literals), ...EXIT_LITERALS, ...ECHO_LITERALS]),
];

/** Reads the CI system's marks from the lines that hold one of {@link STRUCTURE_LITERALS}. */
export function readStructure(log: LogText, lines: readonly number[]): Structure {
  const marks = lines.map((line) => ({ line, text: log.line(line) }));
  const told = readSystem(log, marks);
  const echoes = [...(told.echoes ?? []), ...readEchoes(log, marks)].sort((a, b) => a.start - b.start);
  const exits = readExits(log, marks).filter(({ line }) => !isWithin(echoes, line));
  const traced = told.failed.length > 0 ? null : traceFailure(log, exits);
  const failedSections = (traced === null ? told.failed : [traced])
    .map((section) => withExit(section, exits))
    .sort((a, b) => Number(a.consequence ?? false) - Number(b.consequence ?? false));
  const end = endIn(failedSections, { start: 1, end: log.lineCount });
  const afterwards = (told.jobs ?? [{ start: 1, end: log.lineCount }])
    .slice(0, MAX_JOBS)
    .map((job) => ({ start: endIn(failedSections, job) + 1, end: job.end }))
    .filter((after) => after.start <= after.end);
  return { failedSections, exits, end, afterwards, steps: told.steps ?? [], echoes };
}

/** The first system that knows of a failure; else the first that knows the log. */
function readSystem(log: LogText, marks: readonly { line: number; text: string }[]): SystemReading {
  let known: SystemReading | null = null;
  for (const { read } of SYSTEMS) {
    const found = read(log, marks);
    if (found !== null && found.failed.length > 0) return found;
    known ??= found;
  }
  return known ?? { failed: [] };
}

/** Where the last step of a job ends that failed it; the job's end where none did. */
function endIn(sections: readonly Section[], job: LineRange): number {
  const fatal = sections.findLast((one) => one.consequence !== true && one.lineStart >= job.start && one.lineEnd <= job.end);
  return fatal?.lineEnd ?? job.end;
}

/** The last exit told inside a section, or just below it, is the one that ended it. */
function withExit(section: Section, exits: readonly ExitMark[]): Section {
  const own = exits.findLast(({ line, code }) => code !== null && line >= section.lineStart && line <= section.lineEnd + 1);
  return own?.code == null ? section : { ...section, exitCode: own.code };
}
