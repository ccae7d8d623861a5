import type { Section } from '../../domain/failure.ts';
import type { Extraction } from '../extract/extraction.ts';
import { joinRanges } from '../line-ranges.ts';
import type { LogText } from '../lines/lines.ts';
import { normaliseMessage } from '../recognise/normalise.ts';
import { roleOf } from '../roles.ts';
import type { Structure } from '../sections.ts';
import { readScript, type StepScript } from './script.ts';
import { isWithin, type LineRange } from './system.ts';

/** Lines of output that are looked at, and commands of one script. */
const [MAX_OUTPUT, MAX_COMMANDS] = [20_000, 12];

/**
 * Splits each failed step whose script goes on after a command has failed: the output of each command that failed becomes a section of its
 * own. Logs show the output of such commands one after the other, without a border; {@link scoreBorders} says where one can be.
 */
export function splitSteps(log: LogText, found: Extraction, structure: Structure): Structure {
  const failedSections = structure.failedSections.flatMap((section) => {
    const script = section.consequence === true ? null : readScript(log, section);
    return script === null ? [section] : splitStep(log, found, section, script);
  });
  return failedSections.length === structure.failedSections.length ? structure : { ...structure, failedSections };
}

function splitStep(log: LogText, found: Extraction, section: Section, script: StepScript): Section[] {
  const output = { start: script.headEnd + 1, end: Math.min(section.lineEnd, script.headEnd + MAX_OUTPUT) };
  const evidence = linesOfErrors(log, found, output);
  const commands = script.commands.slice(0, MAX_COMMANDS);
  if (evidence.length === 0) return [section];
  const borders = scoreBorders(log, found, output, new Set(evidence));
  const runs = chooseRuns(output, linesOfComplaints(log, output, evidence), borders, scoreWords(log, found, output, commands));
  if (runs.length < 2) return [section];
  return runs.map(({ command, start }, at) => ({
    ...section,
    name: nameCommand(section.name, commands[command] ?? ''),
    lineStart: start,
    lineEnd: (runs[at + 1]?.start ?? section.lineEnd + 1) - 1,
  }));
}

/** Names a command as GitHub names a step: `Run make test`, below the step's own name if it has one. */
function nameCommand(step: string, command: string): string {
  const path = step.split(' / ');
  const outer = path.at(-1)?.startsWith('Run ') === true ? path.slice(0, -1) : path;
  return [...outer, `Run ${command.slice(0, 116)}`].join(' / ');
}

/** Weight from which a message says that something failed, whatever its tool. */
const TELLING = 40;

/** Returns the lines of the output that can be why a command failed, ascending: no summary, and of a test the line that names it first. */
function linesOfErrors(log: LogText, found: Extraction, { start, end }: LineRange): number[] {
  const errors = found.diagnostics.filter(({ severity }) => severity === 'error');
  const messages = found.messages.filter(({ weight }) => weight >= TELLING);
  const said = [...errors, ...found.exceptions, ...messages].flatMap(({ at }) => (at === null ? [] : [at.line]));
  const tests = found.failingTests.flatMap(({ spans = [], at }) => spans[0]?.lineStart ?? at?.line ?? []);
  const causes = said.filter((line) => roleOf(log.line(line)) === 'cause' && !LAST_WORDS.test(log.line(line)));
  const lines = new Set([...causes, ...tests].filter((line) => line >= start && line <= end));
  return [...lines].sort((one, other) => one - other);
}

const COMPLAINS =
  /\b(?:errors?|fail(?:ed|ures?|s)?|fatal|undefined|undeclared|unresolved|invalid|illegal|missing|cannot|can't|could not|couldn't|not (?:met|found|allowed|permitted|supported)|no such|unknown|mismatch|duplicate|denied|conflict|refused|unable|exceed(?:ed|s)?|killed|sending signal|unused|avoid|should|must|does not)\b/i;

/** Adds to the lines of errors those that only sound like one: a command may have failed for a reason that no reader knows. */
function linesOfComplaints(log: LogText, { start, end }: LineRange, errors: readonly number[]): number[] {
  const lines = new Set(errors);
  for (let line = start; line <= end; line++) {
    const text = log.line(line);
    if (COMPLAINS.test(text) && roleOf(text) === 'cause' && !LAST_WORDS.test(text)) lines.add(line);
  }
  return [...lines].sort((one, other) => one - other);
}

/** Lines from which the output of another command may begin: how well a line fits as its first, by line. Absent where it cannot be. */
type Scores = ReadonlyMap<number, number>;

/** What a border costs that nothing speaks for. */
const COST = 0.25;
/** What tools say last, besides how they ended. */
const LAST_WORDS =
  /^(?:Ran all |(?:Errors?|Failures?) (?:while|in|during) |FAIL(?:\t|$)|Took \d|Finished in |Done in |Node\.js v\d|Time: |==\d{1,9}==ABORTING|cc1\w{0,4}: |\S{1,60}: (?:error|info): .{0,200}(?:exit status|binary-only upload)|.{0,80}\breport written to |A complete log|[A-Z]\w{2,20}: +None$|\+? ?\d{1,6} \w{1,20} (?:passed|failed))/i;
/** A tool says its name and version, or a package manager the script that it runs. */
const BANNER =
  /^(?:> \S{1,100}@\S{1,40} \S|yarn run v\d|TAP version|v?\d{1,3}\.\d{1,4}\.\d{1,4}$|={3,} test session starts|\[INFO\] Scanning for projects|(?:[A-Za-z][\w.-]{1,30} ){1,3}(?:version )?v?\d{1,3}\.\d{1,4}\b)/;

/** A function of a stack trace, whose place is on the line below. */
const FRAME = /^[\w./*()$<>-]{3,200}\([^()]{0,200}\)$|^created by |^goroutine \d/;

function scoreBorders(log: LogText, found: Extraction, { start, end }: LineRange, errors: ReadonlySet<number>): Scores {
  const sure = found.blocks.filter(({ loose, start: first, end: last }) => loose !== true && last > first);
  const inner = joinRanges(sure.map((block) => ({ start: block.start + 1, end: block.end })).filter((one) => one.start <= one.end));
  const spans = found.failingTests.flatMap((test) => test.spans ?? []);
  const ofTests = joinRanges(spans.map(({ lineStart, lineEnd }) => ({ start: lineStart + 1, end: lineEnd })).filter((one) => one.start <= one.end));
  const wholes = joinRanges(
    found.failingTests.flatMap(({ spans = [] }) => {
      const [one] = spans;
      return one === undefined || spans.length < 2 ? [] : [{ start: one.lineStart + 1, end: Math.max(...spans.map((span) => span.lineEnd)) }];
    }),
  );
  const tools = new Map(found.diagnostics.flatMap(({ at, tool }) => (at === null ? [] : [[at.line, tool] as const])));
  const first = normaliseMessage(firstWords(log, start, end));
  const scores = new Map<number, number>();
  const seen = new Map<string, number>();
  let lastTool: string | null = null;
  let above = '';
  let isNewStart = true;
  let isNewProgress = true;
  for (let line = start; line <= end; line++) {
    const text = log.line(line);
    if (text.trim() === '') continue;
    const tool = tools.get(line) ?? null;
    const isProgress = isDoing(text);
    const times = seen.get(text) ?? 0;
    if (above !== '') {
      const isInside = isWithin(inner, line) && !isProgress ? 6 : isWithin(ofTests, line) ? 4 : isWithin(wholes, line) ? 3 : 0;
      const changed = tool === null ? 0 : lastTool === null ? 1 : tool === lastTool ? -0.5 : 2.5;
      const isAfterError = !isWithin(inner, line) && (errors.has(line - 1) || isWithin(inner, line - 1)) ? 0.5 : 0;
      const isStart = isProgress && isNewProgress && !isDoing(above) ? 1.5 : 0;
      const again = times === 1 && /[a-z]{3}.{8}/i.test(text) && !errors.has(line) ? 1 : 0;
      const own = scoreLine(text, above, log.line(line - 1) === '', first) + isStart + again;
      const score = own + changed + isAfterError - isInside - COST;
      scores.set(line, score > 0 && isNewStart ? score + (own > 0.75 ? 1 : 0.25) : score);
      if (score > 0) isNewStart = false;
    }
    if (isProgress) isNewProgress = false;
    if (errors.has(line) || isWithin(inner, line)) isNewStart = true;
    if (errors.has(line)) isNewProgress = true;
    seen.set(text, times + 1);
    lastTool = tool ?? lastTool;
    above = text;
  }
  return scores;
}

/** Tells whether a line says what a tool begins to do. */
function isDoing(text: string): boolean {
  return roleOf(text) === 'progress' || /^\s{0,12}(?!Missing|Warning|During|String|Nothing|Setting)(?:[A-Z][a-z]{1,10}-)?[A-Z]?[a-z]{2,14}ing\b(?! to\b)/.test(text);
}

function firstWords(log: LogText, start: number, end: number): string {
  for (let line = start; line <= end; line++) if (/\w/.test(log.line(line))) return log.line(line);
  return '';
}

function scoreLine(text: string, above: string, isAfterBlank: boolean, first: string): number {
  const indent = /^\s*/.exec(text)?.[0].length ?? 0;
  const role = roleOf(text);
  const isProgress = isDoing(text);
  const mark = /^\S*[^\w\s]\S*/.exec(text)?.[0];
  const hasEnded = roleOf(above) === 'ending' || LAST_WORDS.test(above);
  let score = 0;
  if (indent > 0 && !isProgress) score -= indent === 1 ? 1 : 4;
  if (role === 'ending' || LAST_WORDS.test(text)) score -= 3;
  else if (hasEnded) score += 2;
  if (role === 'echo' && !above.startsWith('-')) score += 3;
  if (role === 'blank') score -= /^\W{3}/.test(text) ? 0.5 : 1;
  if (isAfterBlank) score -= 0.5;
  else if (role === 'passing' && roleOf(above) !== 'passing') score += 0.75;
  if (/^\s/.test(above) && indent === 0) score += 0.75;
  if (mark !== undefined && mark === /^\S*/.exec(above)?.[0]) score -= 2.5;
  if (FRAME.test(text)) score -= 3;
  if (BANNER.test(text)) score += 2.5;
  if (text.startsWith('Traceback ')) score += 1.5;
  if (/^(?:During handling of|The above exception)/.test(above)) score -= 6;
  if (normaliseMessage(text) === first) score += 4;
  return score;
}

/** What a word of a command is worth where the output names it. */
const WORD = 1;
const COMMON_WORD = /^(?:test|tests|build|check|install|python3?|bash|node|make|main|src|run|exec|version|verbose|color|no-color|true|false|null)$/;

/** For each command, how much of its words the lines up to each one hold: sums from the first line on. */
function scoreWords(log: LogText, found: Extraction, { start, end }: LineRange, commands: readonly string[]): number[][] {
  const words = commands.map((command) => {
    const said = command.split(/\s+/).filter((word) => !word.startsWith('-'));
    return new Set(said.flatMap((word) => word.toLowerCase().match(/[a-z][\w-]{2,60}(?:\.\w{1,10})?/g) ?? []));
  });
  const counts = new Map<string, number>();
  for (const own of words) for (const word of own) counts.set(word, (counts.get(word) ?? 0) + 1);
  const tools = new Map(found.diagnostics.flatMap(({ at, tool }) => (at === null ? [] : [[at.line, tool.toLowerCase()] as const])));
  return words.map((own) => {
    const telling = [...own].filter((word) => counts.get(word) === 1 && !COMMON_WORD.test(word));
    const gains = new Map<number, number>();
    for (const word of telling) {
      const lines: number[] = [];
      for (let line = start; line <= end; line++)
        if (tools.get(line) === word || holdsWord(log.line(line).toLowerCase(), word)) lines.push(line);
      for (const line of lines.slice(0, 2)) gains.set(line, (gains.get(line) ?? 0) + WORD);
    }
    let sum = 0;
    const sums: number[] = [];
    for (let line = start; line <= end; line++) sums.push((sum += gains.get(line) ?? 0));
    return sums;
  });
}

function holdsWord(text: string, word: string): boolean {
  const at = text.indexOf(word);
  return at !== -1 && !/\w/.test(text[at - 1] ?? ' ') && !/\w/.test(text[at + word.length] ?? ' ');
}

/** The output of one command: its first line, and the command's index. */
interface Run {
  readonly command: number;
  readonly start: number;
}

interface Way {
  readonly score: number;
  readonly runs: readonly Run[];
}

/**
 * Chooses where the output of each command begins, so that the sum of what speaks for the borders and the words is greatest. Commands keep
 * their order; those that printed no complaint have no output of their own.
 */
function chooseRuns({ start, end }: LineRange, complaints: readonly number[], borders: Scores, words: readonly (readonly number[])[]): Run[] {
  const gained = (command: number, line: number) => words[command]?.[line - start] ?? 0;
  const isComplaint = new Set(complaints);
  /** The best way to the output of each command up to the line at hand, without what its words gain from its first line on. */
  const begun = words.map((_, command): Way | null => ({ score: 0, runs: [{ command, start }] }));
  /** The same, of outputs in which something complains. */
  const complained = words.map((): Way | null => null);
  for (let line = start; line <= end; line++) {
    const border = line === start ? undefined : borders.get(line);
    for (const command of border === undefined ? [] : words.keys()) {
      const ways = complained.slice(0, command).map((way, before) => beginRun(way, gained(before, line - 1) - gained(command, line - 1)));
      for (const way of ways) if (isBetter(way, begun[command])) begun[command] = way;
      function beginRun(way: Way | null, more: number): Way | null {
        return way === null ? null : { score: way.score + more + (border ?? 0), runs: [...way.runs, { command, start: line }] };
      }
    }
    if (isComplaint.has(line)) for (const [command, way] of begun.entries()) if (isBetter(way, complained[command])) complained[command] = way;
  }
  let best: Way | null = null;
  for (const [command, way] of complained.entries()) {
    const whole = way === null ? null : { ...way, score: way.score + gained(command, end) };
    if (isBetter(whole, best)) best = whole;
  }
  return best === null ? [] : [...best.runs];
}

function isBetter(one: Way | null, other: Way | null | undefined): one is Way {
  return one !== null && (other == null || one.score > other.score);
}
