import type { ExitMark, Section } from '../../domain/failure.ts';
import { findLineAbove, type LogText } from '../lines/lines.ts';
import { type CiSystem, createFailedSection, type LineRange, type Mark, withConsequences } from './system.ts';

/** The markers of a CI system that shows where a command begins and how it ended. */
interface CommandMarks {
  /**
   * Literals of the lines that say how a command ended, and, unless `reach` is set, of the lines that begin
   * one.
   */
  readonly literals: readonly string[];
  /**
   * The number of lines above an end that are searched for the beginning of the command, if beginnings have
   * no literal.
   */
  readonly reach?: number;
  /** Returns the name of the command or group that begins on a line, or null if none does. */
  readonly begins: (text: string, log: LogText, line: number) => string | null;
  /**
   * Matches the line that says that the command failed. Its optional group is the name of what contains the
   * command.
   */
  readonly failed: RegExp;
  /** Matches a line with the name of what contains the commands below it. */
  readonly around?: RegExp;
  /** The name of a command whose beginning is not found. If absent, such a command is ignored. */
  readonly unnamed?: string;
}

const STAMP =
  /^(?:\u001b?_bk;t=\d{1,16}\u0007|\[Container\] \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? )/;
/** Lines that begin with the same signs as Buildkite's groups: headings of diffs and results of Go tests. */
const NO_GROUP =
  /^(?:---|\+\+\+) (?:[ab]\/|\/dev\/null|\S{1,200}\t|Expected|Actual|Received|(?:FAIL|PASS|SKIP): )/;

const SYSTEMS: readonly CommandMarks[] = [
  // Travis. Commands are timed or folded where they begin. If a command has several lines, the message may
  // show only its last line, without the beginning; it then differs from a tool's
  // `ERROR: "lint" exited with 1.` only by having no colon and a single quote.
  {
    literals: [
      'travis_fold:',
      'travis_time:',
      '" exited with ',
      'failed and exited with ',
      'no output has been received',
      'exceeded the maximum ',
    ],
    begins: findTravisCommand,
    failed: new RegExp(
      String.raw`^(?:(?:The command ".{1,1500}|[^":]{0,300})" (?:failed and )?exited with [1-9]\d{0,2}` +
        String.raw`(?: during (\w{0,30}))?\.\s{0,3}$|No output has been received in the last |` +
        'The job exceeded the maximum (?:time|log) )',
    ),
    unnamed: 'log',
  },
  // AWS CodeBuild. The container names each command and each phase.
  {
    literals: [
      'entering phase ',
      'running command ',
      'command did not exit successfully',
      'phase complete: ',
    ],
    begins: (text) =>
      /^Running command (.{1,200})/.exec(text)?.[1] ?? (/^Entering phase/.test(text) ? '' : null),
    failed: /^Command did not exit successfully /,
    around: /^Entering phase (\w{1,40})/,
    unnamed: '',
  },
  // Buildkite. `---`, `+++` and `~~~` begin groups. Other lines with `🚨 Error:` are about single calls that
  // do not fail the job.
  {
    literals: ['exited with status', 'user command error: '],
    reach: 5_000,
    begins: (text) =>
      NO_GROUP.test(text) ? null : (/^(?:---|\+\+\+|~~~) (\S.{0,200})/.exec(text)?.[1] ?? null),
    failed: new RegExp(
      String.raw`^(?:\W{0,12}Error: (?:running .{1,200}: |Error tearing down .{1,60}: )?` +
        'The (?:command|.{1,80} hook) exited with status [1-9]|' +
        'user command error: (?:exit status [1-9]|.{1,200} exited with status))',
    ),
  },
  // AppVeyor. The scripts of each phase are named before they run.
  {
    literals: [
      'command exited with code',
      'command executed with exception',
      'build execution time has reached',
    ],
    reach: 5_000,
    begins: (text) => /^Running (.{1,40}) scripts?$/.exec(text)?.[1]?.replace(/"/g, '') ?? null,
    failed: /^(?:Command (?:exited with code -?\d|executed with exception)|Build execution time has reached)/,
    unnamed: 'build',
  },
  // CircleCI. The output of each step begins with its shell and script; its command-line tool adds headings.
  {
    literals: [
      'exited with code',
      'circleci received exit code',
      'too long with no output',
      '====>> ',
      'bash -eo pipefail',
    ],
    begins: (text, log, line) =>
      /^====>> (.{1,200})/.exec(text)?.[1] ??
      (/^#!\/bin\/(?:ba)?sh -eo pipefail/.test(text) ? log.line(line + 1) : null),
    failed: new RegExp(
      '^(?:(?:Error: )?Exited with code (?:exit status )?[1-9]|' +
        String.raw`CircleCI received exit code [1-9]|Too long with no output \(exceeded)`,
    ),
    unnamed: 'log',
  },
  // act, Gitea and Forgejo, which run GitHub's workflows
  {
    literals: ['run main ', 'run post ', 'failure - main ', 'failure - post '],
    begins: (text) => /^\W{1,8}Run (?:Main|Post) (.{1,200})$/.exec(text)?.[1] ?? null,
    failed: /^\W{1,8}Failure - (?:Main|Post) /,
  },
];

/** The CI systems that show commands one after the other. Each is a row of {@link SYSTEMS}. */
export const COMMAND_SYSTEMS: readonly CiSystem[] = SYSTEMS.map((system) => ({
  literals: system.literals,
  read: (log, marks) => readCommands(log, marks, system),
}));

/**
 * Google Cloud Build. Each step prints when it starts and when it is finished. At its end, the build names
 * the step that failed.
 */
export const cloudBuild: CiSystem = {
  literals: ['starting step #', 'finished step #', 'error: build step '],
  read: (log, marks) => {
    const ended = marks.find(({ text }) => /^ERROR: build step \d{1,3} "[^"]{1,300}" failed: /.test(text));
    if (ended === undefined) return null;
    const number = /\d{1,3}/.exec(ended.text)?.[0] ?? '';
    const of = (word: string) =>
      marks.find(({ text }) => new RegExp(`^${word} Step #${number}(?:\\D|$)`).test(text));
    const started = of('Starting');
    const name = /- "([^"]{1,200})"/.exec(started?.text ?? '')?.[1] ?? `Step #${number}`;
    return {
      failed: [createFailedSection(log, [name], started?.line ?? 1, of('Finished')?.line ?? ended.line)],
    };
  },
};

function readCommands(
  log: LogText,
  marks: readonly Mark[],
  system: CommandMarks,
): ReturnType<CiSystem['read']> {
  const failed: Section[] = [];
  const begun: { readonly name: string; readonly lineStart: number }[] = [];
  let around = '';
  for (const { line, text: content } of marks) {
    const text = content.replace(STAMP, '');
    around = system.around?.exec(text)?.[1] ?? around;
    const after = failed.at(-1)?.lineEnd ?? 0;
    const last = begun.findLast(({ lineStart }) => lineStart > after);
    const ended = system.failed.exec(text);
    if (ended !== null) {
      const start = system.reach === undefined ? last : findBeginning(log, line, after, system);
      const name = start?.name ?? (failed.length === 0 ? system.unnamed : undefined);
      if (name !== undefined)
        failed.push(createFailedSection(log, [ended[1] ?? around, name], start?.lineStart ?? 1, line));
    }
    const name = system.reach === undefined ? system.begins(text, log, line) : null;
    if (name !== null) begun.push({ name: name || (last?.name ?? ''), lineStart: line });
  }
  if (failed.length === 0) return null;
  const echoes = begun.map(({ lineStart }) => ({ start: lineStart, end: lineStart }));
  return { failed: withConsequences(failed), hasSteps: begun.length > 0, echoes };
}

function findBeginning(log: LogText, line: number, after: number, { begins, reach = 0 }: CommandMarks) {
  const nameAt = (at: number) => begins(log.line(at).replace(STAMP, ''), log, at);
  const at = findLineAbove(log, line, reach, (_text, number) => nameAt(number) !== null, after + 1);
  return at === null ? undefined : { name: nameAt(at) ?? '', lineStart: at };
}

/**
 * Returns the command that begins with Travis's marker before a carriage return. It is on the same line or
 * the next. Returns an empty string if neither names one, and null if no command begins on the line.
 */
function findTravisCommand(text: string, log: LogText, line: number): string | null {
  const isMarked = /travis_(?:time|fold):start/.test(log.raw(line).slice(0, 500));
  if (!isMarked && !text.startsWith('$ ')) return null;
  const commandLine = text.includes('$ ') || !log.line(line + 1).startsWith('$ ') ? text : log.line(line + 1);
  return /^.{0,200}?\$ (.{0,120})/.exec(commandLine)?.[1] ?? '';
}

/** Literals of lines that docker and Markdown print around commands and logs. */
export const ECHO_LITERALS = ['] run ', ' : run ', '| >>> ', '```'] as const;

/**
 * An instruction of a Dockerfile before it runs: `#12 [4/7] RUN npm ci`, ` > [4/7] RUN npm ci:`,
 * `Step 4/7 : RUN npm ci`.
 */
const INSTRUCTION = /^(?:#\d{1,4} | {0,2}> )\[[^\]]{1,80}\] RUN |^Step \d{1,3}\/\d{1,3} : RUN /;
/** Lines of the Dockerfile that are quoted around the failed instruction. */
const EXCERPT = /^\s{0,6}\d{1,5} \| |^-{20}$|^[\w./-]{0,200}[Dd]ockerfile[\w.-]{0,40}:\d{1,5}$/;
const MAX_EXCERPT = 20;
const FENCE = /^\s{0,3}```[\w-]{0,20}\s{0,3}$/;

/**
 * Returns the lines in which docker builds repeat instructions, and the text around a log in Markdown fences.
 */
export function readEchoes(log: LogText, marks: readonly Mark[]): LineRange[] {
  const echoes: LineRange[] = [];
  for (const { line, text } of marks) {
    if (INSTRUCTION.test(text)) echoes.push({ start: line, end: line });
    else if (/^\s{0,6}\d{1,5} \| >>> /.test(text) && line > (echoes.at(-1)?.end ?? 0))
      echoes.push(getExcerptAround(log, line));
  }
  return [...echoes, ...listAroundFences(log, marks)];
}

function getExcerptAround(log: LogText, line: number): LineRange {
  let [start, end] = [line, line];
  while (start > line - MAX_EXCERPT && EXCERPT.test(log.line(start - 1))) start--;
  while (end < line + MAX_EXCERPT && EXCERPT.test(log.line(end + 1))) end++;
  return { start, end };
}

/**
 * Returns the lines outside of Markdown fences. Returns none unless the fences contain more than half of the
 * text, and more than a few lines, because builds print Markdown, too.
 */
function listAroundFences(log: LogText, marks: readonly Mark[]): LineRange[] {
  const fences = marks.filter(({ text }) => FENCE.test(text)).map(({ line }) => line);
  const outside: LineRange[] = [];
  let [from, inside] = [1, 0];
  for (let at = 0; at < fences.length; at += 2) {
    const [open = 1, close = log.lineCount + 1] = fences.slice(at, at + 2);
    outside.push({ start: from, end: open });
    inside += close - open - 1;
    from = close;
  }
  if (from <= log.lineCount) outside.push({ start: from, end: log.lineCount });
  return inside > 4 && inside > log.lineCount / 2 ? outside : [];
}

/**
 * A command traced by `set -x`: a `+` for each nested shell, then the command, which may begin with settings
 * of variables.
 */
const TRACE =
  /^\+{1,4} ((?:[A-Za-z_]\w{0,40}=\S{0,100} ){0,5}["'$~]?[A-Za-z_./[][\w./~$'"@:[-]{0,200}(?: .{0,300})?)$/;
/** Commands that set up, test or clean up. They are rarely what failed, and traps run them afterwards. */
const TRIVIAL = new RegExp(
  String.raw`^(?:exit|return|local|:|source|\.|set|trap|rm|echo|printf|true|false|export|` +
    'declare|unset|shift|popd|cd|kill|wait|cat|test|mkdir|sleep)(?: |$)|' +
    String.raw`^'?\[{1,2}'?(?: |$)|^(?:\w{1,40}=\S{0,200}$)`,
);
/** Lines of pnpm and terraform that list additions after a `+`. */
const LISTED = /^\+ @?[\w./-]{1,100} \(?v?\d{1,5}\.|^\+ (?:resource|module|data|output) "/;
const COMPLAINT = /\b(?:error|fatal|fail(?:ed|ure)?|exception|not found|denied|killed|cannot|unable)\b/i;
const SUCCESS = /^(?:Finished: SUCCESS|Job succeeded|Build succeeded|The command ".{1,300}" exited with 0)/i;
const MAX_OUTPUT = 2_000;
const MAX_TAIL = 300;

/**
 * Finds the last command that a traced shell ran before it failed. The section reaches from its trace to its
 * exit, or to the end of the log. Requires at least two traced commands, so that a line of a diff is not
 * mistaken for one. Skips commands that printed nothing. Returns null if there is none.
 */
export function traceFailure(log: LogText, exits: readonly ExitMark[]): Section | null {
  const exit = exits.findLast(({ code }) => code !== null);
  const from = exit?.line ?? log.lineCount;
  const first = Math.max(1, from - MAX_OUTPUT);
  let traces = 0;
  let blamed: number | null = null;
  for (let line = from; line >= first && (traces < 2 || blamed === null); line--) {
    const command = readTracedCommand(log, line);
    if (command === null) continue;
    traces++;
    if (blamed === null && line < from && !TRIVIAL.test(command) && !log.line(line + 1).startsWith('+'))
      blamed = line;
  }
  if (blamed === null || traces < 2 || (exit === undefined && !isComplaining(log, blamed))) return null;
  return createFailedSection(log, [readTracedCommand(log, blamed) ?? ''], blamed, from);
}

function readTracedCommand(log: LogText, line: number): string | null {
  const text = log.line(line);
  if (!text.startsWith('+')) return null;
  if (LISTED.test(text) || isDiff(log.line(line - 1)) || isDiff(log.line(line + 1))) return null;
  return TRACE.exec(text)?.[1]?.trim() ?? null;
}

function isDiff(text: string): boolean {
  return /^(?:@@|-(?![-\w]{1,20}[ =])|\+\+\+ |--- )/.test(text);
}

/**
 * Checks the output of a command without a known exit: it must contain an error, and the end of the log must
 * not report success.
 */
function isComplaining(log: LogText, from: number): boolean {
  return (
    findLineAbove(log, log.lineCount, 20, (text) => SUCCESS.test(text)) === null &&
    findLineAbove(log, log.lineCount, MAX_TAIL, (text) => COMPLAINT.test(text), from) !== null
  );
}
