import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import { readServiceMessage } from '../service-messages.ts';
import type { CiSystem, Mark } from './system.ts';
import { failedSection, lineAbove, withConsequences } from './system.ts';

/** What a downloaded build log puts before each line: time, status letter and the step's number. */
const PREFIX = /^(?:\[\d\d:\d\d:\d\d\])?(?:\w ?)?: {0,2}\s{0,40}(?=\[Step|Step|Process|##)/;
const NUMBER = /\[Step \d{1,3}\/\d{1,3}\]/;
const MAX_OUTPUT = 20_000;

/** TeamCity: downloaded logs number their steps; tools tell of blocks and problems by service messages. */
export const teamcity: CiSystem = {
  name: 'teamcity',
  literals: ['process exited with code', '##teamcity[block', '##teamcity[buildproblem', '##teamcity[compilation', '##teamcity[message'],
  failures: (log, marks) => {
    const steps = failedSteps(log, marks);
    return withConsequences(steps.length > 0 ? steps : failedBlocks(log, marks));
  },
};

function failedSteps(log: LogText, marks: readonly Mark[]): Section[] {
  const failed: Section[] = [];
  const seen = new Set<string>();
  for (const { line } of marks) {
    const raw = log.raw(line).slice(0, 600);
    const number = NUMBER.exec(raw)?.[0];
    if (number === undefined || seen.has(number) || !/Process exited with code -?[1-9]/.test(raw)) continue;
    seen.add(number);
    const told = /\(Step: (.{1,200})\)\s{0,3}$/.exec(log.raw(line + 1).slice(0, 600))?.[1];
    const before = lineAbove(log, line, MAX_OUTPUT, (_text, at) => !log.raw(at).slice(0, 120).includes(number));
    const head = before === null ? null : /Step \d{1,3}\/\d{1,3}: (.{1,200})$/.exec(log.raw(before).trimEnd())?.[1];
    const name = told ?? head?.replace(/ \(\d{1,4}[ms].{0,12}\)$/, '') ?? number.slice(1, -1);
    failed.push(failedSection(log, [name], head == null ? (before ?? 0) + 1 : (before ?? 1), line));
  }
  return failed;
}

/** Blocks and compilations that hold an error or a build problem, with the blocks around them. */
function failedBlocks(log: LogText, marks: readonly Mark[]): Section[] {
  const open: { name: string; line: number; errorAt: number | null }[] = [];
  const failed: Section[] = [];
  for (const { line, text } of marks) {
    const message = readServiceMessage(text.replace(PREFIX, ''));
    if (message === null) continue;
    const { name, attributes } = message;
    const what = attributes.get('name') ?? attributes.get('compiler') ?? '';
    if (/^(?:blockOpened|compilationStarted)$/.test(name)) open.push({ name: what, line, errorAt: null });
    else if (/^(?:blockClosed|compilationFinished)$/.test(name)) {
      const at = open.findLastIndex((block) => block.name === what);
      if (at === -1) continue;
      const path = open.slice(0, at + 1).map((block) => block.name);
      const block = open[at];
      open.length = at;
      if (block != null && block.errorAt !== null) failed.push(failedSection(log, path, block.line, line));
    } else if (name === 'buildProblem' || /^(?:ERROR|FAILURE)$/.test(attributes.get('status') ?? '')) {
      const block = open.at(-1);
      if (block !== undefined) block.errorAt = line;
    }
  }
  const broken = open.findLastIndex(({ errorAt }) => errorAt !== null);
  const block = open[broken];
  if (block != null)
    failed.push(
      failedSection(
        log,
        open.slice(0, broken + 1).map((one) => one.name),
        block.line,
        block.errorAt ?? log.lineCount,
      ),
    );
  return failed;
}
