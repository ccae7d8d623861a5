import type { Section } from '../../domain/failure.ts';
import type { Extraction } from '../extract/extraction.ts';
import type { LogText } from '../lines/lines.ts';
import type { Structure } from '../sections.ts';
import { scoreBorders } from './borders.ts';
import { findComplaints, findErrors } from './complaints.ts';
import { chooseRuns } from './runs.ts';
import { readScript, type StepScript } from './script.ts';
import { scoreWords } from './words.ts';

/** The maximum number of lines of output that are read, and of commands of one script. */
const [MAX_OUTPUT, MAX_COMMANDS] = [20_000, 12];

/**
 * Splits each failed step whose script goes on after a command has failed: the output of each failed command
 * becomes its own section. Logs print such outputs one after the other without a border; {@link scoreBorders}
 * finds where one may be.
 */
export function splitSteps(log: LogText, found: Extraction, structure: Structure): Structure {
  const failedSections = structure.failedSections.flatMap((section) => {
    const script = section.consequence === true ? null : readScript(log, section);
    return script === null ? [section] : splitStep(log, found, section, script);
  });
  return failedSections.length === structure.failedSections.length
    ? structure
    : { ...structure, failedSections };
}

function splitStep(log: LogText, found: Extraction, section: Section, script: StepScript): Section[] {
  const output = { start: script.headEnd + 1, end: Math.min(section.lineEnd, script.headEnd + MAX_OUTPUT) };
  const evidence = findErrors(log, found, output);
  const commands = script.commands.slice(0, MAX_COMMANDS);
  if (evidence.length === 0) return [section];
  const borders = scoreBorders(log, found, output, new Set(evidence));
  const complaints = findComplaints(log, output, evidence);
  const chosen = chooseRuns(output, complaints, borders, scoreWords(log, found, output, commands));
  const runs = withoutRepeats(log, complaints, chosen, output.end);
  if (runs.length < 2) return [section];
  return runs.map(({ command, start }, at) => ({
    ...section,
    name: nameCommand(section.name, commands[command] ?? ''),
    lineStart: start,
    lineEnd: (runs[at + 1]?.start ?? section.lineEnd + 1) - 1,
  }));
}

/**
 * Removes the runs that only repeat complaints of earlier runs, ignoring numbers: a failure that is repeated
 * in the same words counts once.
 */
function withoutRepeats<Run extends { readonly start: number }>(
  log: LogText,
  complaints: readonly number[],
  runs: readonly Run[],
  end: number,
): Run[] {
  const seen = new Set<string>();
  return runs.filter(({ start }, at) => {
    const next = runs[at + 1]?.start ?? end + 1;
    const ownComplaints = complaints
      .filter((line) => line >= start && line < next)
      .map((line) => log.line(line).trim().replace(/\d+/g, '0'));
    const isRepeated = at > 0 && ownComplaints.length > 0 && ownComplaints.every((text) => seen.has(text));
    for (const text of ownComplaints) seen.add(text);
    return !isRepeated;
  });
}

/** Names a command as GitHub names a step, `Run make test`, after the step's own name if it has one. */
function nameCommand(step: string, command: string): string {
  const path = step.split(' / ');
  const outer = path.at(-1)?.startsWith('Run ') === true ? path.slice(0, -1) : path;
  return [...outer, `Run ${command.slice(0, 116)}`].join(' / ');
}
