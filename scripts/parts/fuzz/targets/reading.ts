import assert from 'node:assert/strict';
import { Reading } from '../../../../src/domain/reading.ts';
import { readSources } from '../../../../src/log/read-sources.ts';
import { trimStoredLine } from '../../../../src/log/reduce/reduce.ts';

// Loads what is only loaded on first use, such as the tokenizer, so that it does not count for the first
// input.
fuzz(Buffer.from('error: first'));

/**
 * Reads a whole log. It must not throw, and every line in its result must exist and contain the quoted text.
 */
export function fuzz(data: Buffer): void {
  const text = data.toString('utf8').replaceAll('\0', '');
  const lines = text.split('\n');
  const reading = Reading.parse(
    readSources([{ name: 'l', kind: 'log', text, notes: [] }], { budgetTokens: 500 }),
  );
  for (const { lineStart, lineEnd, text: shown } of reading.excerpts) {
    assert(
      lineStart <= lineEnd && lineEnd <= lines.length,
      `excerpt ${lineStart} to ${lineEnd} of ${lines.length}`,
    );
    assert.deepEqual(shown.split('\n'), lines.slice(lineStart - 1, lineEnd).map(trimStoredLine));
  }
  for (const { at } of [
    ...reading.failingTests,
    ...reading.diagnostics,
    ...reading.exceptions,
    ...reading.messages,
  ]) {
    assert(at === null || at.line <= lines.length, `line ${at?.line} of ${lines.length}`);
  }
}
