import { type FileHandle, open } from 'node:fs/promises';
import type { DataOptions } from '../../cli/settings.ts';
import { withApp } from '../../cli/store/store-commands.ts';
import { EXIT, formatJson, print, say } from '../../cli/terminal.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import type { Recording } from '../../domain/recording.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { RecordingHead } from '../../stores/measurements.ts';
import { listRecordingHeads, readStoredRecordings } from '../recording/read-recordings.ts';
import { countWholeLines, createUnwrittenError } from '../run/results-file.ts';
import type { ReplayCommandOptions } from './case-sources.ts';

export interface ListRecordingsOptions extends DataOptions {
  readonly repository?: string;
}

export interface ExportRecordingsOptions extends ListRecordingsOptions {
  readonly out: string;
  readonly run?: readonly string[];
}

/** Runs `faultline recordings list`: lists the stored recordings, oldest first. */
export async function listRecordings(options: ListRecordingsOptions): Promise<void> {
  await withApp(options, async ({ stores: { recordings: store } }) => {
    const [heads, totals] = [[] as RecordingHead[], { recordings: 0, bytes: 0 }];
    for await (const head of listRecordingHeads(store, omitUndefined({ repository: options.repository }))) {
      totals.recordings += 1;
      totals.bytes += head.size;
      if (options.json) heads.push(head);
      else await print(formatRow(head));
    }
    if (options.json) return await print(formatJson({ ok: true, ...totals, rows: heads }));
    await print(`${totals.recordings} recordings, ${formatSize(totals.bytes)}`);
  });
}

/**
 * Runs `faultline recordings export`: writes each stored recording with its answer as one JSON object per
 * line.
 */
export async function exportRecordings(options: ExportRecordingsOptions): Promise<void> {
  await withApp(options, async ({ stores: { recordings: store } }) => {
    const file = await openRecordingsFile(options.out);
    const asked = selectAskedRuns(options.run);
    let [written, unreadable] = [0, 0];
    try {
      for await (const source of readStoredRecordings(
        store,
        omitUndefined({ repository: options.repository, runs: options.run }),
      )) {
        if ('error' in source) {
          unreadable += 1;
          asked.meant({ triageId: source.name, analysis: null });
          say(toVisibleLine(`${source.name}: ${source.error}`));
          continue;
        }
        asked.meant(source.recording);
        await file.add(source.recording);
        written += 1;
      }
    } finally {
      await file.close();
    }
    const missing = asked.missing();
    if (missing !== null) {
      say(toVisibleLine(missing));
      process.exitCode = EXIT.unreadable;
    }
    const left = unreadable === 0 ? '' : `; ${unreadable} could not be read`;
    await print(
      options.json
        ? formatJson({ ok: true, written, unreadable })
        : `${formatCount(written, 'recording')} written to ${options.out}${left}`,
    );
  });
}

function formatRow({ triageId, createdAt, repository, size, analysis, capped }: RecordingHead): string {
  const answer =
    analysis === null
      ? 'no answer'
      : `${analysis.category} ${analysis.analyst}${analysis.model === null ? '' : ` ${analysis.model}`}`;
  const ids = analysis === null ? triageId : `${triageId} ${analysis.id}`;
  return toVisibleLine(
    `${createdAt.slice(0, 19)} ${ids} ${repository} ${formatSize(size)} ` +
      `${answer}${capped ? ' (cut off)' : ''}`,
  );
}

function formatSize(bytes: number): string {
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** Creates a filter for the requested ids that tracks which of them were found. */
export function selectAskedRuns(runs: readonly string[] | undefined) {
  const left = new Set(runs);
  return {
    /**
     * Checks whether a run is requested, by the id of its triage or of its analysis, and marks that id as
     * found. Without requested ids, every run is.
     */
    meant: ({
      triageId,
      analysis,
    }: {
      readonly triageId: string;
      readonly analysis: { readonly id: string } | null;
    }) => {
      if (runs === undefined) return true;
      const ids = [triageId, ...(analysis === null ? [] : [analysis.id])].filter((id) => runs.includes(id));
      for (const id of ids) left.delete(id);
      return ids.length > 0;
    },
    /** Returns a sentence with the ids that were not found. Returns null if all were. */
    missing: () => (left.size === 0 ? null : `There is no recording of ${[...left].join(', ')}.`),
  };
}

/**
 * The file mode of recordings, which contain the masked contents of logs and sources. Only the user who wrote
 * them may read them.
 */
const OWNER_ONLY = 0o600;

/**
 * Opens a file of recordings with one JSON object on each line: empty, or (`behind`) after its last complete
 * line, because a crash may have left an incomplete one. A new file is readable only by its owner. Throws
 * `not-found` if it cannot be written.
 */
export async function openRecordingsFile(path: string, behind = false) {
  const file = await open(path, behind ? 'a+' : 'w', OWNER_ONLY).catch((cause: unknown) => {
    throw new TriageError(
      'not-found',
      `Recordings cannot be written to ${path}: ${getErrorMessage(cause)}.`,
      { cause },
    );
  });
  // A pipe or device cannot be truncated.
  const isFile = (await file.stat()).isFile();
  if (behind && isFile) await file.truncate(await countWholeLines(file));
  let writing: Promise<void> = Promise.resolve();
  return {
    /**
     * Writes the whole recording after the earlier ones. Throws `storage-failed` if the disk is full, and
     * leaves the file unchanged.
     */
    add: (recording: Recording): Promise<void> => {
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
    throw createUnwrittenError(path, cause);
  }
}

export type KeptRecordings = NonNullable<Awaited<ReturnType<typeof openKeptRecordings>>>;

/**
 * Opens the file of `--record`. Returns null if nothing is recorded. Throws `not-found` if the file cannot be
 * written, and `invalid-config` if there would be nothing to write.
 */
export async function openKeptRecordings({ record, resume, only }: ReplayCommandOptions) {
  if (record === undefined) return null;
  if (only === 'read')
    throw new TriageError('invalid-config', '--record needs answers, but --only read produces none.');
  const file = await openRecordingsFile(record, resume);
  let isWhole = true;
  return {
    /**
     * Adds recordings to the file. Never rejects, because a recording that cannot be stored is no failure of
     * its case. Reports the first error and then ignores further recordings.
     */
    keep: async (recordings: readonly Recording[]): Promise<void> => {
      for (const recording of recordings) {
        if (!isWhole) return;
        await file.add(recording).catch((error: unknown) => {
          if (isWhole)
            say(toVisibleLine(`--record: ${getErrorMessage(error)} The replay continues without it.`));
          isWhole = false;
        });
      }
    },
    /** Closes the file. Sets the exit code if not all recordings were stored. */
    close: async () => {
      await file.close();
      if (!isWhole) process.exitCode ??= EXIT.refused;
    },
  };
}
