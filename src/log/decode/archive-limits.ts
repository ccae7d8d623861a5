import { TriageError } from '../../domain/errors.ts';

/** What all archives inside one another may still use together. */
export interface Allowance {
  /** Throws 'too-large' where an archive has more entries than may still be listed. */
  takeEntries(what: string, entries: number): void;
  /** Throws 'too-large' where so many bytes would be too many, without taking them. */
  checkRoom(what: string, bytes: number): void;
  /** Counts decompressed bytes. Throws 'too-large' where there are too many. */
  takeBytes(what: string, bytes: number): void;
  /** Decompressed bytes that may still come. */
  readonly room: number;
}

/** Opens an allowance of so many decompressed bytes and entries. */
export function createAllowance(maxBytes: number, maxEntries: number): Allowance {
  let bytesLeft = maxBytes;
  let entriesLeft = maxEntries;
  const checkRoom = (what: string, bytes: number): void => {
    if (bytes > bytesLeft) throw refused(what, 'its contents are larger than the limit');
  };
  return {
    takeEntries(what, entries) {
      if (entries > entriesLeft) throw refused(what, `it has ${entries} entries, ${entriesLeft} are allowed. Give a part of it`);
      entriesLeft -= entries;
    },
    checkRoom,
    takeBytes(what, bytes) {
      checkRoom(what, bytes);
      bytesLeft -= bytes;
    },
    get room() {
      return bytesLeft;
    },
  };
}

/** The error for an archive that asks for too much. */
export function refused(what: string, why: string): TriageError {
  return new TriageError('too-large', `${what} is refused: ${why}.`);
}
