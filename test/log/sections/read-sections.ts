import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Section } from '../../../src/domain/failure.ts';
import { openScanned, readCiStructure } from '../../../src/log/extract/run.ts';
import { toLogBytes } from '../../../src/log/lines/bytes.ts';
import type { Structure } from '../../../src/log/sections.ts';

/** What the marks in a log of these lines say. */
export function readStructure(lines: readonly string[], name = 'log.txt'): Structure {
  return readCiStructure(openScanned(name, toLogBytes(lines.join('\n'))));
}

/** The failed sections of a log of these lines. */
export function readSections(lines: readonly string[], name = 'log.txt'): readonly Section[] {
  return readStructure(lines, name).failedSections;
}

/** The lines of a log that a CI system's own program wrote; see scripts/parts/capture/ci-systems.sh. */
export function readCapturedLog(name: string): readonly string[] {
  return readFileSync(join(import.meta.dirname, 'captured', name), 'utf8').split('\n');
}
