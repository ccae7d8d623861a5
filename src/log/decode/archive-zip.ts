import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { Allowance } from './archive-limits.ts';
import { refused } from './archive-limits.ts';
import { safePath } from './archive-plan.ts';

/** A file in an archive. */
export interface Member {
  readonly path: string;
  /** Throws TriageError for what is broken, encrypted, or above the limits. */
  readonly read: () => Promise<Uint8Array>;
}

/** Small files of one repeated line compress well; only above this size is a high ratio a bomb. */
const RATIO_FROM_BYTES = 1024 * 1024;
const MAX_RATIO = 100;

/**
 * Lists the files of a zip archive; each is read into memory when it is asked for, and nothing is written to disk. Throws `too-large` for too
 * many entries, `invalid-input` for a broken archive, or one whose names leave it.
 */
export async function listZip(what: string, archive: Uint8Array, allowance: Allowance): Promise<Member[]> {
  try {
    const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
    const zip = await fromBufferPromise(bytes, { validateEntrySizes: true, autoClose: false });
    allowance.takeEntries(what, zip.entryCount);
    const members: Member[] = [];
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith('/')) members.push({ path: entry.fileName, read: () => readEntry(what, zip, entry, allowance) });
    }
    return members;
  } catch (error) {
    throw asTriageError(`${what} is not a usable zip archive`, error);
  }
}

/** The declared size is checked; what comes out is counted all the same. */
async function readEntry(what: string, zip: ZipFile, entry: Entry, allowance: Allowance): Promise<Uint8Array> {
  const { uncompressedSize, compressedSize } = entry;
  const shown = safePath(entry.fileName);
  if (entry.isEncrypted()) throw new TriageError('invalid-input', `${what} is encrypted: "${shown}" cannot be read.`);
  allowance.checkRoom(what, uncompressedSize);
  if (uncompressedSize > RATIO_FROM_BYTES && uncompressedSize > compressedSize * MAX_RATIO) {
    throw refused(what, `"${shown}" grows more than ${MAX_RATIO} times when it is decompressed. If you trust it, unpack it first`);
  }
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      allowance.takeBytes(what, chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    throw asTriageError(`"${shown}" in ${what} is damaged`, error);
  }
  return Buffer.concat(chunks);
}

function asTriageError(what: string, error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  return new TriageError('invalid-input', `${what}: ${messageOf(error).replace(/\.$/, '')}.`, { cause: error });
}
