import { messageOf, TriageError } from '../../domain/errors.ts';
import type { Recording } from '../../domain/recording.ts';
import { visibleLine } from '../../publish/visible-text.ts';
import { EXIT } from '../exit-codes.ts';
import { say } from '../terminal.ts';
import { openRecordingsFile } from './recordings-file.ts';
import type { ReplayCommandOptions } from './replay-options.ts';

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
