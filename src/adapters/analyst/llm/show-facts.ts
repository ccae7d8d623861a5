import type { Diagnostic, FailingTest, ThrownException } from '../../../domain/failure.ts';
import type { TriageSubject } from '../../../domain/subject.ts';
import { cleanLine, stripEscapes } from '../../../log/lines/clean.ts';
import { cutLine } from './cut-text.ts';

const MAX_ITEMS = 8;
const MAX_FRAMES = 6;
const MAX_WARNINGS = 3;

/** What the extractors read, most reliable first, as short lines. Everything in it comes from outside and is masked. */
export function showFacts(subject: TriageSubject): string {
  const { build } = subject;
  const [failure] = subject.failures;
  return [
    `repository ${build.repository}, pipeline ${build.pipeline}, build ${build.number}, attempt ${build.attempt}`,
    `branch ${build.branch ?? 'unknown'}, commit ${build.commit ?? 'unknown'}, job ${build.job ?? 'unknown'}`,
    ...(failure === undefined ? [] : [`what failed: ${oneLine(failure.message)}`]),
    ...(subject.failures.length > 1 ? [`failures with this cause: ${subject.failures.length}`] : []),
    `tools at work: ${subject.toolchains.join(', ') || 'unknown'}`,
    ...list('failing tests', subject.failingTests.map(showTest)),
    ...list('exceptions', subject.exceptions.map(showException)),
    ...list('diagnostics', tellingDiagnostics(subject.diagnostics).map(showDiagnostic)),
    ...list(
      'error messages',
      subject.messages.map((message) => oneLine(message.text)),
    ),
    ...list(
      'processes ended with',
      subject.exits.map((exit) => [exit.code === null ? '' : `exit code ${exit.code}`, exit.signal ?? ''].join(' ').trim()),
    ),
    ...list(
      'failed steps',
      subject.failedSections.map((section) => oneLine(section.name)),
    ),
    ...list('remarks of the reader', subject.notes.map(oneLine)),
  ].join('\n');
}

/** Warnings tell only where nothing was an error. */
function tellingDiagnostics(all: readonly Diagnostic[]): readonly Diagnostic[] {
  const errors = all.filter((entry) => entry.severity === 'error');
  return errors.length > 0 ? errors : all.slice(0, MAX_WARNINGS);
}

function showTest(test: FailingTest): string {
  const name = test.suite === null ? test.name : `${test.suite} › ${test.name}`;
  const place = test.file === null ? '' : ` (${test.file}${test.line === null ? '' : `:${test.line}`})`;
  const values =
    test.expected === null || test.actual === null ? '' : ` expected: ${oneLine(test.expected)} actual: ${oneLine(test.actual)}`;
  return `${oneLine(name)}${place}${values}${test.message === null ? '' : ` message: ${oneLine(test.message)}`}`;
}

function showException(thrown: ThrownException): string {
  const frames = thrown.frames.filter((frame) => frame.own).slice(0, MAX_FRAMES);
  const places = frames.map((frame) => `${frame.file}${frame.line === null ? '' : `:${frame.line}`}`);
  return `${thrown.type}: ${oneLine(thrown.message)}${places.length === 0 ? '' : ` at ${places.join(', ')}`}`;
}

function showDiagnostic(entry: Diagnostic): string {
  const place = entry.file === null ? '' : ` ${entry.file}${entry.line === null ? '' : `:${entry.line}`}`;
  return `${entry.severity} of ${entry.tool}${place}${entry.code === null ? '' : ` ${entry.code}`}: ${oneLine(entry.message)}`;
}

function list(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length > MAX_ITEMS ? [`- … and ${items.length - MAX_ITEMS} more`] : [];
  return [`${title}:`, ...items.slice(0, MAX_ITEMS).map((item) => `- ${item}`), ...more];
}

/** As a person saw it, on one line. */
function oneLine(text: string): string {
  const seen = stripEscapes(text).split('\n').map(cleanLine).join(' ');
  return cutLine(seen.replace(/\s+/g, ' ').trim());
}
