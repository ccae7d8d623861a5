import type { SourceText, TestResult } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { decodeSource } from '../log/decode.ts';
import type { Masker } from '../log/mask.ts';
import { parseReportStrict } from '../log/reports/report.ts';
import { storable } from './read-input.ts';
import type { UploadedFile } from './upload-shape.ts';

export interface PreparedSources {
  /** Decoded and masked. */
  readonly sources: readonly SourceText[];
  /** From the reports; every name as it may be stored. */
  readonly testResults: readonly TestResult[];
}

/**
 * Decodes and masks uploaded files and reads the reports, before anything is stored. Throws TriageError for the first file
 * that is too large once decompressed (all together may have `maxBytes`), is no text, or is no JUnit report.
 */
export async function prepareSources(files: readonly UploadedFile[], maxBytes: number, masker: Masker): Promise<PreparedSources> {
  const sources: SourceText[] = [];
  const testResults: TestResult[] = [];
  let left = maxBytes;
  for (const file of files) {
    // Zero would mean "no limit" to zlib.
    const source = decodeSource(file.name, file.bytes, file.kind, { maxBytes: Math.max(1, left) });
    left -= Buffer.byteLength(source.text);
    const { text } = await masker.mask(source.text);
    if (file.kind === 'report') testResults.push(...parseReportStrict(file.name, text).testResults.map(storableResult));
    sources.push({ ...source, text });
  }
  return { sources, testResults };
}

/** A failed build must bring something to read. Throws `invalid-input`. */
export function requireSomethingToRead({ sources, testResults }: PreparedSources): void {
  if (testResults.length > 0 || sources.some((source) => source.text.trim() !== '')) return;
  const names = sources.map((source) => source.name).join(', ');
  const what = names === '' ? 'The upload has no log and no report' : `There is nothing to read in ${names}: empty`;
  throw new TriageError('invalid-input', `${what}. A failed build needs at least one log with text, or one report with tests.`);
}

function storableResult(result: TestResult): TestResult {
  return {
    ...result,
    name: storable(result.name),
    suite: result.suite === null ? null : storable(result.suite),
    file: result.file === null ? null : storable(result.file),
  };
}
