import type { Section } from '../domain/failure.ts';
import type { LogText } from './lines.ts';

/** Literals whose lines {@link jenkinsFailure} needs. */
export const JENKINS_LITERALS = [
  '[pipeline]',
  'finished: ',
  'marked build as failure',
  'failed in branch',
  'skipped due to earlier',
  '] $ ',
] as const; // prettier-ignore

interface Stage {
  readonly name: string;
  readonly start: number;
  end: number;
  /** Whether a step of its own ran in it, rather than only in a stage inside it. */
  stepAt: number | null;
}

/** Blocks that Jenkins opens itself, and what runs when everything is over. */
const NOT_A_STAGE = /^(?:hide|Declarative: (?:Post Actions|Checkout SCM|Tool Install))$/;

/** The stage (or freestyle build step) of a failed Jenkins build that failed; null where the log is no such log. */
export function jenkinsFailure(log: LogText, lines: readonly number[]): Section | null {
  const marks = lines.map((line) => ({ line, text: log.line(line).trimStart() }));
  if (!marks.some(({ text }) => /^Finished: (?:FAILURE|UNSTABLE|ABORTED)/.test(text))) return null;
  return freestyleStep(log, marks) ?? pipelineStage(log, marks);
}

type Marks = readonly { readonly line: number; readonly text: string }[];

function freestyleStep(log: LogText, marks: Marks): Section | null {
  const ended = marks.find(({ text }) => /^Build step '.{1,200}' marked build as failure/.test(text));
  if (ended === undefined) return null;
  const started = marks.findLast(({ line, text }) => line < ended.line && /^\[[^\]]{1,120}\] \$ /.test(text));
  const name = /'(.{1,200})'/.exec(ended.text)?.[1] ?? 'build step';
  return started === undefined ? null : section(log, name, started.line, ended.line);
}

function pipelineStage(log: LogText, marks: Marks): Section | null {
  const failed = marks.map(({ text }) => /^Failed in branch (.{1,100})$/.exec(text)?.[1]).find((name) => name !== undefined);
  const stages = stagesOf(marks, log.lineCount);
  const branch = stages.find(({ name }) => failed !== undefined && name === `Branch: ${failed}`);
  if (branch !== undefined) return section(log, failed ?? branch.name, branch.start, branch.end);
  const over = marks.find(({ text }) => /skipped due to earlier failure/.test(text))?.line ?? log.lineCount;
  const last = stages.findLast(({ start, stepAt }) => start < over && stepAt !== null);
  return last === undefined ? null : section(log, last.name, last.start, Math.min(last.end, log.lineCount));
}

function stagesOf(marks: Marks, lineCount: number): Stage[] {
  const open: (Stage | null)[] = [];
  const stages: Stage[] = [];
  for (const { line, text } of marks) {
    if (!text.startsWith('[Pipeline] ')) continue;
    const name = /^\[Pipeline\] \{(?: \((.{1,120})\))?$/.exec(text)?.[1] ?? null;
    if (text.startsWith('[Pipeline] {')) {
      const stage = name === null || NOT_A_STAGE.test(name) ? null : { name, start: line, end: lineCount, stepAt: null };
      open.push(stage);
      if (stage !== null) stages.push(stage);
    } else if (/^\[Pipeline\] \}/.test(text)) {
      const closed = open.pop();
      if (closed != null) closed.end = line;
    } else if (/^\[Pipeline\] (?!\/\/|stage\b|End\b|Start\b|node\b|parallel\b|with\w+\b|timeout\b|script\b)\w/.test(text)) {
      const inner = open.findLast((stage) => stage !== null);
      if (inner != null) inner.stepAt ??= line;
    }
  }
  return stages;
}

function section(log: LogText, name: string, lineStart: number, lineEnd: number): Section {
  return { source: log.name, name, lineStart, lineEnd, failed: true };
}
