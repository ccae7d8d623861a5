import type { Diagnostic, FailingTest, ThrownException } from '../../../domain/failure.ts';
import type { TriageSubject } from '../../../domain/triage.ts';
import { cleanLine, stripEscapes } from '../../../log/lines/clean.ts';
import { roleOf } from '../../../log/roles.ts';
import { cutLine } from './cut-text.ts';

/** As many failing tests as an answer names. */
const MAX_TESTS = 10;
const MAX_ITEMS = 8;
const MAX_MESSAGES = 4;
const MAX_FRAMES = 6;
const MAX_WARNINGS = 3;
/** Longer messages stand whole among the lines of the log. */
const MAX_FACT = 300;

/**
 * The failing step, and what the reader made of it, as short lines. What `shown`, the evidence beside it, says already is left out, and so is what
 * is said twice. Everything in it comes from outside and is masked.
 */
export function showFacts(subject: TriageSubject, shown = ''): string {
  const { build, failures, failingTests } = subject;
  const known = flat(shown);
  const isNew = (text: string) => !known.includes(flat(text).slice(0, WORDS));
  return [
    ...whereFrom(build),
    ...stepsOf(subject),
    ...failures.slice(0, 1).map(({ message }) => `what failed: ${oneLine(message)}`),
    ...(failures.length > 1 ? [`failures with this cause: ${failures.length}`] : []),
    ...(subject.toolchains.length === 0 ? [] : [`tools at work: ${subject.toolchains.join(', ')}`]),
    ...list(`failing tests (${failingTests.length})`, failingTests.map(showTest), MAX_TESTS),
    ...list('exceptions', subject.exceptions.filter(({ message }) => message === '' || isNew(message)).map(showException)),
    ...list(
      'diagnostics',
      tellingDiagnostics(subject.diagnostics)
        .filter(({ message }) => isNew(message))
        .map(showDiagnostic),
    ),
    ...list(
      'other error messages',
      subject.messages.filter(({ text }) => roleOf(text) === 'cause' && isNew(text)).map(({ text }) => oneLine(text)),
      MAX_MESSAGES,
    ),
    ...list('remarks of the reader', subject.notes.map(oneLine)),
  ].join('\n');
}

/** Characters by which a message is known again. */
const WORDS = 80;

function flat(text: string): string {
  return stripEscapes(text).replace(/\s+/g, ' ').trim();
}

function whereFrom({ repository, pipeline, number, attempt, branch, commit, job }: TriageSubject['build']): string[] {
  const more = Object.entries({ branch, commit, job }).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
  return [
    `repository ${repository}, pipeline ${pipeline}, build ${number}, attempt ${attempt}`,
    ...(more.length === 0 ? [] : [more.join(', ')]),
  ];
}

/** Each failed step with its exit code; where no step is known, how the processes ended. */
function stepsOf({ failedSections, exits }: TriageSubject): string[] {
  const ended = [...new Set(exits.map(({ code, signal }) => signal ?? `exit code ${code}`))];
  const steps = failedSections.map(({ name, exitCode }) => `${oneLine(name)}${exitCode === undefined ? '' : ` (exit code ${exitCode})`}`);
  if (steps.length === 0) return ended.length === 0 ? [] : [`ended with: ${ended.join(', ')}`];
  const isTold = failedSections.some(({ exitCode }) => exitCode !== undefined) || ended.length === 0;
  return [`failed step: ${[...new Set(steps)].join('; ')}${isTold ? '' : `, ended with ${ended.join(', ')}`}`];
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

function list(title: string, all: readonly string[], most = MAX_ITEMS): string[] {
  const items = [...new Set(all)];
  if (items.length === 0) return [];
  const more = items.length > most ? [`- … and ${items.length - most} more`] : [];
  return [`${title}:`, ...items.slice(0, most).map((item) => `- ${item}`), ...more];
}

/** As a person saw it, on one line. */
function oneLine(text: string): string {
  const seen = stripEscapes(text).split('\n').map(cleanLine).join(' ');
  return cutLine(seen.replace(/\s+/g, ' ').trim(), MAX_FACT);
}
