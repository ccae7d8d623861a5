import { expect, it } from 'vitest';
import type { TestResult } from '../../../src/domain/build.ts';
import { readCauses } from '../../../src/log/causes/read-causes.ts';
import { boundResults } from '../../../src/log/reports/bound-results.ts';
import { readResults } from '../../../src/log/reports/report.ts';

const result = (name: string, status: TestResult['status']): TestResult => ({
  name,
  suite: null,
  file: null,
  status,
  durationMs: null,
});

it('5,000 results of failed tests and 45,000 others are kept, and the rest are counted', () => {
  const failed = Array.from({ length: 6_000 }, (_, at) => result(`f${at}`, 'failed'));
  const passed = Array.from({ length: 46_000 }, (_, at) => result(`p${at}`, 'passed'));
  const { kept, note } = boundResults([...passed, ...failed]);
  expect(kept.filter(({ status }) => status === 'failed')).toEqual(failed.slice(0, 5_000));
  expect(kept).toHaveLength(50_000);
  expect(note).toMatch(/^2,000 test results of 52000 \(6000 failed\) are only counted/);
  expect(boundResults(failed.slice(0, 10))).toEqual({ kept: failed.slice(0, 10), note: null });
});

it('a shortened report is marked, and a few hundred failures are distinguished', { timeout: 60_000 }, () => {
  const cases = Array.from(
    { length: 8_000 },
    (_, at) => `<testcase name="case ${at}"><failure message="expected ${at}"/></testcase>`,
  );
  const text = `<testsuite name="all">${cases.join('\n')}</testsuite>`;
  const { testResults, notes } = readResults('r.xml', text);
  expect(testResults).toHaveLength(5_000);
  expect(notes.join('\n')).toMatch(/8000 tests failed\. 500 of them[\s\S]*3,000 test results of 8000/);
  const { reading, causes } = readCauses([{ name: 'r.xml', kind: 'report', text, notes: [] }], {
    budgetTokens: 2_000,
    maskedSecrets: 0,
  });
  expect(reading.testResults).toHaveLength(5_000);
  expect(causes.flatMap(({ failures }) => failures).length).toBeLessThanOrEqual(500);
});
