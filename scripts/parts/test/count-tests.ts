import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { z } from 'zod';

/**
 * Adds up the reports of the test runner and prints a summary. Fails if a report is missing, or if a test
 * failed or was skipped.
 */
const Report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
});

/** Lines of a failure's message that are shown below the name of the test. */
const LINES = 12;

let passed = 0;
let failed = 0;
let skipped = 0;
let complete = true;
for (const file of process.argv.slice(2)) {
  if (!existsSync(file)) {
    complete = false;
    continue;
  }
  const report = Report.parse(JSON.parse(readFileSync(file, 'utf8')));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  skipped += report.numPendingTests;
  complete &&= report.success;
  for (const { name, message, assertionResults } of report.testResults) {
    const failures = assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({ test: fullName, why: failureMessages.join('\n') }));
    if (failures.length === 0 && message !== '') failures.push({ test: 'the file', why: message });
    for (const { test, why } of failures)
      console.error(`failed: ${relative(process.cwd(), name)} > ${test}\n${shorten(why)}`);
  }
}
if (skipped > 0) console.error(`${skipped} tests were skipped; nothing may be skipped`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(complete && failed === 0 && skipped === 0 && passed > 0 ? 0 : 1);

function shorten(message: string): string {
  return message
    .split('\n')
    .filter((line) => !/^ +at .*(?:node_modules|node:|<anonymous>)/.test(line))
    .slice(0, LINES)
    .map((line) => `  ${line.slice(0, 400)}`)
    .join('\n');
}
