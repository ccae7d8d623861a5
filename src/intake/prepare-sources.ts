import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SourceText, TestResult } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { decodeSources } from '../log/decode/archive.ts';
import type { Masker } from '../log/mask/mask.ts';
import { parseReport, parseReportStrict } from '../log/reports/report.ts';
import { artifactRoom, openArtifact } from '../log/survey/open-artifact.ts';
import { storable } from './read-input.ts';
import type { UploadedFile } from './upload-shape.ts';

export interface PreparedSources {
  /** Decoded and masked. */
  readonly sources: readonly SourceText[];
  /** From the reports; every name as it may be stored. */
  readonly testResults: readonly TestResult[];
}

/**
 * Decodes and masks uploaded files, opens archives, and reads the reports, before anything is stored. What is in an archive is read as well
 * as it can be, with notes; of artifacts, what is no text or too large is kept by its name only. Throws TriageError for the first file that is
 * too large once decompressed (all together may have `maxBytes`), is no text, or is no test report although it was sent as one.
 */
export async function prepareSources(
  files: readonly UploadedFile[],
  maxBytes: number,
  masker: Masker,
  decode: Decode = decodeSources,
): Promise<PreparedSources> {
  const decoded: Decoded[] = [];
  const taken = new Set<string>();
  let left = maxBytes;
  const room = artifactRoom(maxBytes);
  for (const file of files) {
    const opened =
      file.kind === 'artifact'
        ? await openArtifact(file.name, file.bytes, room)
        : await decode(file.name, file.bytes, file.kind, { maxBytes: Math.max(1, left) });
    for (const source of opened) {
      left -= await bytesOf(source.text);
      const read = file.kind === 'report' && source.name === file.name ? parseReportStrict : parseReport;
      decoded.push({ source: { ...source, name: distinctName(source.name, taken) }, read });
    }
  }
  // All at once: what is secret in one file is hidden in every other.
  const masked = await masker.maskAll(decoded.map(({ source }) => source.text));
  const sources = decoded.map(({ source }, at) => ({ ...source, text: masked[at]?.text ?? '' }));
  const testResults = decoded.flatMap(({ read }, at) => resultsOf(sources[at], read));
  return { sources, testResults };
}

/** As `decodeSources`; elsewhere where it takes long. */
export type Decode = (...how: Parameters<typeof decodeSources>) => Promise<SourceText[]>;

interface Decoded {
  readonly source: SourceText;
  readonly read: typeof parseReport;
}

function resultsOf(source: SourceText | undefined, read: typeof parseReport): TestResult[] {
  return source?.kind === 'report' ? read(source.name, source.text).testResults.map(storableResult) : [];
}

/** Characters counted before others have their turn. */
const COUNTED_AT_ONCE = 1 << 22;

async function bytesOf(text: string): Promise<number> {
  let bytes = 0;
  for (let at = 0; at < text.length; at += COUNTED_AT_ONCE) {
    bytes += Buffer.byteLength(text.slice(at, at + COUNTED_AT_ONCE));
    if (text.length > COUNTED_AT_ONCE) await nextTurn();
  }
  return bytes;
}

/** Names of files in an archive are the sender's too: two of one name would replace each other. */
function distinctName(name: string, taken: Set<string>): string {
  const base = storable(name).slice(0, 500);
  let distinct = base;
  for (let count = 2; taken.has(distinct); count++) distinct = `${base} (${count})`;
  taken.add(distinct);
  return distinct;
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
