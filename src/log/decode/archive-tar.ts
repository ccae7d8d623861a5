import { Parser, type ReadEntry } from 'tar';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { Allowance } from './archive-limits.ts';
import type { Member } from './archive-zip.ts';

const FILES: ReadonlySet<string> = new Set(['File', 'OldFile', 'ContiguousFile']);
/** Of one header for a long name or other attributes. */
const MAX_META_BYTES = 64 * 1024;
const BLOCK = 512;

/**
 * Lists the files of a tar archive; links, devices and folders are left out, and no name is ever used as a path. An archive that was cut off
 * gives what came before, with a note. Throws `too-large` for too many entries, `invalid-input` for what is no tar at all.
 */
export function listTar(what: string, archive: Uint8Array, allowance: Allowance, notes: string[]): Member[] {
  const members: Member[] = [];
  const warnings: string[] = [];
  const parser = new Parser({
    maxMetaEntrySize: MAX_META_BYTES,
    onwarn: (_code, message) => warnings.push(messageOf(message)),
    onReadEntry: (entry) => {
      allowance.takeEntries(what, 1);
      if (FILES.has(entry.type)) members.push(collect(entry));
      else entry.resume();
    },
  });
  try {
    // In memory and flowing, all of it is read before this returns.
    parser.end(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength));
  } catch (error) {
    if (error instanceof TriageError) throw error;
    warnings.push(messageOf(error));
  }
  // Every header and content fills whole blocks; a header that was cut off is passed over in silence.
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
