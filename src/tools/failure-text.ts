import type { TriageSubject } from '../domain/subject.ts';

/** Longest text that a question about the failure is made of. */
const MAX_QUERY = 1_500;

/** The failure in its own words, most telling first: what retrieval compares with. Masked already. */
export function failureText(subject: TriageSubject): string {
  const lines = [
    ...subject.failures.map((failure) => failure.message),
    ...subject.diagnostics.slice(0, 5).map((item) => [item.tool, item.code, item.message].filter(Boolean).join(' ')),
    ...subject.exceptions.slice(0, 5).map((item) => `${item.type}: ${item.message}`),
    ...subject.messages.slice(0, 8).map((item) => item.text),
    ...subject.failingTests.slice(0, 3).flatMap((test) => test.message ?? []),
    ...(subject.excerpts[0] === undefined ? [] : [subject.excerpts[0].text.slice(-600)]),
  ];
  return [...new Set(lines.map((line) => line.trim()))].filter(Boolean).join('\n').slice(0, MAX_QUERY);
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
