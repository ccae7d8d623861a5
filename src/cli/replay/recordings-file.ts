import { type FileHandle, open } from 'node:fs/promises';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { Recording } from '../../domain/recording.ts';
import { visibleLine } from '../../notifications/visible-text.ts';
import { unwritten, wholeLines } from '../../replay/run/results-file.ts';
import { EXIT, say } from '../terminal.ts';
import type { ReplayCommandOptions } from './replay-options.ts';

/** Where recordings are written, one JSON object a line. */
interface RecordingsFile {
  /** Writes it whole, behind those that were given before. Throws `storage-failed` where the disk takes no more, with the file as it was. */
  add(recording: Recording): Promise<void>;
  close(): Promise<void>;
}

/** They hold what the logs and the sources held, masked: the business of whoever wrote them. */
const OWNER_ONLY = 0o600;

/**
 * Opens the file anew, or behind the last whole line of what is there: a process that died may have left half of one. A new file is its
 * owner's alone. Throws `not-found` where it cannot be written.
 */
export async function openRecordingsFile(path: string, behind = false): Promise<RecordingsFile> {
  const file = await open(path, behind ? 'a+' : 'w', OWNER_ONLY).catch((cause: unknown) => {
    throw new TriageError('not-found', `Recordings cannot be written to ${path}: ${messageOf(cause)}.`, { cause });
  });
  // A pipe or a device has nothing to cut off.
  const isFile = (await file.stat()).isFile();
  if (behind && isFile) await file.truncate(await wholeLines(file));
  let writing: Promise<void> = Promise.resolve();
  return {
    add: (recording) => {
      writing = writing.then(() => append(file, isFile, path, `${JSON.stringify(recording)}\n`));
      return writing;
    },
    close: async () => {
      await writing.catch(() => undefined);
      await file.close();
    },
  };
}

async function append(file: FileHandle, isFile: boolean, path: string, line: string): Promise<void> {
  const { size } = await file.stat();
  try {
    await file.appendFile(line);
  } catch (cause) {
    if (isFile) await file.truncate(size).catch(() => undefined);
    throw unwritten(path, cause);
  }
}

/** Where the recordings of a replay's cases go. */
export interface KeptRecordings {
  /** Never rejects: a recording that cannot be kept is no failure of its case. The first one is said, and ends the keeping. */
  keep(recordings: readonly Recording[]): Promise<void>;
  /** Closes the file; where not all were kept, the exit code says so. */
  close(): Promise<void>;
}

/** Opens what `--record` names; null where nothing is recorded. Throws `not-found` where it cannot be written, `invalid-config` where there would be nothing to write. */
export async function keptRecordings({ record, resume, only }: ReplayCommandOptions): Promise<KeptRecordings | null> {
  if (record === undefined) return null;
  if (only === 'read') throw new TriageError('invalid-config', '--record needs answers, but --only read produces none.');
  const file = await openRecordingsFile(record, resume);
  let isWhole = true;
  return {
    keep: async (recordings) => {
      for (const recording of recordings) {
        if (!isWhole) return;
        await file.add(recording).catch((error: unknown) => {
          if (isWhole) say(visibleLine(`--record: ${messageOf(error)} The replay continues without it.`));
          isWhole = false;
        });
      }
    },
    close: async () => {
      await file.close();
      if (!isWhole) process.exitCode ??= EXIT.refused;
    },
  };
}
