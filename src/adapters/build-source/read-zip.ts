import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { messageOf, TriageError } from '../../domain/errors.ts';

export interface ZipLimits {
  /** Of all wanted entries together, decompressed. */
  readonly maxBytes: number;
  readonly maxEntries: number;
}

export interface ZipText {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Small files of one repeated line compress well; only above this size is a high ratio a bomb. */
const RATIO_FROM_BYTES = 1024 * 1024;
const MAX_RATIO = 100;

/**
 * Reads the wanted entries of a zip archive into memory; nothing is written to disk and nested archives stay closed.
 * Throws `too-large` for too many entries, too many bytes or a bomb's ratio, `invalid-input` for a broken or encrypted
 * archive, or one whose names leave it.
 */
export async function readZip(what: string, archive: Buffer, wanted: (name: string) => boolean, limits: ZipLimits): Promise<ZipText[]> {
  try {
    const zip = await fromBufferPromise(archive, { validateEntrySizes: true });
    return await readEntries(what, zip, wanted, limits);
  } catch (error) {
    if (error instanceof TriageError) throw error;
    throw new TriageError('invalid-input', `${what} is not a usable zip archive: ${messageOf(error)}.`, { cause: error });
  }
}

async function readEntries(what: string, zip: ZipFile, wanted: (name: string) => boolean, limits: ZipLimits): Promise<ZipText[]> {
  if (zip.entryCount > limits.maxEntries) throw refused(what, `it has ${zip.entryCount} entries, ${limits.maxEntries} are allowed`);
  const texts: ZipText[] = [];
  let left = limits.maxBytes;
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/') || !wanted(entry.fileName)) continue;
    checkEntry(what, entry, left);
    const bytes = await readEntry(what, zip, entry, left);
    left -= bytes.length;
    texts.push({ name: entry.fileName, bytes });
  }
  return texts;
}

function checkEntry(what: string, entry: Entry, left: number): void {
  const { uncompressedSize, compressedSize } = entry;
  if (entry.isEncrypted()) throw new TriageError('invalid-input', `${what} is encrypted: "${entry.fileName}" cannot be read.`);
  if (uncompressedSize > left) throw refused(what, 'its contents are larger than the limit');
  if (uncompressedSize > RATIO_FROM_BYTES && uncompressedSize > compressedSize * MAX_RATIO) {
    throw refused(what, `"${entry.fileName}" grows more than ${MAX_RATIO} times when it is decompressed`);
  }
}

/** The declared size was checked; what comes out is counted all the same. */
async function readEntry(what: string, zip: ZipFile, entry: Entry, left: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    size += chunk.length;
    if (size > left) throw refused(what, 'its contents are larger than the limit');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refused(what: string, why: string): TriageError {
  return new TriageError('too-large', `${what} is refused: ${why}.`);
}
