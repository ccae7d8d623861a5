import type { TriageSubject } from '../domain/triage.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import { NO_ERROR } from '../log/recognise/failures.ts';
import { type LineRole, roleOf } from '../log/roles.ts';

/** Longest text that a question about the failure is made of. */
const MAX_QUERY = 1_500;
const MAX_LINE = 300;

/** Exit codes that name a cause: time limits, missing commands, signals. */
const NAMES_CAUSE = /\b(?:12[467]|13[4-9]|14[0-3])\.?$/;
const SAYS_NOTHING: ReadonlySet<LineRole> = new Set(['blank', 'ending', 'echo', 'passing', 'progress']);

/** The failure in its own words, one thought a line, most telling first: what retrieval compares with. Masked already. */
export function failureText(subject: TriageSubject): string {
  const lines = [
    ...subject.failures.flatMap(({ message }) => (message === NO_ERROR ? [] : message.split('\n'))),
    ...subject.diagnostics.slice(0, 5).map((item) => [item.code, item.message].filter(Boolean).join(': ')),
    ...subject.exceptions.slice(0, 5).map((item) => `${item.type}: ${item.message}`),
    ...subject.messages.slice(0, 8).map((item) => item.text),
    ...subject.failingTests.slice(0, 3).flatMap((test) => test.message?.split('\n') ?? []),
    ...(subject.excerpts[0]?.text.split('\n').slice(-12).reverse() ?? []),
  ];
  return tellingLines(lines.join('\n')).join('\n').slice(0, MAX_QUERY);
}

/** The lines of a text that say something particular, each once, trimmed and cut to 300 characters. */
export function tellingLines(text: string): string[] {
  const lines = stripEscapes(text)
    .split('\n')
    .map((line) => withoutCiMark(cleanLine(line)).trim().slice(0, MAX_LINE));
  return [...new Set(lines)].filter((line) => /\p{L}{3}/u.test(line) && tells(line));
}

function tells(line: string): boolean {
  return !SAYS_NOTHING.has(roleOf(line)) || NAMES_CAUSE.test(line);
}

/** The failure in one short line, for searches that take a sentence; empty where no line tells anything. */
export function failureHeadline({ failures, exceptions, messages }: TriageSubject): string {
  const said = [
    ...failures.flatMap(({ message }) => (message === NO_ERROR ? [] : message)),
    ...exceptions.map(({ message }) => message),
    ...messages.map(({ text }) => text),
  ];
  const lines = said.map((text) => (text.split('\n')[0] ?? '').trim());
  return (lines.find((line) => line !== '' && tells(line)) ?? '').slice(0, 200);
}

/** Name of the first failing test, as its report gave it, or null. */
export function failingTestName(subject: TriageSubject): string | null {
  return subject.failures.find((failure) => failure.test !== null)?.test?.name ?? subject.failingTests[0]?.name ?? null;
}

function withoutCiMark(line: string): string {
  return line.replace(/^(?:##\[error\]|::error[^:]{0,200}::|E {3,})/, '');
}
