import { Parser, type ReadEntry } from 'tar';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';

/** The limits on decompressed bytes and entries that all nested archives share. */
export type Allowance = ReturnType<typeof createAllowance>;

/** Creates limits on the decompressed bytes and entries of nested archives. */
export function createAllowance(maxBytes: number, maxEntries: number) {
  let bytesLeft = maxBytes;
  let entriesLeft = maxEntries;
  /** Throws 'too-large' if this many more bytes would exceed the limit. Does not count them. */
  const checkRoom = (what: string, bytes: number): void => {
    if (bytes > bytesLeft) throw createRefusedError(what, 'its contents are larger than the limit');
  };
  return {
    /** Counts entries. Throws 'too-large' if an archive has more entries than may still be listed. */
    takeEntries(what: string, entries: number): void {
      if (entries > entriesLeft)
        throw createRefusedError(
          what,
          `it has ${entries} entries, ${entriesLeft} are allowed. Give a part of it`,
        );
      entriesLeft -= entries;
    },
    checkRoom,
    /** Counts decompressed bytes. Throws 'too-large' if there are too many. */
    takeBytes(what: string, bytes: number): void {
      checkRoom(what, bytes);
      bytesLeft -= bytes;
    },
    /** Returns the number of decompressed bytes that are still allowed. */
    get room(): number {
      return bytesLeft;
    },
  };
}

/** Creates the error for an archive that exceeds its limits. */
export function createRefusedError(what: string, why: string): TriageError {
  return new TriageError('too-large', `${what} is refused: ${why}.`);
}

/** The text to read from an archive: that of one file, or of the files of a job's steps in order. */
export interface PlannedText {
  /** The path of the file in the archive, or the path of the folder for steps. */
  readonly path: string;
  readonly parts: readonly string[];
  /** The names of a job's steps, if the archive names them. */
  readonly steps: readonly string[];
}

const SKIPPED_FOLDERS = new Set(['.git', 'node_modules', '__MACOSX', '.svn', '__pycache__']);
/**
 * Endings that CI systems use for logs, reports and their archives. A file without an ending may be a log.
 */
const ENDINGS = new RegExp(
  String.raw`\.(?:log|txt|out|err|stdout|stderr|text|console|xml|trx|tap|json|jsonl|ndjson|sarif|` +
    String.raw`ctrf|gz|tgz|zst|tzst|zip|tar|\d{1,3})$|(?:^|/)[^./]{1,100}$`,
  'i',
);
const STEP = /^(?:(?<folder>.*)\/)?(?<number>-?\d{1,5})_(?<name>[^/]{1,300})\.txt$/;

const NUMERIC = new Intl.Collator('en', { numeric: true });

/** Checks whether a file's name allows it to hold a log, a report, or an archive of them. */
export function mayBeRead(path: string): boolean {
  const parts = path.split(/[/\\]/);
  return (
    ENDINGS.test(path) && !parts.some((part) => SKIPPED_FOLDERS.has(part)) && !parts.at(-1)?.startsWith('._')
  );
}

/**
 * Chooses which files of an archive or folder are read, in the order of their names. GitHub's log archives
 * contain each job's log as a whole, `0_build.txt`, and again step by step, `build/3_Run tests.txt`. The
 * whole log is read once, and the steps only if it is missing.
 */
export function planTexts(paths: readonly string[]): PlannedText[] {
  const sorted = [...new Set(paths)].filter(mayBeRead).sort(NUMERIC.compare);
  const jobs = new Map(sorted.flatMap((path) => mapWholeJob(path)));
  const stepsOf = Map.groupBy(
    sorted.filter((path) => STEP.exec(path)?.groups?.folder !== undefined),
    (path) => getFolder(path),
  );
  const plan: PlannedText[] = [];
  for (const path of sorted) {
    const folder = getFolder(path);
    const steps = stepsOf.get(folder) ?? [];
    const isSystem = path === `${folder}/system.txt` && steps.length > 0;
    if (jobs.has(folder) && (steps.includes(path) || isSystem)) continue;
    if (!steps.includes(path) || steps.length < 2 || !isJobFolder(steps)) {
      if (!isSystem)
        plan.push({
          path,
          parts: [path],
          steps: extractStepNames(stepsOf.get(getJobFolder(path, jobs)) ?? []),
        });
    } else if (path === steps[0])
      plan.push({ path: `${folder}.txt`, parts: steps, steps: extractStepNames(steps) });
  }
  return plan;
}

/**
 * Makes a path safe to show to people: no part leads to a parent folder, and nothing in it moves a cursor.
 */
export function makeSafePath(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== '' && part !== '.' && part !== '..');
  return (
    parts
      .join('/')
      .replace(/[\0-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
      .slice(0, 300) || '(unnamed)'
  );
}

/**
 * Maps a file such as `logs/0_build.txt` to the folder of its job's steps, `logs/build/`: the file is the
 * whole log of these steps.
 */
function mapWholeJob(path: string): [string, string][] {
  const groups = STEP.exec(path)?.groups;
  if (groups === undefined) return [];
  return [[groups.folder === undefined ? (groups.name ?? '') : `${groups.folder}/${groups.name}`, path]];
}

function getJobFolder(path: string, jobs: ReadonlyMap<string, string>): string {
  const [job] = mapWholeJob(path);
  return job !== undefined && jobs.get(job[0]) === path ? job[0] : '';
}

/** Checks whether the step numbers are unique and the first step is the job's own preparation. */
function isJobFolder(steps: readonly string[]): boolean {
  const numbers = steps.map((path) => Number(STEP.exec(path)?.groups?.number));
  return new Set(numbers).size === numbers.length && /\/1_Set up job\.txt$/.test(steps[0] ?? '');
}

function extractStepNames(steps: readonly string[]): string[] {
  return steps.map((path) => STEP.exec(path)?.groups?.name ?? path);
}

function getFolder(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** A file in an archive. */
export interface Member {
  readonly path: string;
  /** Throws TriageError if the file is broken, encrypted, or above the limits. */
  readonly read: () => Promise<Uint8Array>;
}

/**
 * The size in bytes above which a high compression ratio counts as a bomb. Small files of one repeated line
 * compress that well, too.
 */
const RATIO_FROM_BYTES = 1024 * 1024;
const MAX_RATIO = 100;

/** Lists the files of an archive, as {@link listZip} and {@link listTar} do. */
export async function listMembers(
  what: string,
  archive: Uint8Array,
  kind: 'zip' | 'tar',
  allowance: Allowance,
  notes: string[],
): Promise<Member[]> {
  return kind === 'zip' ? await listZip(what, archive, allowance) : listTar(what, archive, allowance, notes);
}

/**
 * Lists the files of a zip archive. A file is decompressed into memory when its `read` is called; nothing is
 * written to disk. Throws `too-large` for too many entries, and `invalid-input` for a broken archive or a
 * path that leaves it.
 */
export async function listZip(what: string, archive: Uint8Array, allowance: Allowance): Promise<Member[]> {
  try {
    const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
    const zip = await fromBufferPromise(bytes, { validateEntrySizes: true, autoClose: false });
    allowance.takeEntries(what, zip.entryCount);
    const members: Member[] = [];
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith('/'))
        members.push({ path: entry.fileName, read: () => readEntry(what, zip, entry, allowance) });
    }
    return members;
  } catch (error) {
    throw toTriageError(`${what} is not a usable zip archive`, error);
  }
}

/**
 * Reads one entry of a zip archive. The declared size is checked first; the decompressed bytes are counted as
 * well.
 */
async function readEntry(
  what: string,
  zip: ZipFile,
  entry: Entry,
  allowance: Allowance,
): Promise<Uint8Array> {
  const { uncompressedSize, compressedSize } = entry;
  const path = makeSafePath(entry.fileName);
  if (entry.isEncrypted())
    throw new TriageError('invalid-input', `${what} is encrypted: "${path}" cannot be read.`);
  allowance.checkRoom(what, uncompressedSize);
  if (uncompressedSize > RATIO_FROM_BYTES && uncompressedSize > compressedSize * MAX_RATIO) {
    throw createRefusedError(
      what,
      `"${path}" grows more than ${MAX_RATIO} times when it is decompressed. ` +
        'If you trust it, unpack it first',
    );
  }
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      allowance.takeBytes(what, chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    throw toTriageError(`"${path}" in ${what} is damaged`, error);
  }
  return Buffer.concat(chunks);
}

function toTriageError(what: string, error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  return new TriageError('invalid-input', `${what}: ${getErrorMessage(error).replace(/\.$/, '')}.`, {
    cause: error,
  });
}

const FILES: ReadonlySet<string> = new Set(['File', 'OldFile', 'ContiguousFile']);
/** Size limit in bytes of one header for a long name or other attributes. */
const MAX_META_BYTES = 64 * 1024;
const BLOCK = 512;

/**
 * Lists the files of a tar archive. Links, devices and folders are left out, and no name is ever used as a
 * path. A truncated archive returns the files before its end, with a note. Throws `too-large` for too many
 * entries, and `invalid-input` for anything that is not a tar archive.
 */
function listTar(what: string, archive: Uint8Array, allowance: Allowance, notes: string[]): Member[] {
  const members: Member[] = [];
  const warnings: string[] = [];
  const parser = new Parser({
    maxMetaEntrySize: MAX_META_BYTES,
    onwarn: (_code, message) => warnings.push(getErrorMessage(message)),
    onReadEntry: (entry) => {
      allowance.takeEntries(what, 1);
      if (FILES.has(entry.type)) members.push(collect(entry));
      else entry.resume();
    },
  });
  try {
    // From memory, the parser has read all of it when this call returns.
    parser.end(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength));
  } catch (error) {
    if (error instanceof TriageError) throw error;
    warnings.push(getErrorMessage(error));
  }
  // A tar archive consists of whole blocks. The parser ignores a header that is cut off, so the length is
  // checked here.
  if (archive.length % BLOCK !== 0) warnings.push('its end is missing');
  if (warnings.length === 0) return members;
  if (members.length > 0) notes.push(`${what} is a damaged tar archive: ${warnings[0]}.`);
  else throw new TriageError('invalid-input', `${what} is not a usable tar archive: ${warnings[0]}.`);
  return members;
}

function collect(entry: ReadEntry): Member {
  const chunks: Buffer[] = [];
  entry.on('data', (chunk) => chunks.push(chunk));
  return { path: entry.path, read: () => Promise.resolve(Buffer.concat(chunks)) };
}
