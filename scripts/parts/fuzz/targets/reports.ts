import assert from 'node:assert/strict';
import { FailingTest } from '../../../../src/domain/failure.ts';
import {
  isLineReport,
  isReport,
  isStray,
  isXmlReport,
  parseReport,
} from '../../../../src/log/reports/report.ts';

/**
 * Reads a test report of any format. It must not throw, and must return tests or the reason why there are
 * none.
 */
export function fuzz(data: Buffer): void {
  const text = data.toString('utf8').replaceAll('\0', '');
  const known = isReport(text) || isLineReport(text);
  isXmlReport(text);
  for (const name of ['a.xml', 'a.json', 'a.txt']) isStray(name, text);
  const { failingTests, testResults, diagnostics, notes } = parseReport('report', text);
  FailingTest.array().parse(failingTests);
  const lines = text.split('\n').length;
  for (const { at } of [...failingTests, ...diagnostics])
    assert(at === null || at.line <= lines, `line ${at?.line} of ${lines}`);
  assert(
    known || notes.length > 0 || testResults.length + diagnostics.length > 0,
    'nothing was read and nothing was said',
  );
}
