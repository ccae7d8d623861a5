import type { ExitMark, Section } from '../domain/failure.ts';
import { findLineAbove, type LogText } from './lines/lines.ts';
import { github } from './sections/github.ts';
import { gitlab, jenkins } from './sections/gitlab-jenkins.ts';
import { COMMAND_SYSTEMS, cloudBuild, ECHO_LITERALS, readEchoes, traceFailure } from './sections/shell.ts';
import {
  type CiSystem,
  createFailedSection,
  isWithin,
  type LineRange,
  type Mark,
  readServiceMessage,
  type SystemReading,
  withConsequences,
} from './sections/system.ts';

/** A marker on a line that opens or closes a block, or reports an error in it. */
type BlockMark =
  | { readonly kind: 'open' | 'close'; readonly name: string }
  | { readonly kind: 'error'; readonly isSure: boolean };

const FATAL = new RegExp(
  String.raw`^##\[error\](?:.{1,80} (?:exited with code|failed with (?:exit code|return code|` +
    String.raw`error)) '?-?\d|The (?:task|operation|job) .{0,120}(?:timed out|cancell?ed|exceeded))|` +
    String.raw`task\.complete result=Failed`,
  'i',
);

/** Azure Pipelines. Tasks are between `##[section]Starting:` and `Finishing:`, jobs around them. */
const azure: CiSystem = {
  literals: ['##[section]', '##[error]', '##vso[task.complete'],
  read: (log, marks) => {
    if (!marks.some(({ text }) => text.startsWith('##[section]Starting: '))) return null;
    const failed = readBlocks(log, marks, parseAzureMark, false);
    const first = failed.findIndex(({ isSure }) => isSure);
    // Errors that a task reported before another task failed did not stop the job.
    const hasSteps = marks.some(({ text }) => parseAzureMark(text)?.kind === 'open');
    return {
      failed: withConsequences(failed.slice(Math.max(0, first)).map(({ section }) => section)),
      hasSteps,
    };
  },
};

function parseAzureMark(text: string): BlockMark | null {
  const [, word, name = ''] = /^##\[section\](Starting|Finishing): (.{1,200})/.exec(text) ?? [];
  if (word !== undefined) return { kind: word === 'Starting' ? 'open' : 'close', name };
  const isSure = FATAL.test(text);
  return isSure || text.startsWith('##[error]') ? { kind: 'error', isSure } : null;
}

/**
 * The prefix of each line in a downloaded build log of TeamCity: time, status letter and the step's number.
 */
const PREFIX = /^(?:\[\d\d:\d\d:\d\d\])?(?:\w ?)?: {0,2}\s{0,40}(?=\[Step|Step|Process|##)/;
const NUMBER = /\[Step \d{1,3}\/\d{1,3}\]/;
const MAX_OUTPUT = 20_000;

/** TeamCity. Downloaded logs number their steps; tools report blocks and problems by service messages. */
const teamcity: CiSystem = {
  literals: [
    'process exited with code',
    '##teamcity[block',
    '##teamcity[buildproblem',
    '##teamcity[compilation',
    '##teamcity[message',
  ],
  read: (log, marks) => {
    const numbered = numberSteps(log, marks);
    const failed =
      numbered.length > 0
        ? numbered
        : readBlocks(log, marks, parseTeamcityMark, true).map(({ section }) => section);
    return { failed: withConsequences(failed) };
  },
};

function parseTeamcityMark(text: string): BlockMark | null {
  const message = readServiceMessage(text.replace(PREFIX, ''));
  if (message === null) return null;
  const { name, attributes } = message;
  const block = attributes.get('name') ?? attributes.get('compiler') ?? '';
  if (/^(?:blockOpened|compilationStarted)$/.test(name)) return { kind: 'open', name: block };
  if (/^(?:blockClosed|compilationFinished)$/.test(name)) return { kind: 'close', name: block };
  return name === 'buildProblem' || /^(?:ERROR|FAILURE)$/.test(attributes.get('status') ?? '')
    ? { kind: 'error', isSure: true }
    : null;
}

function numberSteps(log: LogText, marks: readonly Mark[]): Section[] {
  const failed: Section[] = [];
  const seen = new Set<string>();
  for (const { line } of marks) {
    const raw = log.raw(line).slice(0, 600);
    const number = NUMBER.exec(raw)?.[0];
    if (number === undefined || seen.has(number) || !/Process exited with code -?[1-9]/.test(raw)) continue;
    seen.add(number);
    const named = /\(Step: (.{1,200})\)\s{0,3}$/.exec(log.raw(line + 1).slice(0, 600))?.[1];
    const before = findLineAbove(
      log,
      line,
      MAX_OUTPUT,
      (_text, at) => !log.raw(at).slice(0, 120).includes(number),
    );
    const head =
      before === null ? null : /Step \d{1,3}\/\d{1,3}: (.{1,200})$/.exec(log.raw(before).trimEnd())?.[1];
    const name = named ?? head?.replace(/ \(\d{1,4}[ms].{0,12}\)$/, '') ?? number.slice(1, -1);
    failed.push(createFailedSection(log, [name], head == null ? (before ?? 0) + 1 : (before ?? 1), line));
  }
  return failed;
}

/**
 * Reads the blocks that contain an error, named together with the blocks around them. They end where they are
 * closed, or at their last error. `isSure` is true if the CI system reported that the block failed, not only
 * a tool that reported an error.
 */
function readBlocks(
  log: LogText,
  marks: readonly Mark[],
  markOf: (text: string) => BlockMark | null,
  toClose: boolean,
): { readonly section: Section; readonly isSure: boolean }[] {
  const open: { name: string; line: number; errorAt: number | null; isSure: boolean }[] = [];
  const failed: ReturnType<typeof readBlocks> = [];
  const close = (closedAt: number | null) => {
    const path = open.map(({ name }) => name);
    const block = open.pop();
    if (block === undefined) return;
    const { line, errorAt, isSure } = block;
    if (errorAt !== null)
      failed.push({
        section: createFailedSection(log, path, line, toClose ? (closedAt ?? errorAt) : errorAt),
        isSure,
      });
  };
  for (const { line, text } of marks) {
    const mark = markOf(text);
    const inner = open.at(-1);
    if (mark?.kind === 'open') open.push({ name: mark.name, line, errorAt: null, isSure: false });
    else if (mark?.kind === 'close') {
      const at = open.findLastIndex(({ name }) => name === mark.name);
      while (at !== -1 && open.length > at) close(line);
    } else if (mark?.kind === 'error' && inner !== undefined) {
      inner.errorAt = line;
      inner.isSure ||= mark.isSure;
    }
  }
  while (open.length > 0) close(null);
  return failed.sort((a, b) => a.section.lineStart - b.section.lineStart);
}

/** Literals of lines that say how a process ended. */
const EXIT_LITERALS = [
  'exited with',
  'exit code',
  'exit status',
  'with code',
  'returned exit',
  'sigsegv',
  'sigabrt',
  'sigbus',
  'sigill',
  'sigfpe',
  'signal sig',
  'signal: sig',
  "signal 'sig",
  "signal: 'sig",
  'signal=sig',
  'signal (sig',
  'by sig',
  'with sig',
  'received sig',
] as const;

const EXIT = new RegExp(
  '(?:exited with|exit(?:ed with)?(?: (?:error )?(?:code|status))?|' +
    String.raw`script returned exit code|returned exit code|with code)[: ]{1,3}'?(\d{1,3})\b`,
  'i',
);
/**
 * Names of signals. A crash signal always counts. A stop signal may only be mentioned, so the word before it
 * must say that it was received.
 */
const SIGNAL = new RegExp(
  String.raw`\b(SIG(?:SEGV|ABRT|BUS|ILL|FPE)|(?<=\b(?:[Ss]ignal[:=]?|by|with|` +
    String.raw`[Rr]eceived)[ '"(]{0,2})SIG(?:KILL|TERM|PIPE|INT))\b`,
);
const MAX_EXITS = 200;

/** Reads the exits with an error, in the order of the log, at most the first 200. */
function readExits(log: LogText, marks: readonly Mark[]): ExitMark[] {
  const exits: ExitMark[] = [];
  for (const { line, text } of marks) {
    if (exits.length === MAX_EXITS) break;
    const code = EXIT.exec(text)?.[1];
    const signal = SIGNAL.exec(text)?.[1];
    if (code === undefined && signal === undefined) continue;
    if (code === '0' || Number(code) > 255) continue;
    exits.push({
      code: code === undefined ? null : Number(code),
      signal: signal ?? null,
      source: log.name,
      line,
    });
  }
  return exits;
}

/**
 * The structure of a log according to the CI system's own markers: the steps that failed the build, and where
 * each failing command ended.
 */
export interface Structure {
  /** The failed sections in the order of the log. Those that are a consequence of others come last. */
  readonly failedSections: readonly Section[];
  readonly exits: readonly ExitMark[];
  /** The lines of each job after the step that failed it. They are only cleanup. */
  readonly afterwards: readonly LineRange[];
  /** True if steps are marked, whether failed or not. */
  readonly hasSteps: boolean;
  /**
   * Lines that are not output of the build's programs, ascending: echoed commands, and text that people wrote
   * around a quoted log.
   */
  readonly echoes: readonly LineRange[];
}

/** Returns the structure without marked steps, as if the whole log were one step. For measurements. */
export function withoutSections(structure: Structure): Structure {
  return { ...structure, failedSections: [], afterwards: [], hasSteps: false, echoes: [] };
}

/** The maximum number of jobs of one log. No honest log has more. */
const MAX_JOBS = 500;

/**
 * The systems, in the order in which they are tried. Systems that run whole builds precede tools that may run
 * inside one.
 */
const SYSTEMS: readonly CiSystem[] = [
  jenkins,
  gitlab,
  azure,
  github,
  ...COMMAND_SYSTEMS,
  cloudBuild,
  teamcity,
];

/** The literals that {@link readStructure} needs. */
export const STRUCTURE_LITERALS: readonly string[] = [
  ...new Set([...SYSTEMS.flatMap(({ literals }) => literals), ...EXIT_LITERALS, ...ECHO_LITERALS]),
];

/** Reads the CI system's markers from the lines that contain one of {@link STRUCTURE_LITERALS}. */
export function readStructure(log: LogText, lines: readonly number[]): Structure {
  const marks = lines.map((line) => ({ line, text: log.line(line) }));
  const system = readSystem(log, marks);
  const echoes = [...(system.echoes ?? []), ...readEchoes(log, marks)].sort((a, b) => a.start - b.start);
  const exits = readExits(log, marks).filter(({ line }) => !isWithin(echoes, line));
  const traced = system.failed.length > 0 ? null : traceFailure(log, exits);
  const failedSections = (traced === null ? system.failed : [traced])
    .map((section) => withExit(section, exits))
    .sort((a, b) => Number(a.consequence ?? false) - Number(b.consequence ?? false));
  const afterwards = (system.jobs ?? [{ start: 1, end: log.lineCount }])
    .slice(0, MAX_JOBS)
    .map((job) => ({ start: findFailedEnd(failedSections, job) + 1, end: job.end }))
    .filter((after) => after.start <= after.end);
  return { failedSections, exits, afterwards, hasSteps: system.hasSteps ?? false, echoes };
}

/**
 * Reads the log with the first system that finds a failure, or else with the first one that recognizes the
 * log.
 */
function readSystem(log: LogText, marks: readonly Mark[]): SystemReading {
  let known: SystemReading | null = null;
  for (const { read } of SYSTEMS) {
    const found = read(log, marks);
    if (found !== null && found.failed.length > 0) return found;
    known ??= found;
  }
  return known ?? { failed: [] };
}

/** Returns the end of the last step that failed a job, or the job's end if none did. */
function findFailedEnd(sections: readonly Section[], job: LineRange): number {
  const fatal = sections.findLast(
    (section) => section.consequence !== true && section.lineStart >= job.start && section.lineEnd <= job.end,
  );
  return fatal?.lineEnd ?? job.end;
}

/**
 * Adds the exit code of the last exit inside a section or directly below it, which is the exit that ended the
 * section.
 */
function withExit(section: Section, exits: readonly ExitMark[]): Section {
  const exit = exits.findLast(
    ({ line, code }) => code !== null && line >= section.lineStart && line <= section.lineEnd + 1,
  );
  return exit?.code == null ? section : { ...section, exitCode: exit.code };
}
