import type { Section } from '../../domain/failure.ts';
import { findLineAbove, type LogText } from '../lines/lines.ts';
import { type CiSystem, createFailedSection, type Mark, withConsequences } from './system.ts';

interface Stage {
  readonly name: string;
  readonly start: number;
  end: number | null;
  /** The innermost sections that were opened and not closed. They show where the script ended. */
  inner: string[];
}

/** The runner's own stages. They follow one another, so each one ends all sections before it. */
const OWN = new RegExp(
  '^(?:prepare_executor|prepare_script|get_sources|restore_cache|download_artifacts|' +
    String.raw`step_script|build_script|after_script|upload_artifacts\w{0,40}|` +
    String.raw`archive_cache\w{0,40}|cleanup\w{0,40})$`,
);
/** Sections that the runner executes even if the script failed. */
const CLEAN_UP = /^(?:after_script|upload_artifacts|archive_cache|cleanup)/;
const SECTION = /section_(start|end):\d{1,12}:([\w.-]{1,100})/g;
/** The maximum number of lines above an error in which the failed command is searched. */
const MAX_OUTPUT = 5_000;

/**
 * GitLab. Sections are marked before a carriage return, and each command of the script is echoed in green
 * after `$ `.
 */
export const gitlab: CiSystem = {
  literals: ['section_start:', 'section_end:', 'error: job failed'],
  read: (log, marks) => {
    const ended = marks.find(({ text }) => text.startsWith('ERROR: Job failed'));
    if (ended === undefined) return null;
    const stages = listGitLabStages(log, marks);
    const stage = stages.findLast(({ name, start }) => start <= ended.line && !CLEAN_UP.test(name));
    return { failed: [cutToCommand(log, stage, ended)], hasSteps: stages.length > 0 };
  },
};

function listGitLabStages(log: LogText, marks: readonly Mark[]): Stage[] {
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

/**
 * Narrows a section to the command that failed. All commands of a script share one section; the last one that
 * was echoed is the one that failed.
 */
function cutToCommand(log: LogText, stage: Stage | undefined, ended: Mark): Section {
  // Failures of the runner and time limits are reported on the last line only, so the section includes it.
  const isPlain = /^ERROR: Job failed: (?:.{0,60}exit (?:code|status) \d{1,3})/.test(ended.text);
  const end = isPlain ? (stage?.end ?? ended.line) : ended.line;
  const path = stage === undefined ? [] : [stage.name, ...stage.inner];
  const first = stage?.start ?? 1;
  const command = findLineAbove(
    log,
    stage?.end ?? ended.line,
    MAX_OUTPUT,
    (text, line) => isEcho(log, line, text),
    first,
  );
  const name = command === null ? [] : [log.line(command).slice(2)];
  return createFailedSection(log, [...path, ...name], command ?? first, end);
}

/**
 * Checks whether a line is GitLab's echo of a command. It is green if colors are kept. yarn echoes commands,
 * too, below its own first line.
 */
function isEcho(log: LogText, line: number, text: string): boolean {
  if (!text.startsWith('$ ')) return false;
  const raw = log.raw(line).slice(0, 300);
  if (raw.includes('\u001b')) return /\u001b\[(?:32;1|0;32|1;32)m\$ /.test(raw);
  return !/^yarn run v\d/.test(log.line(line - 1));
}

/** A stage of a Jenkins pipeline, or a branch of `parallel`. */
interface JenkinsStage {
  readonly name: string;
  /** Names of the stages around it, outermost first. */
  readonly outer: readonly string[];
  readonly start: number;
  end: number;
  /**
   * The line of the first step that ran directly in the stage, not in a stage inside it. Null if there is
   * none.
   */
  stepAt: number | null;
  readonly isCleanUp: boolean;
  /** True if the stage was skipped because of a failure or a condition. */
  isSkipped: boolean;
}

const SKIPPED = /^Stage "(?<name>.{1,120})" skipped due to /;

const FREESTYLE_ENDED =
  /^Build step '(.{1,200})' (?:marked build as failure|changed build result to (?:FAILURE|UNSTABLE))/;

/** Blocks that Jenkins opens itself. They are not stages. */
const NOT_A_STAGE = /^(?:hide|Declarative: (?:Checkout SCM|Tool Install|Agent Setup))$/;
const BRANCH = 'Branch: ';
const POST = 'Declarative: Post Actions';
/**
 * Matches pipeline steps that do something. Steps that only contain other steps or check their context are
 * excluded.
 */
const NO_STEP = new RegExp(
  String.raw`^\[Pipeline\] (?!//|stage\b|End\b|Start\b|node\b|parallel\b|with\w+\b|getContext\b|` +
    String.raw`timeout\b|script\b|catchError\b|retry\b|dir\b|ws\b)\w`,
);

/**
 * Jenkins. Pipelines mark their blocks, a failed branch of `parallel` is named, and freestyle jobs name the
 * build step.
 */
export const jenkins: CiSystem = {
  literals: [
    '[pipeline]',
    'finished: failure',
    'finished: unstable',
    'finished: aborted',
    'failed in branch',
    'skipped due to ',
    'marked build as failure',
    'changed build result to',
    'error: script returned exit code',
    'post stage',
    '] $ ',
  ],
  read: (log, all) => {
    const marks = all.map(({ line, text }) => ({ line, text: text.trimStart() }));
    if (!marks.some(({ text }) => /^Finished: (?:FAILURE|UNSTABLE|ABORTED)/.test(text))) return null;
    const freestyle = listFreestyleFailures(log, marks);
    return { failed: withConsequences(freestyle.length > 0 ? freestyle : listPipelineFailures(log, marks)) };
  },
};

function listPipelineFailures(log: LogText, marks: readonly Mark[]): readonly Section[] {
  const stages = listJenkinsStages(marks, log.lineCount);
  const branches = listFailedBranches(log, marks, stages);
  if (branches.length > 0) return branches;
  const complaining = stages.filter((stage) => findComplaint(marks, stage, stages) !== null);
  if (complaining.length > 0)
    return complaining.map((stage) =>
      toSection(log, stage, findComplaint(marks, stage, stages)?.line ?? stage.end),
    );
  const over = marks.find(({ text }) => /skipped due to earlier failure/.test(text))?.line ?? log.lineCount;
  const last = stages.findLast(
    ({ start, stepAt, isCleanUp, isSkipped }) => start < over && stepAt !== null && !isCleanUp && !isSkipped,
  );
  return last === undefined ? findLastStep(log, marks) : [toSection(log, last, last.end)];
}

/**
 * Returns the failed branches. Branches run in parallel, so the lines between the beginning of a branch and
 * the message that it failed may also be those of others.
 */
function listFailedBranches(
  log: LogText,
  marks: readonly Mark[],
  stages: readonly JenkinsStage[],
): Section[] {
  return marks.flatMap(({ line, text }) => {
    const name = /^Failed in branch (.{1,100})$/.exec(text)?.[1];
    const branch =
      name === undefined
        ? undefined
        : stages.findLast((stage) => stage.name === `Branch: ${name}` && stage.start < line);
    if (branch === undefined) return [];
    return [
      createFailedSection(log, [...branch.outer, name ?? ''], branch.start, Math.max(branch.end, line)),
    ];
  });
}

/**
 * Returns the error that `catchError` and similar steps report inside the stage. An error that fails the
 * build is reported after the pipeline's end.
 */
function findComplaint(
  marks: readonly Mark[],
  stage: JenkinsStage,
  stages: readonly JenkinsStage[],
): Mark | null {
  if (stage.isCleanUp || stage.isSkipped) return null;
  const inner = stages.filter(({ start, end }) => start > stage.start && end <= stage.end);
  const isOwn = (line: number) =>
    line > stage.start && line < stage.end && !inner.some(({ start, end }) => line > start && line < end);
  return (
    marks.find(({ line, text }) => text.startsWith('ERROR: script returned exit code') && isOwn(line)) ?? null
  );
}

/** Returns the last step that ran. Scripted pipelines may have no stages. */
function findLastStep(log: LogText, marks: readonly Mark[]): Section[] {
  const step = marks.findLast(({ text }) => /^\[Pipeline\] (?:sh|bat|powershell|pwsh|error)$/.test(text));
  if (step === undefined) return [];
  const next = marks.find(({ line, text }) => line > step.line && text.startsWith('[Pipeline] '));
  return [
    createFailedSection(log, [step.text.slice('[Pipeline] '.length)], step.line, next?.line ?? log.lineCount),
  ];
}

function toSection(log: LogText, { outer, name, start }: JenkinsStage, end: number): Section {
  return createFailedSection(log, [...outer, name], start, Math.min(end, log.lineCount));
}

/**
 * Returns the build steps that failed a freestyle job. Each begins with the workspace in brackets and the
 * command: `[ledger] $ /bin/sh -xe …`.
 */
function listFreestyleFailures(log: LogText, marks: readonly Mark[]): Section[] {
  const failed: Section[] = [];
  let started: Mark | undefined;
  for (const mark of marks) {
    if (/^\[[^\]]{1,120}\] \$ /.test(mark.text)) started = mark;
    const name = FREESTYLE_ENDED.exec(mark.text)?.[1];
    if (name === undefined) continue;
    // A publisher runs no command. What it reports is in the few lines above.
    const start = started?.line ?? Math.max(failed.at(-1)?.lineEnd ?? 1, mark.line - 5);
    failed.push(createFailedSection(log, [name], start, mark.line));
    started = undefined;
  }
  return failed;
}

/** Returns the stages of a pipeline log, in the order in which they were opened. */
function listJenkinsStages(marks: readonly Mark[], lineCount: number): JenkinsStage[] {
  const open: (JenkinsStage | null)[] = [];
  const stages: JenkinsStage[] = [];
  for (const { line, text } of marks) {
    if (text.startsWith('Post stage')) endOwnSteps(open, line);
    const skipped = SKIPPED.exec(text)?.groups?.name;
    const stage =
      skipped === undefined ? undefined : stages.findLast(({ name }) => name.replace(BRANCH, '') === skipped);
    if (stage !== undefined) stage.isSkipped = true;
    if (!text.startsWith('[Pipeline] ')) continue;
    if (text.startsWith('[Pipeline] {')) {
      const stage = readOpenedStage(line, text, open, lineCount);
      open.push(stage);
      if (stage !== null) stages.push(stage);
    } else if (text.startsWith('[Pipeline] }')) {
      const closed = open.pop();
      if (closed != null && closed.end === lineCount) closed.end = line;
    } else if (NO_STEP.test(text)) {
      const inner = open.findLast((stage) => stage !== null);
      if (inner != null) inner.stepAt ??= line;
    }
  }
  return stages;
}

function readOpenedStage(
  line: number,
  text: string,
  open: readonly (JenkinsStage | null)[],
  lineCount: number,
): JenkinsStage | null {
  const name = /^\[Pipeline\] \{ \((.{1,120})\)$/.exec(text)?.[1];
  if (name === undefined || NOT_A_STAGE.test(name)) return null;
  const around = open.flatMap((stage) => (stage === null ? [] : [stage.name]));
  const branches = around.filter((name) => name.startsWith(BRANCH));
  // Branches run in parallel, so their markers are mixed. With several open branches, it is unknown which one
  // contains a stage.
  const isMixed = name.startsWith(BRANCH) || branches.length > 1;
  const known = isMixed && branches.length > 0 ? around.slice(0, around.indexOf(branches[0] ?? '')) : around;
  const outer = known.map((name) => name.replace(BRANCH, ''));
  return {
    name,
    outer,
    start: line,
    end: lineCount,
    stepAt: null,
    isCleanUp: name === POST,
    isSkipped: false,
  };
}

/** Ends the steps of the innermost open stage. Its post actions are inside the stage, below this marker. */
function endOwnSteps(open: readonly (JenkinsStage | null)[], line: number): void {
  const inner = open.findLast((stage) => stage !== null);
  if (inner != null) inner.end = line;
}
