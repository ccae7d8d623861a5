import type { TriageSubject } from '../../domain/triage.ts';
import type { Value } from '../sentence.ts';
import type { TellingBlock } from '../telling-block.ts';

/** How shells, runners and package managers show a command before they run it. */
const SHOWN = [
  /^(?:##\[group\]|\[command\]|\[group\])?(?:Run|Running) (?=[\w./-]{1,80}(?: |$))(.{2,120})$/,
  /^\+{1,3} (.{2,120})$/,
  /^\$ (.{2,120})$/,
  /^> (?!.{1,100}@\d)([a-z./][\w./-]{0,60}(?: .{1,100})?)$/,
];
/** A program and its arguments: no sentence, no script of several commands, no action of a runner. */
const COMMAND = /^(?:\.{0,2}\/)?[a-z][\w./+-]{0,60}(?: [\w./@=:,+*"'-]{1,80}){0,10}$/;
const NO_COMMAND = /^(?:[\w.-]{1,60}\/[\w./-]{1,80}@|set |cd |echo |export |if |for |source |then |fi$|done$|the )/;

/** Reads the project's own call that the failed step made: the last one shown above the trigger, else the one that the step is named after. */
export function readCommand({ trigger, step }: TellingBlock, subject: TriageSubject): Value | null {
  const above = step.filter(({ line }) => trigger.line === null || line < trigger.line);
  for (const one of above.toReversed()) {
    const command = SHOWN.flatMap((shown) => shown.exec(one.text.trim())?.[1] ?? [])[0]?.trim();
    if (command !== undefined && isCommand(command)) return { text: command, source: one.source, line: one.line, near: 'step' };
  }
  const named = sectionAt(trigger, subject)?.name.replace(/^Run /, '') ?? '';
  return /^Run /.test(sectionAt(trigger, subject)?.name ?? '') && isCommand(named)
    ? { text: named, source: trigger.source, line: null, near: 'step' }
    : null;
}

function isCommand(text: string): boolean {
  return COMMAND.test(text) && !NO_COMMAND.test(text);
}

/** Reads the name of the failed step; null where the log marks none, as where a log without marks is one section called like its file. */
export function readStep({ trigger }: TellingBlock, subject: TriageSubject): Value | null {
  const section = sectionAt(trigger, subject);
  if (section === undefined || section.source.startsWith(section.name) || /^(?:log|build|output|console)$/i.test(section.name)) return null;
  const name = section.name.replace(/\s{1,100}/g, ' ').trim();
  return name === '' || name.length > 100 ? null : { text: name, source: section.source, line: null, near: 'step' };
}

function sectionAt({ source, line }: TellingBlock['trigger'], { failedSections }: TriageSubject) {
  const own = failedSections.filter(({ consequence, tolerated }) => consequence !== true && tolerated !== true);
  const around = own.find((one) => one.source === source && line !== null && one.lineStart <= line && line <= one.lineEnd);
  return around ?? own[0];
}
