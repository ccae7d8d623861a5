import type { FailingTest } from '../../../../src/domain/failure.ts';
import { readSources } from '../../../../src/log/read-sources.ts';

/** How far a log written in a test of this folder is indented. */
const INDENT = /^ {6}/;

/** The failing tests that a log tells of. A text that begins with a line end is indented by six spaces, which are left out. */
export function readTests(text: string): readonly FailingTest[] {
  const lines = text.startsWith('\n') ? text.split('\n').map((line) => line.replace(INDENT, '')) : [text];
  return readSources([{ name: 'build.log', kind: 'log', text: lines.join('\n'), notes: [] }], {
    budgetTokens: 2_000,
  }).failingTests;
}
