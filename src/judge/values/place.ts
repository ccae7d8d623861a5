import type { Diagnostic } from '../../domain/failure.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { getProjectPath } from '../../log/paths.ts';
import { isForeignPath, listOwnFrames, type OwnFrame, readProject, toRepositoryPath } from '../paths.ts';
import type { Value } from '../sentence.ts';
import type { TellingBlock } from '../telling-block.ts';
import { cleanWords } from './clean.ts';
import { findToldTest } from './tests.ts';

/**
 * A place that the log itself states: a path as compilers, interpreters and shells print it in front of an
 * error.
 */
const STATED = [
  /^(?:\S{1,12}: )?((?:\.{0,2}\/)?[\w@./+-]{1,200}\.[a-z]\w{0,7})[:(](\d{1,6})\b/i,
  /^\s{0,8}(?:-->|at|File) "?((?:\.{0,2}\/)?[\w@./+-]{1,200}\.[a-z]\w{0,7})"?(?::|, line )(\d{1,6})\b/i,
  /^((?:\.{0,2}\/)?[\w@./+-]{1,200}\.[a-z]\w{0,7}): line (\d{1,6}): /i,
];
/** Runners, temporary and generated scripts, folders of the machine, loggers. */
const NO_SOURCE =
  /^(?:MSBUILD$|CSC$|LINK$|EXEC$)|^(?:\/(?:Applications|Library|tmp|var|dev|proc|usr|opt|etc|root\/\.|home\/runner\/(?:_|\.))|~|\$|[A-Za-z]:\\Windows)|(?:^|\/)(?:log(?:ger|ging)?|console)\.\w{1,4}$|_temp\/|^\.\.(?:\/\.\.)|(?:^|[^/]\/)(?:dist|build|target|out|\.next|coverage)\//;
/** "2026-01-02 ERROR db.go:34" names who logged, not what is wrong. */
const LOGGED = /\b(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL|TRACE)\b.{0,40}$/;

/**
 * Reads the place of the fault: the deciding diagnostic's own, else the first frame inside the checkout; it
 * stands in the failure's own lines.
 */
export function readPlace(block: TellingBlock, subject: TriageSubject): Value | null {
  const found =
    findDiagnosedPlace(block, subject) ??
    findFramePlace(block, subject) ??
    findStatedPlace(block, subject) ??
    testPlace(block, subject);
  if (found === null) return null;
  const text = found.line === null ? found.path : `${found.path}:${found.line}`;
  return {
    text,
    source: found.at.source,
    line: found.at.line,
    near: found.at.line === block.trigger.line ? 'line' : 'paragraph',
  };
}

/** Scripts that only start a program: an error that passes through them arose elsewhere. */
export const STARTS_PROGRAM = /(?:^|\/)(?:manage|setup|__main__|conftest)\.py$/;

/** Reads where the project's own code throws what the deciding line says. */
export function readThrownAt(block: TellingBlock, subject: TriageSubject): Value | null {
  const found = findFramePlace(block, subject);
  if (found === null || found.line === null || STARTS_PROGRAM.test(found.path)) return null;
  return {
    text: `${found.path}:${found.line}`,
    source: found.at.source,
    line: found.at.line,
    near: 'paragraph',
  };
}

/**
 * The minimum number of letters and the maximum length of a complaint. Shorter text does not describe the
 * fault.
 */
const [FEWEST_LETTERS, LONGEST_COMPLAINT] = [8, 140];
/** Scripts whose own checks stop them: the place of such a message is not where the fault is. */
const CHECKS_OTHERS = /(?:^|\/)CMakeLists\.txt$|\.cmake$/;
/** The end of a connection is no place, and a remark is no fault. */
const NO_COMPLAINT =
  /^(?:warning|note|info|notice|debug|hint)\b|^in [\w.<>]+$|\bdeprecated\b|\b(?:connection|timed? ?out|refused|unreachable)\b/i;

/**
 * Reads what is wrong at the place, in the words of the tool that names it. Returns null for frames, and if
 * the tool says nothing.
 */
export function readComplaint(block: TellingBlock, subject: TriageSubject): Value | null {
  const found =
    findDiagnosedPlace(block, subject) ??
    (findFramePlace(block, subject) === null ? findStatedPlace(block, subject) : null);
  const bare = found?.said ?? '';
  // A tool that stops at its warnings decided by this one.
  const isOwn = found !== null && found.at.line === block.trigger.line;
  const complaint = cleanWords(isOwn ? bare.replace(/^WARNING: /, '') : bare, LONGEST_COMPLAINT);
  if (
    found === null ||
    CHECKS_OTHERS.test(found.path) ||
    complaint.replace(/[^\p{L}]/gu, '').length < FEWEST_LETTERS ||
    NO_COMPLAINT.test(complaint)
  )
    return null;
  return {
    text: complaint,
    source: found.at.source,
    line: found.at.line,
    near: found.at.line === block.trigger.line ? 'line' : 'paragraph',
  };
}

interface Found {
  readonly path: string;
  readonly line: number | null;
  readonly at: { readonly source: string; readonly line: number };
  /** The tool's words about the place. */
  readonly said?: string;
}

function findDiagnosedPlace({ trigger, step }: TellingBlock, subject: TriageSubject): Found | null {
  const errors = subject.diagnostics.filter(
    (entry) => entry.severity === 'error' && entry.file !== null && entry.tool !== 'make',
  );
  // What is still on a drive is outside of every known checkout.
  const project = readProject(subject);
  const isOwn = (file: string) => isProjectFile(file) && !/^[A-Za-z]:/.test(toRepositoryPath(file, project));
  const ownErrors = errors.filter(({ file }) => isOwn(file ?? ''));
  const same =
    ownErrors.find((entry) => isOn(entry, trigger)) ??
    ownErrors.find((entry) => trigger.text.includes(entry.message.slice(0, 200)));
  const entry =
    same ??
    (saysWhatFollows(trigger.text)
      ? ownErrors.find(({ at }) => step.some((shownLine) => shownLine.line === at?.line))
      : undefined);
  if (entry?.file == null || entry.at === null) return null;
  return {
    path: toRepositoryPath(entry.file, readProject(subject)),
    line: entry.line,
    at: entry.at,
    ...(namesTask(entry) ? {} : { said: entry.message }),
  };
}

/**
 * Tells whether a finding of ansible-lint only names a task; what is wrong with it stands on the line above.
 */
function namesTask({ code }: Diagnostic): boolean {
  return code === 'Task/Handler';
}

/** Tells whether a line is a compiler's closing one, which counts the errors above it. */
function saysWhatFollows(text: string): boolean {
  return /\b(?:could not compile|compilation (?:failed|failure|error)|failed to compile|\d{1,6} (?:errors?|problems?))\b/i.test(
    text,
  );
}

function isOn({ at }: Diagnostic, trigger: TellingBlock['trigger']): boolean {
  return at !== null && at.source === trigger.source && at.line === trigger.line;
}

function findFramePlace({ trigger, step }: TellingBlock, subject: TriageSubject): Found | null {
  const project = readProject(subject);
  const thrown = subject.exceptions.find(
    ({ type, message, at }) =>
      // A report may leave out the type.
      [`${type}: ${message}`, message].some(
        (text) => text.length > 8 && trigger.text.startsWith(text.slice(0, 80)),
      ) ||
      (at !== null && at.line === trigger.line),
  );
  if (thrown === undefined) return null;
  const frames = listOwnFrames([...thrown.frames, ...(thrown.outerFrames ?? [])], project).filter(
    ({ path }) => isProjectFile(path),
  );
  const best =
    frames.find(({ isTest, onlyReports }) => !isTest && !onlyReports) ??
    frames.find(({ onlyReports }) => !onlyReports);
  return best === undefined ? null : findShownFrame(best, step);
}

/** Finds the frame's own line in the log. */
function findShownFrame({ path, line }: OwnFrame, step: TellingBlock['step']): Found | null {
  const name = path.split('/').at(-1) ?? path;
  const at = step.find(({ text }) => text.includes(name) && (line === null || text.includes(String(line))));
  return at === undefined ? null : { path, line, at };
}

function findStatedPlace({ trigger, paragraph }: TellingBlock, subject: TriageSubject): Found | null {
  const project = readProject(subject);
  const lines =
    trigger.line === null
      ? paragraph
      : paragraph.filter(({ line }) => Math.abs(line - (trigger.line ?? line)) <= 2);
  for (const candidate of lines) {
    for (const stated of STATED) {
      const [whole, path = '', line = ''] = stated.exec(candidate.text.trim()) ?? [];
      if (
        whole === undefined ||
        LOGGED.test(candidate.text.slice(0, candidate.text.indexOf(path))) ||
        !isProjectFile(path)
      )
        continue;
      return {
        path: toRepositoryPath(path, project),
        line: Number(line),
        at: candidate,
        said: candidate.text
          .trim()
          .slice(whole.length)
          .replace(/^[\s:)\]\d,-]{0,20}/, ''),
      };
    }
  }
  return null;
}

/** Finds the place of the test that the deciding line is about. */
function testPlace({ trigger }: TellingBlock, subject: TriageSubject): Found | null {
  const test = findToldTest(trigger, subject);
  if (test?.file == null || test.at === null || !isProjectFile(test.file)) return null;
  return { path: toRepositoryPath(test.file, readProject(subject)), line: test.line, at: test.at };
}

/** Tells whether a path is a source of the project: not a library's, a runner's, or what a build wrote. */
export function isProjectFile(path: string): boolean {
  const inside = path.replace(/^\/\S{1,300}\/execroot\/[\w.-]{1,80}\/(?!external\/|bazel-out\/)/, '');
  return inside !== '' && !isForeignPath(inside) && !NO_SOURCE.test(getProjectPath(inside));
}
