import { type FileHandle, open } from 'node:fs/promises';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { Recording } from '../../domain/recording.ts';

/** Where recordings are written, one JSON object a line. */
export interface RecordingsFile {
  /** Writes it whole, behind those that were given before. Throws where the disk takes no more. */
  add(recording: Recording): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file anew, or behind what is there. Throws `not-found` where it cannot be written. */
export async function openRecordingsFile(path: string, behind = false): Promise<RecordingsFile> {
  const file = await open(path, behind ? 'a+' : 'w').catch((cause: unknown) => {
    throw new TriageError('not-found', `Recordings cannot be written to ${path}: ${messageOf(cause)}.`, { cause });
  });
  if (behind && !(await endsLine(file))) await file.appendFile('\n');
  let writing: Promise<void> = Promise.resolve();
  return {
    add: (recording) => {
      writing = writing.then(() => file.appendFile(`${JSON.stringify(recording)}\n`));
      return writing;
    },
    close: async () => {
      await writing.catch(() => undefined);
      await file.close();
    },
  };
}

/** What a process that died left may end in the middle of a line. */
async function endsLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === 0x0a;
}
