import type { Reading } from '../../../../src/domain/reading.ts';
import { readSources } from '../../../../src/log/read-sources.ts';

/** What a log of these lines says. */
export function readLines(...lines: readonly string[]): Reading {
  return readSources([{ name: 'build.log', kind: 'log', text: lines.join('\n'), notes: [] }], {
    budgetTokens: 2_000,
  });
}
