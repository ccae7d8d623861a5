import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import type { CiSystem, Mark } from './system.ts';
import { failedSection, lineAbove, withConsequences } from './system.ts';

interface Step {
  readonly path: readonly string[];
  readonly line: number;
  /** Whether an action runs in it, which says by `##[error]` alone that it failed. */
  readonly isAction: boolean;
  /** Job and step columns that a download by `gh` puts before each line. */
  readonly columns: string;
  /** Groups that the step's own output opened and has not closed. */
  readonly groups: string[];
  errorAt: number | null;
}

const RUN_FAILED = /^##\[error\](?:Process completed with exit code [1-9]|.{1,80} exited with code '?[1-9])/;
const STOPPED =
  /^##\[error\](?:The operation was cancell?ed|The job .{0,200}exceeded the maximum|The runner has received a shutdown signal)/;
const COLUMNS = /^([^\t\n]{1,120})\t([^\t\n]{1,120})\t\ufeff?\d{4}-\d\d-\d\dT/;
/** Lines that GitHub writes into the group of a step's head, below the script. */
const STEP_HEAD = /^(?:shell: \S|with:$|env:$)/;
const MAX_HEAD = 300;
/** What GitHub calls the time before the first step. */
const SET_UP = 'Set up job';

/** GitHub Actions: a step's head is a group `Run …`, and how it ended stands in `##[error]`. */
export const github: CiSystem = {
  name: 'github-actions',
  literals: ['##[error]', '##[group]', '##[endgroup]', 'post job cleanup', 'process completed with exit code'],
  failures: (log, marks) => {
    if (marks.some(({ text }) => text.startsWith('##[section]Starting: '))) return [];
    const { runs, actions } = failedSteps(log, marks);
    // An action that only reports problems lets the next step run: it counts where no script failed.
    const failed = runs.length > 0 ? runs : actions;
    return failed.length > 0 ? withConsequences(failed) : fromPage(log, marks);
  },
};

function failedSteps(log: LogText, marks: readonly Mark[]): { runs: readonly Section[]; actions: readonly Section[] } {
  const runs: Section[] = [];
  const actions: Section[] = [];
  const whole = archivedStep(log.name);
  let step = firstStep(whole, '');
  const close = () => {
    if (step.isAction && step.errorAt !== null) actions.push(sectionOf(log, step, step.errorAt));
  };
  for (const { line, text } of marks) {
    const columns = COLUMNS.exec(log.raw(line).slice(0, 300));
    const key = columns === null ? '' : `${columns[1] ?? ''}\t${columns[2] ?? ''}`;
    if (key !== step.columns) {
      close();
      step = firstStep(columns === null ? whole : { path: columnPath(columns), isStep: columns[2] !== 'UNKNOWN STEP' }, key, line);
    }
    if (RUN_FAILED.test(text) || STOPPED.test(text)) {
      runs.push(sectionOf(log, step, line));
      step.errorAt = null;
    } else if (text.startsWith('##[error]')) step.errorAt = line;
    else if (text.startsWith('##[endgroup]')) step.groups.pop();
    else {
      const opened = openedStep(log, line, text, step, whole);
      if (opened === null) continue;
      close();
      step = opened;
    }
  }
  close();
  return { runs, actions };
}

/** The step whose head a line is; null where the line opens none, or only a group of a step's own output. */
function openedStep(log: LogText, line: number, text: string, step: Step, whole: Whole | null): Step | null {
  const fresh = { line, columns: step.columns, groups: [], errorAt: null };
  if (text.startsWith('Post job cleanup')) return { ...fresh, path: ['Post job cleanup'], isAction: true };
  if (!text.startsWith('##[group]')) return null;
  const name = text.slice('##[group]'.length);
  if (!name.startsWith('Run ') || !isStepHead(log, line, step.path.at(-1) !== SET_UP)) {
    step.groups.push(name);
    return null;
  }
  const isAction =
    /^Run (?:\.{0,2}[\w.-]{0,80}\/)[\w./-]{1,200}(?:@\S{1,100})?$|^Run docker:\/\//.test(name) &&
    !/^Run \.{0,2}\/\S{0,200}\.\w{1,4}$/.test(name);
  if (whole?.isStep === true) return { ...step, isAction };
  const named = step.columns !== '' && !step.columns.endsWith('\tUNKNOWN STEP');
  const job = step.columns === '' ? (whole?.path ?? []) : [step.columns.split('\t')[0] ?? ''];
  return { ...fresh, path: named ? step.path : [...job, name], line: named ? step.line : line, isAction };
}

/** Scripts may open groups called "Run …" too; the head of a step ends with its shell, inputs or environment, or is empty. */
function isStepHead(log: LogText, line: number, isInStep: boolean): boolean {
  for (let at = line + 1; at <= Math.min(log.lineCount, line + MAX_HEAD); at++) {
    const text = log.line(at);
    if (STEP_HEAD.test(text)) return true;
    if (/^##\[(?:group|error)\]/.test(text)) return !isInStep;
    if (text.startsWith('##[endgroup]')) return at === line + 1;
  }
  return true;
}

function sectionOf(log: LogText, step: Step, end: number): Section {
  return failedSection(log, [...step.path, ...step.groups.slice(-3)], step.line, end);
}

interface Whole {
  readonly path: readonly string[];
  /** Whether it is one step rather than a whole job. */
  readonly isStep: boolean;
}

/** Archives of logs hold a file a job (`0_build.txt`) and a file a step (`build/3_Run tests.txt`). */
function archivedStep(source: string): Whole | null {
  const step = /([^/!]{1,150})\/\d{1,3}_([^/]{1,150})\.txt$/.exec(source);
  if (step !== null) return { path: [step[1] ?? '', step[2] ?? ''], isStep: true };
  const job = /(?:^|[/!])\d{1,3}_([^/]{1,150})\.txt$/.exec(source);
  return job === null ? null : { path: [job[1] ?? ''], isStep: false };
}

function columnPath(columns: RegExpExecArray): readonly string[] {
  return columns[2] === 'UNKNOWN STEP' ? [columns[1] ?? ''] : [columns[1] ?? '', columns[2] ?? ''];
}

/** What is said before any step's head belongs to setting up the job, or to the step that the whole file is. */
function firstStep(whole: Whole | null, columns: string, line = 1): Step {
  const path = whole?.isStep === true ? whole.path : [...(whole?.path ?? []), SET_UP];
  return { path, line, isAction: true, columns, groups: [], errorAt: null };
}

/** Text copied off the page says `Error:` for `##[error]`, and a step's head is a plain line. */
function fromPage(log: LogText, marks: readonly Mark[]): readonly Section[] {
  const ended = marks.find(({ text }) => /^Error: Process completed with exit code [1-9]/.test(text));
  if (ended === undefined) return [];
  const start = lineAbove(log, ended.line, 2_000, (text) => /^Run \S/.test(text));
  return [failedSection(log, [start === null ? 'log' : log.line(start)], start ?? 1, ended.line)];
}
