import type { Section } from '../../domain/failure.ts';
import { extractJobAndStep } from '../lines/clean.ts';
import { findLineAbove, type LogText } from '../lines/lines.ts';
import {
  type CiSystem,
  createFailedSection,
  isCleanUp,
  type LineRange,
  type Mark,
  type SystemReading,
} from './system.ts';

interface Job {
  name: string | null;
  readonly steps: OpenStep[];
}

interface OpenStep {
  readonly job: Job;
  /** Its own name, after that of the action that contains it. */
  readonly path: readonly string[];
  readonly line: number;
  outputStart: number;
  lineEnd: number;
  /** The beginning of its script, as printed in its head. */
  script: string;
  /** True if it runs an action. An action reports a failure only by `##[error]`. */
  isAction: boolean;
  /**
   * True if columns or the file name show where it begins and ends. Then heads of steps in it are part of its
   * output.
   */
  readonly isNamed: boolean;
  /** The groups that its output has opened and not closed, and those that were open where it failed. */
  readonly groups: string[];
  failedIn: readonly string[];
  /** The line of the last `##[error]`, and the line that says that the step failed. */
  errorAt: number | null;
  failedAt: number | null;
  isStopped: boolean;
  /** True if its own time limit stopped it. */
  isOverTime: boolean;
}

const RUN_FAILED =
  /^##\[error\](?:Process completed with exit code [1-9]|.{1,80} exited with (?:error )?code '?[1-9])/;
const STOPPED = new RegExp(
  String.raw`^##\[error\](?:The operation was cancell?ed|The job .{0,200}exceeded the maximum|` +
    'The runner has received a shutdown signal)',
);
const PAGE_FAILED = /^Error: Process completed with exit code [1-9]/;
const ACTION = /^Run (?:(?:\.{0,2}[\w.-]{0,80}\/)[\w./-]{1,200}(?:@\S{1,100})?$|docker:\/\/)/;
const SCRIPT_FILE = /^Run \.{0,2}\/\S{0,200}\.\w{1,4}$/;
/** Lines of a step's head below the script: the headings, and the indented lines below them. */
const STEP_HEAD = /^(?:shell: \S|with:$|env:$)/;
const IN_HEAD = /^(?:shell: \S|with:$|env:$| {2}\S)/;
/** The maximum number of lines of a step before its first marker that are searched. */
const MAX_UNMARKED = 5_000;
const MAX_HEAD = 300;
/** The maximum number of lines of a script that are read to find its purpose. */
const MAX_SCRIPT_LINES = 12;
const JOB_BEGINS = 'Current runner version';
const JOB_NAME = 'Complete job name: ';
const CLEAN_UP = 'Post job cleanup';
const AFTER_STEPS = /^(?:Post job cleanup|Cleaning up orphan processes)/;
/** GitHub's name for the part of a job before the first step. */
const SET_UP = 'Set up job';
/** Names of steps that usually run with `if: always()` or `if: failure()`. */
const FOLLOWER = new RegExp(
  String.raw`(?<![-./\w=])(?:reports?|summary|summari[sz]e|comment|logs|dump|diagnos\w{1,10}|debug|` +
    String.raw`collect|save|stop|shut ?down|kill|down)(?![-=./\w])|^Complete job$`,
  'i',
);
/** Names and scripts of jobs or steps that only check the results of others. */
const GATE = new RegExp(
  String.raw`\b(?:required|all)\b.{0,30}\b(?:checks?|jobs?|green|passed|succeeded)\b|` +
    String.raw`\b(?:ci|build|tests?|status|checks?)[ -](?:success|passed|gate|results?|` +
    String.raw`status|complete)\b|\bmerge[ -]gate\b|alls-green`,
  'i',
);
const COMPARES_RESULTS = new RegExp(
  String.raw`(?<![\w-])(?:success|failure|cancelled|skipped)['"]? [!=]=? ['"]?(?:success|failure|` +
    String.raw`cancelled|skipped)\b|\bneeds\.[\w.*-]{1,80}\.result\b`,
);

/**
 * GitHub Actions, and Gitea in the same format. A step begins with a group `Run …`, and `##[error]` shows
 * that it failed.
 */
export const github: CiSystem = {
  literals: [
    '##[error]',
    '##[group]',
    '##[endgroup]',
    '::group::',
    '::endgroup::',
    'process completed with exit code',
    'post job cleanup',
    'cleaning up orphan processes',
    JOB_BEGINS.toLowerCase(),
    JOB_NAME.toLowerCase(),
  ],
  read: (log, marks) => {
    if (marks.some(({ text }) => text.startsWith('##[section]Starting: '))) return null;
    const reader = new StepReader(log);
    for (const mark of marks) reader.read(mark);
    const steps = reader.jobs.flatMap((job) => job.steps);
    endSteps(steps, log.lineCount);
    const failed = listFailedSteps(log, reader.jobs);
    const page = failed.length === 0 ? fromPage(log, marks) : null;
    if (page !== null || (failed.length === 0 && steps.length < 2)) return page;
    const jobs = reader.jobs.map((job) => ({
      start: job.steps[0]?.line ?? 1,
      end: job.steps.at(-1)?.lineEnd ?? log.lineCount,
    }));
    return { failed, hasSteps: true, echoes: reader.echoes, ...(jobs.length > 1 ? { jobs } : {}) };
  },
};

/** The groups in which the runner describes its machine and the token of the job. They are no output. */
const DESCRIPTION = /^(?:Runner Image|Operating System$|GITHUB_TOKEN Permissions$)/;

/** Reads the markers of a log, job by job and step by step. */
class StepReader {
  readonly jobs: Job[] = [];
  readonly echoes: LineRange[] = [];
  private readonly named = new Map<string, Job>();
  private readonly log: LogText;
  private readonly whole: ReturnType<typeof readArchivedStep>;
  private columns = '';
  private step: OpenStep;
  private head: number | null = null;
  private description: number | null = null;

  constructor(log: LogText) {
    this.log = log;
    this.whole = readArchivedStep(log.name);
    const { job, step } = this.whole;
    this.step = this.open(this.getJob(job), step === null ? [] : [step], 1, step !== null);
  }

  read({ line, text: content }: Mark): void {
    const text = content.replace(/^::(group|endgroup)::/, '##[$1]');
    this.followColumns(line, text);
    if (text.startsWith('##[endgroup]')) this.closeGroup(line);
    else if (text.startsWith('##[group]')) this.openGroup(line, text.slice('##[group]'.length));
    else if (text.startsWith('##[error]')) this.fail(line, text);
    else if (text.startsWith(JOB_NAME)) this.step.job.name ??= text.slice(JOB_NAME.length).slice(0, 120);
    else if (!this.step.isNamed && AFTER_STEPS.test(text))
      this.step = this.open(this.step.job, [CLEAN_UP], line);
  }

  /**
   * Reads the job and step columns of a downloaded log. In concatenated raw logs, the runner's version begins
   * a job.
   */
  private followColumns(line: number, text: string): void {
    const columns = extractJobAndStep(this.log.raw(line).slice(0, 300));
    if (columns === null) {
      if (!text.startsWith(JOB_BEGINS) || this.whole.step !== null) return;
      const isFirst =
        this.columns === '' &&
        this.jobs.length === 1 &&
        this.step.path.length === 0 &&
        this.step.errorAt === null;
      if (isFirst) this.step.job.steps.pop();
      this.columns = '';
      this.step = this.open(isFirst ? this.step.job : this.getJob(null), [SET_UP], isFirst ? 1 : line);
      return;
    }
    const key = `${columns.job}\t${columns.step}`;
    if (key === this.columns) return;
    this.columns = key;
    const isNamed = columns.step !== 'UNKNOWN STEP';
    this.step = this.open(
      this.getJob(columns.job),
      [isNamed ? columns.step : SET_UP],
      this.firstWith(key, line),
      isNamed,
    );
  }

  /**
   * Finds the first of the consecutive lines with the same columns. A step may print much before its first
   * marker.
   */
  private firstWith(key: string, line: number): number {
    const isSame = (at: number) => {
      const columns = extractJobAndStep(this.log.raw(at).slice(0, 300));
      return columns !== null && `${columns.job}\t${columns.step}` === key;
    };
    return (
      1 +
      (findLineAbove(this.log, line - 1, MAX_UNMARKED, (_, at) => !isSame(at)) ??
        Math.max(0, line - 1 - MAX_UNMARKED))
    );
  }

  private getJob(name: string | null): Job {
    const known = name === null ? undefined : this.named.get(name);
    if (known !== undefined) return known;
    const job = { name, steps: [] };
    if (name !== null) this.named.set(name, job);
    this.jobs.push(job);
    return job;
  }

  private open(job: Job, path: readonly string[], line: number, isNamed = false): OpenStep {
    const fresh = {
      groups: [],
      failedIn: [],
      errorAt: null,
      failedAt: null,
      isStopped: false,
      isOverTime: false,
    };
    const step = {
      job,
      path,
      line,
      outputStart: line,
      lineEnd: line,
      script: '',
      isAction: true,
      isNamed,
      ...fresh,
    };
    // Lines before the first columns of a downloaded log are not a job.
    if (
      this.jobs.length > 1 &&
      this.jobs[0]?.steps.length === 1 &&
      this.jobs[0].name === null &&
      this.step.errorAt === null
    )
      this.jobs.shift();
    job.steps.push(step);
    return step;
  }

  private openGroup(line: number, name: string): void {
    if (!name.startsWith('Run ') || !isStepHead(this.log, line, this.step.path.at(-1) !== SET_UP)) {
      this.step.groups.push(name);
      if (DESCRIPTION.test(name)) this.description = line;
      return;
    }
    const { step } = this;
    // If an action printed nothing before the next head, it is a composite action, and this is its first
    // step.
    const outer = step.isAction && step.outputStart === line && step.line < line - 1 ? step.path : [];
    // After the cleanup of a job, a step belongs to the next job.
    const job = step.path[0] === CLEAN_UP && !step.isNamed ? this.getJob(null) : step.job;
    if (!step.isNamed) this.step = this.open(job, [...outer, name], line);
    this.step.isAction = ACTION.test(name) && !SCRIPT_FILE.test(name);
    this.step.errorAt = null;
    this.step.groups.length = 0;
    this.head = line;
  }

  private closeGroup(line: number): void {
    const { head, step } = this;
    this.head = null;
    if (head === null) {
      step.groups.pop();
      if (this.description !== null) this.echoes.push({ start: this.description, end: line });
      this.description = null;
      return;
    }
    this.echoes.push({ start: head, end: line });
    if (step.outputStart === step.line) step.outputStart = line + 1;
    const last = Math.min(line, head + 1 + MAX_SCRIPT_LINES);
    for (let at = head; at < last && step.script.length < 1_000; at++)
      step.script += `${this.log.line(at).slice(0, 200)}\n`;
  }

  private fail(line: number, text: string): void {
    const { step } = this;
    Object.assign(step, { errorAt: line, failedIn: step.groups.slice(-3) });
    this.head = null;
    const isStopped = STOPPED.test(text);
    step.isOverTime ||= isStopped && text.includes('exceeded the maximum');
    if (!isStopped && !RUN_FAILED.test(text)) return;
    Object.assign(step, { failedAt: line, isStopped });
  }
}

/**
 * Checks whether a group is the head of a step. Scripts may open groups called "Run …", too, but the head of
 * a step ends with its shell, inputs or environment, or is empty.
 */
function isStepHead(log: LogText, line: number, isInStep: boolean): boolean {
  for (let at = line + 1; at <= Math.min(log.lineCount, line + MAX_HEAD); at++) {
    const text = log.line(at);
    if (STEP_HEAD.test(text)) return true;
    if (/^(?:##\[(?:group|error)\]|::group::)/.test(text)) return !isInStep;
    if (/^(?:##\[endgroup\]|::endgroup::)/.test(text)) return at === line + 1;
  }
  return true;
}

/** Ends each step where the next one begins. */
function endSteps(steps: readonly OpenStep[], lineCount: number): void {
  const inOrder = steps.toSorted((a, b) => a.line - b.line);
  for (const [i, step] of inOrder.entries())
    step.lineEnd = Math.max(step.line, (inOrder[i + 1]?.line ?? lineCount + 1) - 1);
}

function isFailed({ failedAt, isAction, errorAt }: OpenStep): boolean {
  return failedAt !== null || (isAction && errorAt !== null);
}

/**
 * Returns the steps that failed each job. An action that reports problems without stopping the job counts
 * only if nothing else failed.
 */
function listFailedSteps(log: LogText, jobs: readonly Job[]): Section[] {
  const red = jobs.flatMap((job) => findFailedSteps(log, job));
  const all =
    red.length > 0
      ? red
      : jobs.flatMap(({ steps }) =>
          steps.filter(isFailed).map((step) => ({ step, isFollower: false, isTolerated: false })),
        );
  const causes = all.filter(
    ({ step, isFollower, isTolerated }) => !isFollower && !isTolerated && !step.isStopped && !isGate(step),
  );
  const failing = new Set(causes.map(({ step }) => step.job));
  return all.map(({ step, isFollower, isTolerated }) => {
    const { job, path, line, failedAt, lineEnd } = step;
    const isNamed =
      job.name !== null &&
      (jobs.length > 1 || step.isNamed || extractJobAndStep(log.raw(line).slice(0, 300)) !== null);
    const outer = isNamed || /\d_[^/]{1,150}\.txt$/.test(log.name) ? [job.name ?? ''] : [];
    // An action may print an explanation after its error, so its section continues to its end.
    const section = createFailedSection(
      log,
      [...outer, ...path, ...step.failedIn],
      line,
      failedAt ?? lineEnd,
    );
    const follows = explainFollowing(log, step);
    const isOfOthers =
      (follows === 'stopped' || follows === 'other-jobs') && failing.size > Number(failing.has(job));
    const consequence = isTolerated || isFollower || isOfOthers ? { consequence: true } : {};
    return {
      ...section,
      ...consequence,
      ...(isTolerated ? { tolerated: true } : {}),
      ...(follows === null ? {} : { follows }),
    };
  });
}

/**
 * Returns the steps that failed one job. A step that failed without stopping the job is marked as tolerated:
 * after it, a step ran that does not run after a failure, and a later step failed as well. A step that failed
 * later, and only cleans up or reports, is marked as a consequence.
 */
function findFailedSteps(
  log: LogText,
  { steps }: Job,
): { step: OpenStep; isFollower: boolean; isTolerated: boolean }[] {
  const isLate = (step: OpenStep) => isFollowing(step) || isMissingFiles(log, step);
  const lastRun = steps.findLastIndex((step) => !isLate(step));
  const lastFailed = steps.findLastIndex((step) => isFailed(step) && !isLate(step));
  const lastBetween = steps.findLastIndex(({ path }, at) => at < lastFailed && !isCleanUp(path.join(' ')));
  const isTolerated = (step: OpenStep, at: number) =>
    !step.isStopped && at < (step.failedAt === null ? lastRun : lastBetween);
  const red = steps.filter((step, at) => isFailed(step) && !isTolerated(step, at));
  const stopped = red.findIndex(({ isStopped }) => isStopped);
  // Actions that only reported problems are not included, because they need not have failed.
  const tolerated = steps.filter(
    (step, at) => step.failedAt !== null && isTolerated(step, at) && !isLate(step),
  );
  return [
    ...red.map((step, i) => ({
      step,
      isFollower: i > 0 && (isLate(step) || (stopped !== -1 && i > stopped)),
      isTolerated: false,
    })),
    ...(red.length === 0 ? [] : tolerated.map((step) => ({ step, isFollower: false, isTolerated: true }))),
  ];
}

function isFollowing({ path }: OpenStep): boolean {
  const name = path.at(-1) ?? '';
  return isCleanUp(name) || FOLLOWER.test(name);
}

function explainFollowing(log: LogText, step: OpenStep): NonNullable<Section['follows']> | null {
  if (step.isStopped) return step.isOverTime ? null : 'stopped';
  if (isGate(step)) return 'other-jobs';
  return isMissingFiles(log, step) ? 'no-files' : null;
}

/**
 * The number of lines before the end of a failed step that are searched for a message that there were no
 * files.
 */
const LAST_WORDS = 4;
const NO_FILES = new RegExp(
  String.raw`\bno (?:\w{1,20} )?(?:reports?|results?|files?|artifacts?)\b.{0,80}\b(?:found|` +
    String.raw`match\w{0,4}|exists?|matching)\b|\bfound no\b.{0,60}\b(?:files?|reports?|results?)\b|` +
    String.raw`\b(?:could not|cannot|unable to|did not|failed to) find (?:any )?` +
    String.raw`.{0,60}\b(?:reports?|results?|artifacts?)\b`,
  'i',
);

/** Checks whether a step failed only because there were no reports or artifacts. */
function isMissingFiles(log: LogText, { errorAt, failedAt, outputStart }: OpenStep): boolean {
  const end = failedAt ?? errorAt;
  if (end === null) return false;
  for (let line = Math.max(outputStart, end - LAST_WORDS); line <= end; line++)
    if (NO_FILES.test(log.line(line))) return true;
  return false;
}

function isGate({ job, path, script }: OpenStep): boolean {
  return GATE.test(`${job.name ?? ''}\n${path.join(' ')}`) || COMPARES_RESULTS.test(script);
}

/**
 * Returns the job and step that a file's name states. Archives of logs contain one file for each job
 * (`0_build.txt`) and one for each step (`build/3_Run tests.txt`).
 */
function readArchivedStep(source: string): { readonly job: string | null; readonly step: string | null } {
  const step = /([^/!]{1,150})\/\d{1,3}_([^/]{1,150})\.txt$/.exec(source);
  if (step !== null) return { job: step[1] ?? '', step: step[2] ?? '' };
  const job = /(?:^|[/!])\d{1,3}_([^/]{1,150})\.txt$/.exec(source);
  return { job: job?.[1] ?? null, step: null };
}

/**
 * Reads text that was copied from the web page. It has `Error:` instead of `##[error]`, and the head of a
 * step as plain lines.
 */
function fromPage(log: LogText, marks: readonly Mark[]): SystemReading | null {
  const failed: Section[] = [];
  const echoes: LineRange[] = [];
  for (const { line } of marks.filter(({ text }) => PAGE_FAILED.test(text))) {
    const above = (fits: (text: string, at: number) => boolean) =>
      findLineAbove(log, line, 2_000, fits, (failed.at(-1)?.lineEnd ?? 0) + 1);
    const start =
      above((text, at) => text.startsWith('Run ') && findPlainHead(log, at) !== null) ??
      above((text) => /^Run [^\s`'"]/.test(text));
    const end = start === null ? null : findPlainHead(log, start);
    if (start !== null) echoes.push({ start, end: end ?? start });
    failed.push(createFailedSection(log, [start === null ? 'log' : log.line(start)], start ?? 1, line));
  }
  return failed.length === 0 ? null : { failed, echoes };
}

/**
 * Returns the last line of a step's head without markers. Returns null if no shell, inputs or environment
 * show that it is one.
 */
function findPlainHead(log: LogText, line: number): number | null {
  let at = line + 1;
  while (at <= line + MAX_HEAD && !STEP_HEAD.test(log.line(at)) && !log.line(at).startsWith('Run ')) at++;
  if (!STEP_HEAD.test(log.line(at))) return null;
  while (IN_HEAD.test(log.line(at + 1))) at++;
  return at;
}
