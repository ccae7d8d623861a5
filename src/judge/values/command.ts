import type { TriageSubject } from '../../domain/triage.ts';
import type { FailureBlock, ShownLine } from '../failure-block.ts';
import type { Value } from '../sentence.ts';

/** Forms in which shells, runners and package managers print a command before they run it. */
const SHOWN = [
  /^(?:##\[group\]|\[command\]|\[group\])?(?:Run|Running) (?=[\w./-]{1,80}(?: |$))(.{2,120})$/,
  /^\+{1,3} (.{2,120})$/,
  /^\$ (.{2,120})$/,
  /^> (?!.{1,100}@\d)([a-z./][\w./-]{0,60}(?: .{1,100})?)$/,
];
/** A program with arguments. Sentences, scripts of several commands, and actions are excluded. */
const COMMAND = /^(?:\.{0,2}\/)?[a-z][\w./+-]{0,60}(?: [\w./@=:,+*%"'-]{1,80}){0,10}$/;
const END_OF_SCRIPT = /^\s{0,4}(?:shell: |##\[endgroup\])/;
const NO_COMMAND =
  /^(?:[\w.-]{1,60}\/[\w./-]{1,80}@|set |cd |echo |export |if |for |source |then |fi$|done$|the )/;

/**
 * Reads the project's own command that the failed step ran: the last one printed above the deciding line, or
 * else the one that the step is named after. If a runner prints a whole script first, returns its only
 * command that has words in common with the deciding line.
 */
export function readCommand(block: FailureBlock, subject: TriageSubject): Value | null {
  const { trigger, paragraph, step } = block;
  const above = step.filter(({ line }) => trigger.line === null || line < trigger.line);
  for (const shownLine of above.toReversed()) {
    const command = SHOWN.flatMap((pattern) => pattern.exec(shownLine.text.trim())?.[1] ?? [])[0]?.trim();
    if (command !== undefined && isFirstOfScript(shownLine, step)) return readScriptLine(shownLine, block);
    if (command !== undefined && isCommand(command))
      return { text: command, source: shownLine.source, line: shownLine.line, near: 'step' };
  }
  const named = findSection(trigger, subject)?.name.replace(/^Run /, '') ?? '';
  // GitHub names a step after the first command of its script. That command failed only if the lines around
  // the deciding line mention it.
  const isNamed = /^Run /.test(findSection(trigger, subject)?.name ?? '') && isCommand(named);
  const stepText = [trigger, ...paragraph].map(({ text }) => text).join('\n');
  return isNamed && listWordsOfCommand(named).some((word) => stepText.includes(word))
    ? { text: named, source: trigger.source, line: null, near: 'step' }
    : null;
}

/**
 * Tells whether a line begins a script. GitHub prints scripts below the first command, line by line in color,
 * up to the shell.
 */
function isFirstOfScript({ source, line, text }: ShownLine, step: FailureBlock['step']): boolean {
  if (!/^(?:##\[group\])?Run /.test(text.trim())) return false;
  const below = step.filter(
    (shownLine) => shownLine.source === source && shownLine.line > line && shownLine.line <= line + 40,
  );
  const shell = below.findIndex((shownLine) => END_OF_SCRIPT.test(shownLine.text));
  return shell > 1 && !/^\s{0,4}with:/.test(below[0]?.text ?? '');
}

/** Reads the only command of a script that has an option or path of the deciding line. */
function readScriptLine(first: ShownLine, { trigger, step }: FailureBlock): Value | null {
  const below = step
    .filter((shownLine) => shownLine.source === first.source && shownLine.line > first.line)
    .slice(0, 40);
  const end = below.findIndex(({ text }) => END_OF_SCRIPT.test(text));
  const triggerWords = new Set(trigger.text.split(/[\s'"`=,;]+/).map((word) => word.replace(/[.:)]+$/, '')));
  const named = below.slice(0, end).filter(({ text }) => {
    const words = text.trim().split(/[\s'"=]+/);
    return (
      isCommand(text.trim()) && words.some((word) => DISTINCTIVE_WORD.test(word) && triggerWords.has(word))
    );
  });
  const [command] = named;
  if (command === undefined || named.length > 1) return null;
  return { text: command.text.trim(), source: command.source, line: command.line, near: 'step' };
}

/** An option, or a name with a separator in it. */
const DISTINCTIVE_WORD = /^--?\w[\w-]{2,}$|\w[./:]\w/;

/**
 * Returns the words that distinguish a command: its program and arguments, without those that many commands
 * have.
 */
function listWordsOfCommand(command: string): string[] {
  return command
    .split(/[\s=/]+/)
    .filter(
      (word) =>
        /^\w[\w.:-]{3,}$/.test(word) &&
        !/^(?:npm|npx|yarn|pnpm|python3?|install|init|build|test|true|false)$/.test(word),
    );
}

function isCommand(text: string): boolean {
  return COMMAND.test(text) && !NO_COMMAND.test(text);
}

/**
 * Reads the name of the failed step. Returns null if the log does not mark steps; such a log is one section
 * with the name of its file.
 */
export function readStep({ trigger }: FailureBlock, subject: TriageSubject): Value | null {
  const section = findSection(trigger, subject);
  if (
    section === undefined ||
    section.source.startsWith(section.name) ||
    /^(?:log|build|output|console)$/i.test(section.name)
  )
    return null;
  const name = section.name.replace(/\s{1,100}/g, ' ').trim();
  return name === '' || name.length > 100
    ? null
    : { text: name, source: section.source, line: null, near: 'step' };
}

function findSection({ source, line }: FailureBlock['trigger'], { failedSections }: TriageSubject) {
  const sections = failedSections.filter(
    ({ consequence, tolerated }) => consequence !== true && tolerated !== true,
  );
  const around = sections.find(
    (section) =>
      section.source === source && line !== null && section.lineStart <= line && line <= section.lineEnd,
  );
  return around ?? sections[0];
}
