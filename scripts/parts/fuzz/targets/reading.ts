import assert from 'node:assert/strict';
import { Reading } from '../../../../src/domain/reading.ts';
import { readSources } from '../../../../src/log/read-sources.ts';
import { trimStoredLine } from '../../../../src/log/reduce/reduce.ts';

// What is loaded on first use, the tokenizer above all, is not counted for the first input.
fuzz(Buffer.from('error: first'));

/** A whole log: never throws, and every line it names is there and says what it is said to. */
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
