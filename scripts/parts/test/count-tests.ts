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
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

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
    const names = assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => fullName);
    if (names.length === 0 && message !== '') names.push(message.split('\n')[0] ?? '');
    for (const test of names) console.error(`failed: ${relative(process.cwd(), name)} > ${test}`);
  }
}
if (skipped > 0) console.error(`${skipped} tests were skipped; nothing may be skipped`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(complete && failed === 0 && skipped === 0 && passed > 0 ? 0 : 1);
