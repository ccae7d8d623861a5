import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Section } from '../../../src/domain/failure.ts';
import { readSources } from '../../../src/log/read-sources.ts';

/** The failed sections of a log of these lines. */
export function sectionsOf(lines: readonly string[], name = 'log.txt'): readonly Section[] {
  return readSources([{ name, kind: 'log', text: lines.join('\n'), notes: [] }], { budgetTokens: 2_000 }).failedSections;
}

/** The lines of a log that a CI system's own program wrote; see scripts/capture/ci-systems.sh. */
export function capturedLog(name: string): readonly string[] {
  return readFileSync(join(import.meta.dirname, 'captured', name), 'utf8').split('\n');
}
