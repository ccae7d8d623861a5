import type { LogText } from '../../lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

const FILE = /^(?:\[[\d:]{5,10}\] )?(?<name>\S{1,200}\.(?:t|sh|pl)) \.{2,80}/;

/** Perl's prove and TAP::Harness: a script's failed subtests, and the summary report. */
export const prove: Extractor = {
  name: 'prove',
  literals: ['Dubious, test returned', ' subtests', 'Test Summary Report', 'Failed test', 'Result: FAIL'],
  extract: (log, lines, found) => {
    const seen = new Set<string>();
    for (const line of lines) readLine(log, line, found, seen);
  },
};

function readLine(log: LogText, line: number, found: Extraction, seen: Set<string>): void {
  const text = log.line(line);
  if (/^(?:Failed \d{1,5}\/\d{1,5} subtests|Dubious, test returned|No subtests run)/.test(text)) {
    found.blocks.push({ start: Math.max(1, line - 1), end: line, weight: 84, reason: 'failed test script' });
    const name = FILE.exec(log.line(line - 1))?.groups?.name ?? FILE.exec(log.line(line - 2))?.groups?.name;
    if (name === undefined || seen.has(name)) return;
    seen.add(name);
    found.failingTests.push(failingTest(log, line, 'prove', { name, file: name, message: text.trim() }));
  } else if (/^\s{0,8}#?\s{1,8}Failed test\b/.test(text)) {
    found.blocks.push({ start: line, end: Math.min(log.lineCount, line + 4), weight: 82, reason: 'failed test' });
  } else if (/^Test Summary Report$/.test(text)) {
    let end = line;
    while (end < Math.min(log.lineCount, line + 30) && !/^(?:Files=|Result:)/.test(log.line(end + 1))) end++;
    found.blocks.push({ start: line, end, weight: 82, reason: 'prove summary' });
  } else if (/^Result: FAIL/.test(text)) found.blocks.push({ start: line, end: line, weight: 50, reason: 'prove result' });
}
