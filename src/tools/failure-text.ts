import type { TriageSubject } from '../domain/subject.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';

/** Longest text that a question about the failure is made of. */
const MAX_QUERY = 1_500;
const MAX_LINE = 300;

/** What every failed build prints, whatever went wrong. Exit codes that name a cause (124, 126, 127, 134–143) are told. */
const GENERIC: readonly RegExp[] = [
  /\b(?:process completed with|returned|exited with|script returned)? ?exit (?:code|status)?:? ?(?!12[467]\b|13[4-9]\b|14[0-3]\b)\d+\.?$/i,
  /^(?:finished: )?(?:build |test run |tests? )?\[?(?:failed|failure|fail|errors?|aborted)\]?[.!:]?(?: errors?:| failures?:)?$/i,
  /^\W*\d+ errors?(?: in [\d.]+ ?s)?\W*$/i,
  /\b(?:see|for) .{0,40}(?:above|below|full (?:log|stack)|more (?:information|details)|complete log)\b/i,
  /^\S{0,20}(?:npm error|npm ERR!) (?:A complete log|Lifecycle script|workspace |location |in workspace|path |command )/,
];

/** The failure in its own words, one thought a line, most telling first: what retrieval compares with. Masked already. */
export function failureText(subject: TriageSubject): string {
  const lines = [
    ...subject.failures.flatMap((failure) => failure.message.split('\n')),
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
  return [...new Set(lines)].filter((line) => /\p{L}{3}/u.test(line) && !GENERIC.some((pattern) => pattern.test(line)));
}

/** The failure in one short line, for searches that take a sentence. */
export function failureHeadline(subject: TriageSubject): string {
  const line = subject.failures[0]?.message ?? subject.exceptions[0]?.message ?? subject.messages[0]?.text ?? '';
  return (line.split('\n')[0] ?? '').trim().slice(0, 200);
}

/** Name of the first failing test, as its report gave it, or null. */
export function failingTestName(subject: TriageSubject): string | null {
  return subject.failures.find((failure) => failure.test !== null)?.test?.name ?? subject.failingTests[0]?.name ?? null;
}

function withoutCiMark(line: string): string {
  return line.replace(/^(?:##\[error\]|::error[^:]{0,200}::|E {3,})/, '');
}
