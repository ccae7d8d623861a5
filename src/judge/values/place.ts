import type { Diagnostic } from '../../domain/failure.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { getProjectPath } from '../../log/paths.ts';
import type { FailureBlock } from '../failure-block.ts';
import { isForeignPath, listOwnFrames, type OwnFrame, readProject, toRepositoryPath } from '../paths.ts';
import type { Value } from '../sentence.ts';
import { cleanWords } from './clean.ts';
import { findMentionedTest } from './tests.ts';

/** A place as compilers, interpreters and shells print it before an error. */
const STATED = [
  /^(?:\S{1,12}: )?((?:\.{0,2}\/)?[\w@./+-]{1,200}\.[a-z]\w{0,7})[:(](\d{1,6})\b/i,
  /^\s{0,8}(?:-->|at|File) "?((?:\.{0,2}\/)?[\w@./+-]{1,200}\.[a-z]\w{0,7})"?(?::|, line )(\d{1,6})\b/i,
  /^((?:\.{0,2}\/)?[\w@./+-]{1,200}\.[a-z]\w{0,7}): line (\d{1,6}): /i,
];
/** Scripts of runners, temporary and generated scripts, system folders, and loggers. */
const NO_SOURCE =
  /^(?:MSBUILD$|CSC$|LINK$|EXEC$)|^(?:\/(?:Applications|Library|tmp|var|dev|proc|usr|opt|etc|root\/\.|home\/runner\/(?:_|\.))|~|\$|[A-Za-z]:\\Windows)|(?:^|\/)(?:log(?:ger|ging)?|console)\.\w{1,4}$|_temp\/|^\.\.(?:\/\.\.)|(?:^|[^/]\/)(?:dist|build|target|out|\.next|coverage)\//;
/**
 * A place that a logger prints: "2026-01-02 ERROR db.go:34". It is the origin of the message, not of the
 * error.
 */
const LOGGED = /\b(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL|TRACE)\b.{0,40}$/;

/**
 * Reads the place of the fault from the failure's own lines: that of the deciding diagnostic, or else the
 * first frame inside the checkout.
 */
export function readPlace(block: FailureBlock, subject: TriageSubject): Value | null {
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

/** Scripts that only start a program. Errors that pass through them occurred elsewhere. */
export const STARTS_PROGRAM = /(?:^|\/)(?:manage|setup|__main__|conftest)\.py$/;

/** Reads the place where the project's own code throws the error of the deciding line. */
export function readThrownAt(block: FailureBlock, subject: TriageSubject): Value | null {
  const found = findFramePlace(block, subject);
  if (found === null || found.line === null || STARTS_PROGRAM.test(found.path)) return null;
  return {
    text: `${found.path}:${found.line}`,
    source: found.at.source,
    line: found.at.line,
    near: 'paragraph',
  };
}

/** The minimum number of letters and the maximum length of a message that describes a fault. */
const [FEWEST_LETTERS, MAX_COMPLAINT] = [8, 140];
/** Scripts that check something else and stop. The place of such a message is not that of the fault. */
const CHECKS_OTHERS = /(?:^|\/)CMakeLists\.txt$|\.cmake$/;
/** Messages that are not an error at a place: the end of a connection, or a remark. */
const NO_COMPLAINT =
  /^(?:warning|note|info|notice|debug|hint)\b|^in [\w.<>]+$|\bdeprecated\b|\b(?:connection|timed? ?out|refused|unreachable)\b/i;

/**
 * Reads the message at the place of the fault, in the words of the tool that reports it. Returns null for
 * frames, and if the tool prints no message.
 */
export function readComplaint(block: FailureBlock, subject: TriageSubject): Value | null {
  const found =
    findDiagnosedPlace(block, subject) ??
    (findFramePlace(block, subject) === null ? findStatedPlace(block, subject) : null);
  const bare = found?.said ?? '';
  // If a tool fails on warnings, the deciding one is this.
  const isOwn = found !== null && found.at.line === block.trigger.line;
  const complaint = cleanWords(isOwn ? bare.replace(/^WARNING: /, '') : bare, MAX_COMPLAINT);
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
  /** The tool's message about the place. */
  readonly said?: string;
}

function findDiagnosedPlace({ trigger, step }: FailureBlock, subject: TriageSubject): Found | null {
  const errors = subject.diagnostics.filter(
    (entry) => entry.severity === 'error' && entry.file !== null && entry.tool !== 'make',
  );
  // An absolute path that remains is outside of every known checkout.
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

/** Tells whether a finding of ansible-lint only names a task. Its message is on the line above. */
function namesTask({ code }: Diagnostic): boolean {
  return code === 'Task/Handler';
}

/** Tells whether a line is a compiler's closing line, which counts the errors above it. */
function saysWhatFollows(text: string): boolean {
  return /\b(?:could not compile|compilation (?:failed|failure|error)|failed to compile|\d{1,6} (?:errors?|problems?))\b/i.test(
    text,
  );
}

function isOn({ at }: Diagnostic, trigger: FailureBlock['trigger']): boolean {
  return at !== null && at.source === trigger.source && at.line === trigger.line;
}

function findFramePlace({ trigger, step }: FailureBlock, subject: TriageSubject): Found | null {
  const project = readProject(subject);
  const thrown = subject.exceptions.find(
    ({ type, message, at }) =>
      // A report may omit the type.
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

/** Finds the line of the log that prints a frame: the name of its file, followed by the line in it. */
function findShownFrame({ path, line }: OwnFrame, step: FailureBlock['step']): Found | null {
  const name = path.split('/').at(-1) ?? path;
  const at = step.find(({ text }) => printsPlace(text, name, line));
  return at === undefined ? null : { path, line, at };
}

function printsPlace(text: string, name: string, line: number | null): boolean {
  for (let at = text.indexOf(name); at >= 0 && at < text.length; at = text.indexOf(name, at + 1)) {
    if (/[\w.-]/.test(text.charAt(at - 1))) continue;
    const rest = text.slice(at + name.length);
    if (line === null ? !/^[\w-]/.test(rest) : Number(/^\D{1,12}(\d{1,9})/.exec(rest)?.[1]) === line)
      return true;
  }
  return false;
}

function findStatedPlace({ trigger, paragraph }: FailureBlock, subject: TriageSubject): Found | null {
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
function testPlace({ trigger }: FailureBlock, subject: TriageSubject): Found | null {
  const test = findMentionedTest(trigger, subject);
  if (test?.file == null || test.at === null || !isProjectFile(test.file)) return null;
  return { path: toRepositoryPath(test.file, readProject(subject)), line: test.line, at: test.at };
}

/**
 * Tells whether a path is a source file of the project, and not of a library or runner, or generated by a
 * build.
 */
export function isProjectFile(path: string): boolean {
  const inside = path.replace(/^\/\S{1,300}\/execroot\/[\w.-]{1,80}\/(?!external\/|bazel-out\/)/, '');
  return inside !== '' && !isForeignPath(inside) && !NO_SOURCE.test(getProjectPath(inside));
}
