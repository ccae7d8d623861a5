import type { SourceText } from '../../domain/build.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';
import {
  type Allowance,
  createAllowance,
  listMembers,
  type Member,
  makeSafePath,
} from '../decode/archive-members.ts';
import { decodePlain, decompress, detectFileType, formatSize } from '../decode/decode.ts';
import { isReport } from '../reports/report.ts';
import { redrawPng } from './png.ts';
import { readFileName } from './references.ts';

/** The remaining room for a build's artifacts. It shrinks as they are opened. */
export interface ArtifactRoom {
  /** The number of files that may still be listed, with or without their text. */
  files: number;
  /** The number of bytes of text that may still be kept. */
  bytes: number;
  /** The number of pictures that may still be kept. */
  pictures: number;
  /** The limit on one text, in bytes. */
  readonly maxBytesEach: number;
}

/** Creates the room for the artifacts of one build: 300 files, 16 MB each, 48 MB in all, and 20 pictures. */
export function createArtifactRoom(maxBytes = Number.POSITIVE_INFINITY): ArtifactRoom {
  const bytes = Math.min(maxBytes, 48 * 1024 * 1024);
  return { files: 300, bytes, pictures: 20, maxBytesEach: 16 * 1024 * 1024 };
}

/**
 * Files to which programs write details. They are kept even in a folder that is otherwise skipped, because a
 * log may refer to them.
 */
const MAY_BE_REFERRED_TO = /\.(?:log|txt|out|err)$/i;
const MAX_DEPTH = 3;
const MAX_ENTRIES = 5_000;
const MAX_PICTURE_NAME = 300;
/** The maximum number of bytes that are decompressed, kept or not, so that a decompression bomb ends here. */
const MAX_UNPACKED = 256 * 1024 * 1024;

interface Opening {
  readonly room: ArtifactRoom;
  readonly allowance: Allowance;
  readonly notes: string[];
}

/**
 * Returns the files of one artifact; for an archive, one for each member, named after both. Test reports
 * become reports of the build, and all other texts are artifacts. A file that is not text, is too large, or
 * is of no use judging by its name is listed without its text, with a note that says why. Throws TriageError
 * for a broken archive or a decompression bomb; an archive in an archive only gets a note.
 */
export async function openArtifact(
  name: string,
  bytes: Uint8Array,
  room: ArtifactRoom,
): Promise<SourceText[]> {
  const opening: Opening = { room, allowance: createAllowance(MAX_UNPACKED, MAX_ENTRIES), notes: [] };
  const files = await open(opening, name, bytes, 0);
  const [first, ...rest] = files;
  if (opening.notes.length === 0 || first === undefined) return files;
  return [{ ...first, notes: [...first.notes, ...opening.notes.slice(0, 5)] }, ...rest];
}

/** Creates a file of which only the name is kept, with the reason. */
export function createNameOnly(name: string, why: string): SourceText {
  return { name, kind: 'artifact', text: '', notes: [`not kept: ${why}`] };
}

async function open(opening: Opening, name: string, bytes: Uint8Array, depth: number): Promise<SourceText[]> {
  const { room, allowance } = opening;
  const plain = decompress(name, bytes, { maxBytes: allowance.room }, []);
  const { kind } = detectFileType(plain);
  if (kind !== 'zip' && kind !== 'tar') return [keep(room, name.replace(/\.(?:gz|zst)$/i, ''), plain)];
  if (depth === MAX_DEPTH) return [createNameOnly(name, 'an archive inside too many others')];
  return await openMembers(
    opening,
    name,
    await listMembers(name, plain, kind, allowance, opening.notes),
    depth,
  );
}

async function openMembers(
  opening: Opening,
  archive: string,
  members: readonly Member[],
  depth: number,
): Promise<SourceText[]> {
  const files: SourceText[] = [];
  // Files of which the text may be kept come first, so that names of pictures do not use up the room.
  for (const { path, read } of [...members].sort(
    (left, right) => computeRank(left.path) - computeRank(right.path),
  )) {
    if (opening.room.files <= 0) {
      opening.notes.push(`More files of ${archive} were not looked at: a build may have so many.`);
      break;
    }
    opening.room.files -= 1;
    const name = `${archive}/${makeSafePath(path)}`;
    const named = readFileName(name);
    if (isPicture(name) && opening.room.pictures > 0) files.push(await openPicture(opening.room, name, read));
    else if (named?.grade === 'skip' && !MAY_BE_REFERRED_TO.test(name))
      files.push(createNameOnly(name, named.reason));
    else append(files, await openMember(opening, name, read, depth));
  }
  return files;
}

async function openMember(
  opening: Opening,
  name: string,
  read: Member['read'],
  depth: number,
): Promise<SourceText[]> {
  try {
    return await open(opening, name, await read(), depth + 1);
  } catch (error) {
    if (!(error instanceof TriageError)) throw error;
    return [createNameOnly(name, getErrorMessage(error))];
  }
}

/** Names of pictures of failed tests. Other pictures, such as icons of a web site, are no evidence. */
const TEST_PICTURE = new RegExp(
  '(?:^|[/_.-])(?:screen-?shots?|test-?results?|failed|actual|expected|diff|snapshots?|e2e|cypress|' +
    'playwright)(?:[/_.-]|$)',
  'i',
);

function isPicture(name: string): boolean {
  return /\.png$/i.test(name) && TEST_PICTURE.test(name.slice(-MAX_PICTURE_NAME));
}

/** Encodes a picture again. A picture that cannot be encoded is listed with the reason. */
async function openPicture(room: ArtifactRoom, name: string, read: Member['read']): Promise<SourceText> {
  try {
    const picture = await redrawPng(await read());
    room.pictures -= 1;
    return { name, kind: 'artifact', text: '', notes: ['a picture'], picture };
  } catch (error) {
    if (!(error instanceof TriageError)) throw error;
    return createNameOnly(name, getErrorMessage(error));
  }
}

function computeRank(path: string): number {
  const grade = readFileName(path)?.grade;
  if (grade === 'relevant') return 0;
  return grade === 'skip' ? 2 : 1;
}

function keep(room: ArtifactRoom, name: string, bytes: Uint8Array): SourceText {
  const type = detectFileType(bytes);
  if (type.kind === 'binary') return createNameOnly(name, type.what);
  const limit = Math.min(room.maxBytesEach, room.bytes);
  if (bytes.length > limit)
    return createNameOnly(
      name,
      `it has ${formatSize(bytes.length)}, and ${formatSize(Math.max(0, limit))} may be kept`,
    );
  room.bytes -= bytes.length;
  const source = decodePlain(name, bytes, 'artifact', { maxBytes: limit });
  return isReport(source.text) ? { ...source, kind: 'report' } : source;
}
