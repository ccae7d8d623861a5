import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import type { CiSystem, Mark, Step } from './system.ts';
import { failedSection, lineAbove } from './system.ts';

interface Stage {
  readonly name: string;
  readonly start: number;
  end: number | null;
  /** The last sections opened inside and not closed: where the script broke off. */
  inner: string[];
}

/** The runner's own stages follow one another, so that one of them ends all before it. */
const OWN =
  /^(?:prepare_executor|prepare_script|get_sources|restore_cache|download_artifacts|step_script|build_script|after_script|upload_artifacts\w{0,40}|archive_cache\w{0,40}|cleanup\w{0,40})$/;
/** What the runner does whether or not the script failed. */
const CLEAN_UP = /^(?:after_script|upload_artifacts|archive_cache|cleanup)/;
const SECTION = /section_(start|end):\d{1,12}:([\w.-]{1,100})/g;
/** How far up the command that failed is looked for. */
const MAX_OUTPUT = 5_000;

/** GitLab: sections are marked before a carriage return, each command of the script is echoed in green after `$ `. */
export const gitlab: CiSystem = {
  literals: ['section_start:', 'section_end:', 'error: job failed'],
  read: (log, marks) => {
    const ended = marks.find(({ text }) => text.startsWith('ERROR: Job failed'));
    if (ended === undefined) return null;
    const stages = stagesOf(log, marks);
    const stage = stages.findLast(({ name, start }) => start <= ended.line && !CLEAN_UP.test(name));
    return { failed: [cutToCommand(log, stage, ended)], steps: stages.map((one) => stepOf(log, one, one === stage)) };
  },
};

function stagesOf(log: LogText, marks: readonly Mark[]): Stage[] {
  const stages: Stage[] = [];
  let open: string[] = [];
  for (const { line } of marks) {
    for (const [, kind, name = ''] of log.raw(line).slice(0, 1_000).matchAll(SECTION)) {
      const stage = stages.at(-1);
      if (kind === 'start') {
        if (OWN.test(name)) open = [];
        if (open.length === 0) stages.push({ name, start: line, end: null, inner: [] });
        else if (stage !== undefined) stage.inner = [...open.slice(1), name];
        open.push(name);
      } else if (open.includes(name)) {
        open = open.slice(0, open.indexOf(name));
        if (stage === undefined) continue;
        if (open.length === 0) stage.end = line;
        else stage.inner = open.slice(1);
      }
    }
  }
  return stages;
}

function stepOf(log: LogText, { name, start, end }: Stage, isFailed: boolean): Step {
  const outcome = isFailed ? 'failed' : end === null ? 'unknown' : 'passed';
  return { source: log.name, job: null, name, lineStart: start, outputStart: start, lineEnd: end ?? log.lineCount, outcome };
}

/** All commands of a script share one section; the last one echoed is the one that failed. */
function cutToCommand(log: LogText, stage: Stage | undefined, ended: Mark): Section {
  // The runner's own failures and time limits are told by that last line alone.
  const isPlain = /^ERROR: Job failed: (?:.{0,60}exit (?:code|status) \d{1,3})/.test(ended.text);
  const end = isPlain ? (stage?.end ?? ended.line) : ended.line;
  const path = stage === undefined ? [] : [stage.name, ...stage.inner];
  const first = stage?.start ?? 1;
  const command = lineAbove(log, stage?.end ?? ended.line, MAX_OUTPUT, (text, line) => isEcho(log, line, text), first);
  const name = command === null ? [] : [log.line(command).slice(2)];
  return failedSection(log, [...path, ...name], command ?? first, end);
}

/** yarn echoes what it runs like a shell does, below its own first line; GitLab's echo is green where colours are left. */
function isEcho(log: LogText, line: number, text: string): boolean {
  if (!text.startsWith('$ ')) return false;
  const raw = log.raw(line).slice(0, 300);
  if (raw.includes('\u001b')) return /\u001b\[(?:32;1|0;32|1;32)m\$ /.test(raw);
  return !/^yarn run v\d/.test(log.line(line - 1));
}
