import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

interface Mark {
  readonly pattern: RegExp;
  readonly weight: number;
  readonly reason: string;
}

const MARKS: readonly Mark[] = [
  { pattern: /\bTEST-UNEXPECTED-\w{1,20} \| /, weight: 88, reason: 'unexpected test result' },
  { pattern: /\bPROCESS-CRASH \| /, weight: 90, reason: 'crashed process' },
  {
    pattern: /\b(?:Assertion failure: |Hit MOZ_CRASH|MOZ_ASSERT|###!!! ASSERTION|###!!! ABORT)/,
    weight: 84,
    reason: 'failed assertion of the program',
  },
  {
    pattern:
      /^(?:={2}\d{1,10}={2}\s?)?(?:ERROR|SUMMARY): (?:Address|Thread|Memory|UndefinedBehavior|Leak)Sanitizer\b|^(?:PID \d{1,9} \| ).{0,30}(?:ERROR|SUMMARY): \w{1,30}Sanitizer|^WARNING: ThreadSanitizer/,
    weight: 88,
    reason: 'sanitizer report',
  },
  { pattern: /: runtime error: .{1,200}/, weight: 82, reason: 'undefined behaviour' },
  {
    pattern: /^={2}\d{1,10}={2}\s{1,4}(?:Invalid (?:read|write|free)|definitely lost|Conditional jump|ERROR SUMMARY: [1-9])/,
    weight: 80,
    reason: 'valgrind report',
  },
  { pattern: /LEAKING THE WORLD|^(?:ERROR|CRITICAL|FATAL) - /, weight: 76, reason: 'error of the harness' },
  { pattern: /^\[taskcluster:error\]|^\[taskcluster\] .{0,40}(?:Unsuccessful|exceeded)/, weight: 78, reason: 'error of the task runner' },
  { pattern: /^WARNING - .{0,40}(?:TEST-UNEXPECTED|PROCESS-CRASH)/, weight: 88, reason: 'unexpected test result' },
];

/** Browser and system test harnesses with one structured line a result, and sanitizers. */
export const harness: Extractor = {
  name: 'harness',
  literals: [
    'TEST-UNEXPECTED-',
    'PROCESS-CRASH',
    'Assertion failure: ',
    'MOZ_CRASH',
    'MOZ_ASSERT',
    '###!!! A',
    'Sanitizer',
    ': runtime error: ',
    'LEAKING THE WORLD',
    'ERROR - ',
    'CRITICAL - ',
    'FATAL - ',
    '[taskcluster',
    'Invalid read',
    'Invalid write',
    'definitely lost',
    'ERROR SUMMARY: ',
  ],
  extract: (log, lines, found) => {
    const seen = new Set<string>();
    for (const line of lines) {
      const text = log.line(line);
      const mark = MARKS.find(({ pattern }) => pattern.test(text));
      if (mark === undefined) continue;
      found.blocks.push({ start: line, end: line, weight: mark.weight, reason: mark.reason });
      if (text.includes('TEST-UNEXPECTED-')) addTest(log, line, text, found, seen);
      else found.messages.push({ text: text.trim().slice(0, 500), at: { source: log.name, line }, weight: mark.weight });
    }
  },
};

function addTest(log: LogText, line: number, text: string, found: Extraction, seen: Set<string>): void {
  const [, path = '', ...rest] = text.slice(text.indexOf('TEST-UNEXPECTED-')).split(' | ');
  if (path === '' || seen.has(path)) return;
  seen.add(path);
  found.failingTests.push(
    failingTest(log, line, 'harness', {
      name: path.trim(),
      file: /^[\w./-]{1,300}\.\w{1,6}$/.test(path) ? path : null,
      message: rest.join(' | ').slice(0, 500) || null,
    }),
  );
}
