import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import { readServiceMessage } from '../service-messages.ts';
import type { CiSystem, Mark, Step } from './system.ts';
import { failedSection, lineAbove, withConsequences } from './system.ts';

/** What a line says of the blocks of a log, which lie in one another. */
type BlockMark = { readonly kind: 'open' | 'close'; readonly name: string } | { readonly kind: 'error'; readonly isSure: boolean };

interface FailedBlock {
  readonly section: Section;
  /** Whether the system said that the block failed, rather than a tool that something is wrong. */
  readonly isSure: boolean;
}

const FATAL =
  /^##\[error\](?:.{1,80} (?:exited with code|failed with (?:exit code|return code|error)) '?-?\d|The (?:task|operation|job) .{0,120}(?:timed out|cancell?ed|exceeded))|task\.complete result=Failed/i;

/** Azure Pipelines: tasks stand between `##[section]Starting:` and `Finishing:`, jobs around them. */
export const azure: CiSystem = {
  literals: ['##[section]', '##[error]', '##vso[task.complete'],
  read: (log, marks) => {
    if (!marks.some(({ text }) => text.startsWith('##[section]Starting: '))) return null;
    const { failed, steps } = readBlocks(log, marks, azureMark, false);
    const first = failed.findIndex(({ isSure }) => isSure);
    // What a task only reported before another one failed did not stop the job.
    return { failed: withConsequences(failed.slice(Math.max(0, first)).map(({ section }) => section)), steps };
  },
};

function azureMark(text: string): BlockMark | null {
  const [, word, name = ''] = /^##\[section\](Starting|Finishing): (.{1,200})/.exec(text) ?? [];
  if (word !== undefined) return { kind: word === 'Starting' ? 'open' : 'close', name };
  const isSure = FATAL.test(text);
  return isSure || text.startsWith('##[error]') ? { kind: 'error', isSure } : null;
}

/** What a downloaded build log of TeamCity puts before each line: time, status letter and the step's number. */
const PREFIX = /^(?:\[\d\d:\d\d:\d\d\])?(?:\w ?)?: {0,2}\s{0,40}(?=\[Step|Step|Process|##)/;
const NUMBER = /\[Step \d{1,3}\/\d{1,3}\]/;
const MAX_OUTPUT = 20_000;

/** TeamCity: downloaded logs number their steps; tools tell of blocks and problems by service messages. */
export const teamcity: CiSystem = {
  literals: ['process exited with code', '##teamcity[block', '##teamcity[buildproblem', '##teamcity[compilation', '##teamcity[message'],
  read: (log, marks) => {
    const numbered = numberedSteps(log, marks);
    const failed = numbered.length > 0 ? numbered : readBlocks(log, marks, teamcityMark, true).failed.map(({ section }) => section);
    return { failed: withConsequences(failed) };
  },
};

function teamcityMark(text: string): BlockMark | null {
  const message = readServiceMessage(text.replace(PREFIX, ''));
  if (message === null) return null;
  const { name, attributes } = message;
  const block = attributes.get('name') ?? attributes.get('compiler') ?? '';
  if (/^(?:blockOpened|compilationStarted)$/.test(name)) return { kind: 'open', name: block };
  if (/^(?:blockClosed|compilationFinished)$/.test(name)) return { kind: 'close', name: block };
  return name === 'buildProblem' || /^(?:ERROR|FAILURE)$/.test(attributes.get('status') ?? '') ? { kind: 'error', isSure: true } : null;
}

function numberedSteps(log: LogText, marks: readonly Mark[]): Section[] {
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

/** Blocks that hold an error, named with the blocks around them, and the innermost blocks as steps. They end where they are closed, or at their last error. */
function readBlocks(
  log: LogText,
  marks: readonly Mark[],
  markOf: (text: string) => BlockMark | null,
  toClose: boolean,
): { readonly failed: readonly FailedBlock[]; readonly steps: readonly Step[] } {
  const open: { name: string; line: number; errorAt: number | null; isSure: boolean; isOuter: boolean }[] = [];
  const failed: FailedBlock[] = [];
  const steps: Step[] = [];
  const close = (closedAt: number | null) => {
    const path = open.map(({ name }) => name);
    const block = open.pop();
    if (block === undefined) return;
    const { line, name, errorAt, isSure, isOuter } = block;
    const outcome = errorAt !== null ? 'failed' : closedAt !== null ? 'passed' : 'unknown';
    const lineEnd = closedAt ?? log.lineCount;
    if (!isOuter)
      steps.push({ source: log.name, job: path.at(-2) ?? null, name, lineStart: line, outputStart: line + 1, lineEnd, outcome });
    if (errorAt !== null) failed.push({ section: failedSection(log, path, line, toClose ? (closedAt ?? errorAt) : errorAt), isSure });
  };
  for (const { line, text } of marks) {
    const mark = markOf(text);
    const inner = open.at(-1);
    if (mark?.kind === 'open') {
      if (inner !== undefined) inner.isOuter = true;
      open.push({ name: mark.name, line, errorAt: null, isSure: false, isOuter: false });
    } else if (mark?.kind === 'close') {
      const at = open.findLastIndex(({ name }) => name === mark.name);
      while (at !== -1 && open.length > at) close(line);
    } else if (mark?.kind === 'error' && inner !== undefined) {
      inner.errorAt = line;
      inner.isSure ||= mark.isSure;
    }
  }
  while (open.length > 0) close(null);
  return {
    failed: failed.sort((a, b) => a.section.lineStart - b.section.lineStart),
    steps: steps.sort((a, b) => a.lineStart - b.lineStart),
  };
}
