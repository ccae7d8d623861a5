import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SourceText, TestResult } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { decodeSources } from '../../log/decode/archive.ts';
import type { Masker } from '../../log/mask/mask.ts';
import { parseReport } from '../../log/reports/report.ts';
import { artifactRoom, openArtifact } from '../../log/survey/open-artifact.ts';
import { shown, storable } from '../../providers/read-input.ts';
import type { UploadedFile } from './upload-shape.ts';

export interface PreparedSources {
  /** Decoded and masked. */
  readonly sources: readonly SourceText[];
  /** From the reports; every name as it may be stored. */
  readonly testResults: readonly TestResult[];
}

/**
 * Decodes and masks uploaded files, opens archives, and reads the reports, before anything is stored. One file that cannot be read loses none
 * of the others: it is left out, or kept as far as it goes, and a note on the first source says so. Throws TriageError where all together
 * are larger than `maxBytes` once decompressed, and, for the first file that was the matter, where nothing of them could be read.
 */
export async function prepareSources(
  files: readonly UploadedFile[],
  maxBytes: number,
  masker: Masker,
  decode: Decode = decodeSources,
): Promise<PreparedSources> {
  const decoded: SourceText[] = [];
  const refused: TriageError[] = [];
  const taken = new Set<string>();
  let left = maxBytes;
  const room = artifactRoom(maxBytes);
  for (const file of files) {
    const opened = await open(file).catch((error: unknown) => {
      if (!(error instanceof TriageError) || error.code === 'too-large') throw error;
      refused.push(error);
      return [];
    });
    for (const source of opened) {
      left -= await bytesOf(source.text);
      decoded.push({ ...source, name: distinctName(source.name, taken) });
    }
  }
  // All at once: what is secret in one file is hidden in every other.
  const masked = await masker.maskAll(decoded.map(({ text }) => text));
  const sources = decoded.map((source, at) => ({ ...source, text: masked[at]?.text ?? '' }));
  const reports = sources.filter(({ kind }) => kind === 'report').map(({ name, text }) => parseReport(name, text));
  const testResults = reports.flatMap((report) => report.testResults.map(storableResult));
  const isLogged = sources.some(({ kind, text }) => kind !== 'report' && text.trim() !== '');
  // What was sent alone and cannot be read is the sender's to mend.
  if (!isLogged && testResults.length === 0) {
    const broken = refused[0]?.message ?? reports.flatMap(({ notes }) => notes)[0];
    if (refused[0] !== undefined && sources.length === 0) throw refused[0];
    if (broken !== undefined) throw new TriageError('invalid-input', broken);
  }
  const [first, ...rest] = sources;
  const notes = refused.map(({ message }) => `Skipped: ${message}`);
  return { sources: first === undefined ? [] : [{ ...first, notes: [...first.notes, ...notes] }, ...rest], testResults };

  async function open({ name, bytes, kind }: UploadedFile): Promise<SourceText[]> {
    if (kind === 'artifact') return openArtifact(name, bytes, room);
    return decode(name, bytes, kind, { maxBytes: Math.max(1, left) });
  }
}

/** As `decodeSources`; elsewhere where it takes long. */
export type Decode = (...how: Parameters<typeof decodeSources>) => Promise<SourceText[]>;

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
  const base = shown(name).slice(0, 500);
  let distinct = base;
  for (let count = 2; taken.has(distinct); count++) distinct = `${base} (${count})`;
  taken.add(distinct);
  return distinct;
}

/** A failed build must bring something to read. Throws `invalid-input`. */
export function requireSomethingToRead({ sources, testResults }: PreparedSources): void {
  if (testResults.length > 0 || sources.some((source) => source.text.trim() !== '')) return;
  const names = sources.map((source) => source.name).join(', ');
  const what = names === '' ? 'The upload has no log or report' : `No content in ${names}: empty`;
  throw new TriageError('invalid-input', `${what}. A failed build needs at least one log with text, or one report with tests.`);
}

function storableResult(result: TestResult): TestResult {
  return {
    ...result,
    name: storable(result.name),
    suite: result.suite === null ? null : storable(result.suite),
    file: result.file === null ? null : storable(result.file),
    ...(result.runner !== undefined && { runner: storable(result.runner) }),
  };
}
