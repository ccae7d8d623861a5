import type { SourceKind, SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';
import { isLineReport, isReport, isStray } from '../reports/report.ts';
import {
  type Allowance,
  createAllowance,
  createRefusedError,
  listMembers,
  type Member,
  makeSafePath,
  mayBeRead,
  type PlannedText,
  planTexts,
} from './archive-members.ts';
import { decodePlain, decompress, detectFileType, formatSize } from './decode.ts';

/** The limits on what an upload or file may hold once it is unpacked. */
export interface ArchiveLimits {
  /** The limit on all texts together, in bytes. */
  readonly maxBytes: number;
  /** The limit on the entries of all nested archives together; 2,000 by default. */
  readonly maxEntries?: number;
  /** Leaves out, with an error, what is neither a log nor a known report, such as a web page. */
  readonly onlySources?: boolean;
}

/** The state of one call that unpacks an archive and the archives in it. */
interface Unpacking {
  readonly kind: SourceKind;
  readonly allowance: Allowance;
  /** The number of bytes of text that may still be unpacked. */
  room: number;
  readonly maxBytes: number;
  readonly notes: string[];
}

const MAX_ENTRIES = 2_000;
const MAX_DEPTH = 3;
const MAX_NAMED = 5;

/**
 * Returns the logs and reports of a file: one if it is a log or report, plain or compressed; if it is a zip
 * or tar archive, one for each log or report in it, including archives in archives to a depth of three. The
 * content decides between log and report, or `kind` if the content does not. A source in an archive is named
 * by the archive and its path, `build.zip/1_build.txt`. Files that are not text are left out with a note on
 * the first source. Throws TriageError: 'too-large' above the limits or for a bomb, 'invalid-input' for a
 * broken file, 'unsupported-type' if nothing in it is text.
 */
export async function decodeSources(
  name: string,
  bytes: Uint8Array,
  kind: SourceKind,
  limits: ArchiveLimits,
): Promise<SourceText[]> {
  const { maxBytes } = limits;
  const allowance = createAllowance(maxBytes * 2, limits.maxEntries ?? MAX_ENTRIES);
  const unpacking: Unpacking = { kind, allowance, room: maxBytes, maxBytes, notes: [] };
  const before: string[] = [];
  const plain = decompress(name, bytes, limits, before);
  if (!isArchive(plain))
    return [determineKind(decodePlain(name, plain, kind, limits, before), limits.onlySources ?? false)];
  append(unpacking.notes, before);
  const sources = await unpack(unpacking, name, plain, 1);
  const [first, ...rest] = sources;
  if (first === undefined) {
    const why = [
      `${name} is a ${detectFileType(plain).kind} archive with no log or report in it.`,
      ...unpacking.notes.slice(0, MAX_NAMED),
    ];
    throw new TriageError('unsupported-type', why.join(' '));
  }
  return [{ ...first, notes: [...first.notes, ...unpacking.notes] }, ...rest];
}

async function unpack(
  unpacking: Unpacking,
  name: string,
  bytes: Uint8Array,
  depth: number,
): Promise<SourceText[]> {
  const { allowance, notes } = unpacking;
  const members = await listMembers(
    name,
    bytes,
    detectFileType(bytes).kind === 'zip' ? 'zip' : 'tar',
    allowance,
    notes,
  );
  const byPath = new Map(members.map((member) => [member.path, member]));
  const plan = planTexts([...byPath.keys()]);
  const sources: SourceText[] = [];
  const left: TriageError[] = [];
  for (const text of plan) {
    try {
      append(sources, await readPlanned(unpacking, name, byPath, text, depth));
    } catch (error) {
      if (!(error instanceof TriageError) || error.code === 'too-large') throw error;
      left.push(error);
    }
  }
  if (sources.length === 0 && depth === 1 && left[0]?.code === 'invalid-input') throw left[0];
  append(
    notes,
    left.slice(0, MAX_NAMED).map(({ message }) => `Skipped: ${message}`),
  );
  const unread = members.filter(({ path }) => !mayBeRead(path)).length;
  const more = Math.max(0, left.length - MAX_NAMED) + unread;
  if (more > 0)
    notes.push(
      `${more} ${more === 1 ? 'file' : 'files'} of ${name} ` +
        `that ${more === 1 ? 'is not a log or report was' : 'are not logs or reports were'} skipped.`,
    );
  return sources;
}

async function readPlanned(
  unpacking: Unpacking,
  archive: string,
  byPath: ReadonlyMap<string, Member>,
  planned: PlannedText,
  depth: number,
): Promise<SourceText[]> {
  const name = `${archive}/${makeSafePath(planned.path)}`;
  const texts: SourceText[] = [];
  for (const path of planned.parts) {
    const bytes = await byPath.get(path)?.read();
    if (bytes !== undefined)
      append(texts, await readMember(unpacking, `${archive}/${makeSafePath(path)}`, bytes, depth));
  }
  if (planned.parts.length > 1) return [joinSteps(name, texts, planned.steps)];
  return planned.steps.length === 0
    ? texts
    : texts.map((text) => ({ ...text, notes: [...text.notes, formatStepsNote(name, planned.steps)] }));
}

async function readMember(
  unpacking: Unpacking,
  name: string,
  bytes: Uint8Array,
  depth: number,
): Promise<SourceText[]> {
  const notes: string[] = [];
  const { allowance, kind, maxBytes } = unpacking;
  const plain = decompress(name, bytes, { maxBytes: allowance.room }, notes);
  if (plain !== bytes) allowance.takeBytes(name, plain.length);
  if (isArchive(plain)) {
    if (depth < MAX_DEPTH) return unpack(unpacking, name, plain, depth + 1);
    throw new TriageError(
      'unsupported-type',
      `${name} is an archive in more than ${MAX_DEPTH - 1} others, which is not opened.`,
    );
  }
  if (plain.length > unpacking.room)
    throw createRefusedError(
      name,
      `with it, all texts together would be larger than the limit of ${formatSize(maxBytes)}`,
    );
  const source = determineKind(decodePlain(name, plain, kind, { maxBytes }, notes), true);
  unpacking.room -= plain.length;
  return [source];
}

/**
 * Determines the kind of a text by its content, or by `kind` if the content does not decide. Throws
 * TriageError 'unsupported-type' if only sources are wanted and the text is neither a log nor a report.
 */
function determineKind(source: SourceText, onlySources: boolean): SourceText {
  if (isReport(source.text) || (source.kind === 'report' && isLineReport(source.text)))
    return { ...source, kind: 'report' };
  if (!onlySources) return source;
  if (isStray(source.name, source.text)) {
    throw new TriageError(
      'unsupported-type',
      `${source.name} is neither a log nor a test report that can be read.`,
    );
  }
  // A web server's log next to the reports is a log.
  return { ...source, kind: 'log' };
}

function joinSteps(name: string, texts: readonly SourceText[], steps: readonly string[]): SourceText {
  const text = texts
    .map((part) => (part.text === '' || part.text.endsWith('\n') ? part.text : `${part.text}\n`))
    .join('');
  const notes = texts.flatMap((part) => part.notes).slice(0, 20);
  return {
    name,
    kind: 'log',
    text,
    notes: [...notes, `${name} is joined from the files of its steps.`, formatStepsNote(name, steps)],
  };
}

function formatStepsNote(name: string, steps: readonly string[]): string {
  return `${name} has the steps ${steps.map((step) => `"${step}"`).join(', ')}.`.slice(0, 2_000);
}

function isArchive(bytes: Uint8Array): boolean {
  const { kind } = detectFileType(bytes);
  return kind === 'zip' || kind === 'tar';
}
