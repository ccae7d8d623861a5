import type { TestResult } from '../../domain/build.ts';
import type { Diagnostic, FailingTest } from '../../domain/failure.ts';
import { splitExpectation } from '../expectation.ts';
import { placedLine, tellingMessage, withoutEscapes } from './failure-words.ts';
import { placeOf } from './place.ts';
import type { TestReport } from './report-shape.ts';

/** One run of one test, as a report tells it. What is not known is left out. */
export interface Outcome {
  readonly name: string;
  readonly suite?: string | null;
  readonly file?: string | null;
  /** 1-based. */
  readonly line?: number | null;
  readonly status: TestResult['status'];
  readonly durationMs?: number | null;
  /** In the report's own words; the most telling line of detail, type and output where there is none. */
  readonly message?: string | null;
  /** Of the exception. */
  readonly type?: string | null;
  /** Stack trace or diff: what the message, the place and the expectation are read from where they are not given. */
  readonly detail?: string;
  /** What the test printed, for reports whose detail says nothing. */
  readonly output?: string;
  readonly expected?: string | null;
  readonly actual?: string | null;
  /** It failed first and passed when it was tried again. */
  readonly flaky?: boolean;
  /** Line of the report, 1-based. */
  readonly at?: number | null;
}

/** A report while it is read. */
export interface ReportDraft {
  /** Tests added so far. */
  readonly size: number;
  add(outcome: Outcome): void;
  diagnose(diagnostic: Omit<Diagnostic, 'at'>, line: number | null): void;
  /** Notes are bounded: a report that complains a million times is cut with one note. */
  note(text: string): void;
  finish(): TestReport;
}

/** What happened to one test over all its runs in this report. */
interface Story {
  last: Outcome;
  failed: Outcome | null;
  passes: number;
  flaky: boolean;
}

const MAX_TESTS = 1_000_000;
const MAX_DIAGNOSTICS = 10_000;
const MAX_NOTES = 50;
const MAX_NAME = 2_000;
const MAX_MESSAGE = 1_000;

/**
 * Collects what a report of `framework` says. The same test twice is one test: it failed if any of its runs did, except where `retries`
 * says that a repeat is another try, and the only pass is the last one. Throws Error above a million tests.
 */
export function draftReport(source: string, framework: string, { retries = true } = {}): ReportDraft {
  const stories = new Map<string, Story>();
  const diagnostics: Diagnostic[] = [];
  const notes: string[] = [];
  return {
    get size() {
      return stories.size;
    },
    add(outcome) {
      const key = `${outcome.suite ?? ''}\u0001${outcome.name}\u0001${outcome.file ?? ''}`;
      const story = stories.get(key);
      if (story === undefined && stories.size >= MAX_TESTS) throw new Error(`it holds more than ${MAX_TESTS} tests`);
      stories.set(key, tell(story, outcome));
    },
    diagnose(diagnostic, line) {
      const at = line === null ? null : { source, line };
      if (diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push({ ...diagnostic, at });
    },
    note(text) {
      notes.push(text);
    },
    finish() {
      const ended = [...stories.values()].map((story) => ending(story, retries));
      const flaky = ended.filter(({ flaky, outcome }) => flaky && outcome.status === 'passed').map(({ outcome }) => flakyNote(outcome));
      return {
        failingTests: ended.filter(({ outcome }) => outcome.status === 'failed').map(({ outcome }) => failing(source, framework, outcome)),
        testResults: ended.map(({ outcome }) => resultOf(outcome)),
        diagnostics,
        notes: bounded([...flaky, ...notes]),
      };
    },
  };
}

function tell(story: Story | undefined, outcome: Outcome): Story {
  const hasFailed = outcome.status === 'failed';
  const passes = outcome.status === 'passed' ? 1 : 0;
  if (story === undefined) return { last: outcome, failed: hasFailed ? outcome : null, passes, flaky: outcome.flaky ?? false };
  // A second run that was skipped says nothing about the first.
  story.last = outcome.status === 'skipped' ? story.last : outcome;
  if (hasFailed) story.failed ??= outcome;
  story.passes += passes;
  story.flaky ||= outcome.flaky ?? false;
  return story;
}

function ending({ last, failed, passes, flaky }: Story, retries: boolean): { outcome: Outcome; flaky: boolean } {
  if (failed === null) return { outcome: last, flaky };
  if (retries && last.status === 'passed' && passes === 1) return { outcome: last, flaky: true };
  return { outcome: failed, flaky };
}

function flakyNote({ suite, name }: Outcome): string {
  return `${suite ? `${suite}.` : ''}${name} failed first and passed on a rerun.`.slice(0, MAX_NAME);
}

function bounded(notes: readonly string[]): string[] {
  if (notes.length <= MAX_NOTES) return [...notes];
  return [...notes.slice(0, MAX_NOTES), `… and ${notes.length - MAX_NOTES} more remarks about this report.`];
}

function resultOf({ name, suite, file, status, durationMs }: Outcome): TestResult {
  return {
    name: name.slice(0, MAX_NAME),
    suite: suite?.slice(0, MAX_NAME) ?? null,
    file: file ?? null,
    status,
    durationMs: durationMs !== undefined && durationMs !== null && Number.isFinite(durationMs) && durationMs >= 0 ? durationMs : null,
  };
}

function failing(source: string, framework: string, outcome: Outcome): FailingTest {
  const message = withoutEscapes(outcome.message ?? '').trim();
  const own = withoutEscapes(outcome.detail ?? '');
  const output = withoutEscapes(outcome.output ?? '');
  // CTest prints what went wrong, and says no more than "Failed" in its place.
  const detail = own.trim() === '' ? output : own;
  const split = splitExpectation(`${message}\n${detail}`);
  const { name, suite } = resultOf(outcome);
  const told = tellingMessage({ message, type: outcome.type ?? null, detail: own, output });
  return {
    name,
    suite,
    ...placeOf(detail === '' ? message : `${placedLine(own) ?? ''}\n${detail}`, {
      file: outcome.file ?? null,
      line: outcome.line ?? null,
      suite,
    }),
    message: told?.slice(0, MAX_MESSAGE) ?? null,
    expected: outcome.expected ?? split.expected,
    actual: outcome.actual ?? split.actual,
    framework,
    at: outcome.at === undefined || outcome.at === null ? null : { source, line: outcome.at },
  };
}
