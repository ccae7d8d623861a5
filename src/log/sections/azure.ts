import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import type { CiSystem, Mark } from './system.ts';
import { failedSection, withConsequences } from './system.ts';

interface Open {
  readonly name: string;
  readonly line: number;
  errorAt: number | null;
  /** Whether the agent said that the task failed, rather than a tool that something is wrong. */
  isSure: boolean;
}

const FATAL =
  /^##\[error\](?:.{1,80} (?:exited with code|failed with (?:exit code|return code|error)) '?-?\d|The (?:task|operation|job) .{0,120}(?:timed out|cancell?ed|exceeded))|task\.complete result=Failed/i;

/** Azure Pipelines: tasks stand between `##[section]Starting:` and `Finishing:`, jobs around them. */
export const azure: CiSystem = {
  name: 'azure-pipelines',
  literals: ['##[section]', '##[error]', '##vso[task.complete'],
  failures: (log, marks) => {
    if (!marks.some(({ text }) => text.startsWith('##[section]Starting: '))) return [];
    const tasks = failedTasks(log, marks);
    const first = tasks.findIndex(({ isSure }) => isSure);
    // What a task only reported before another one failed did not stop the job.
    return withConsequences(tasks.slice(Math.max(0, first)).map(({ section }) => section));
  },
};

function failedTasks(log: LogText, marks: readonly Mark[]): { section: Section; isSure: boolean }[] {
  const open: Open[] = [];
  const failed: { section: Section; isSure: boolean }[] = [];
  const close = () => {
    const path = open.map(({ name }) => name);
    const task = open.pop();
    if (task === undefined || task.errorAt === null) return;
    failed.push({ section: failedSection(log, path, task.line, task.errorAt), isSure: task.isSure });
  };
  for (const { line, text } of marks) {
    const section = /^##\[section\](Starting|Finishing): (.{1,200})/.exec(text);
    if (section?.[1] === 'Starting') open.push({ name: section[2] ?? '', line, errorAt: null, isSure: false });
    else if (section !== null) {
      const at = open.findLastIndex(({ name }) => name === section[2]);
      while (at !== -1 && open.length > at) close();
    } else if (text.startsWith('##[error]') || FATAL.test(text)) {
      const task = open.at(-1);
      if (task === undefined) continue;
      task.errorAt = line;
      task.isSure ||= FATAL.test(text);
    }
  }
  while (open.length > 0) close();
  return failed.sort((a, b) => a.section.lineStart - b.section.lineStart);
}
