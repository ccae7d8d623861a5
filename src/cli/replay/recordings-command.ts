import type { Recording } from '../../domain/recording.ts';
import { present } from '../../lib/collections.ts';
import { counted } from '../../lib/text.ts';
import { visibleLine } from '../../notifications/visible-text.ts';
import { recordingHeads, storedRecordings } from '../../replay/recording/read-recordings.ts';
import type { RecordingHead } from '../../stores/measurements.ts';
import type { DataOptions } from '../settings.ts';
import { withApp } from '../store-commands.ts';
import { EXIT, jsonText, print, say } from '../terminal.ts';
import { openRecordingsFile } from './recordings-file.ts';

export interface ListRecordingsOptions extends DataOptions {
  readonly repository?: string;
}

export interface ExportRecordingsOptions extends ListRecordingsOptions {
  readonly out: string;
  readonly run?: readonly string[];
}

/** `faultline recordings list`: what is stored, the oldest first. */
export async function listRecordings(options: ListRecordingsOptions): Promise<void> {
  await withApp(options, async ({ stores: { recordings: store } }) => {
    const [heads, totals] = [[] as RecordingHead[], { recordings: 0, bytes: 0 }];
    for await (const head of recordingHeads(store, present({ repository: options.repository }))) {
      totals.recordings += 1;
      totals.bytes += head.size;
      if (options.json) heads.push(head);
      else await print(rowOf(head));
    }
    if (options.json) return await print(jsonText({ ok: true, ...totals, rows: heads }));
    await print(`${totals.recordings} recordings, ${sizeText(totals.bytes)}`);
  });
}

/** `faultline recordings export`: each stored recording with its answer as one JSON object a line. */
export async function exportRecordings(options: ExportRecordingsOptions): Promise<void> {
  await withApp(options, async ({ stores: { recordings: store } }) => {
    const file = await openRecordingsFile(options.out);
    const asked = askedRuns(options.run);
    let [written, unreadable] = [0, 0];
    try {
      for await (const source of storedRecordings(store, present({ repository: options.repository, runs: options.run }))) {
        if ('error' in source) {
          unreadable += 1;
          asked.meant({ triageId: source.name, analysis: null });
          say(visibleLine(`${source.name}: ${source.error}`));
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
      say(visibleLine(missing));
      process.exitCode = EXIT.unreadable;
    }
    const left = unreadable === 0 ? '' : `; ${unreadable} could not be read`;
    await print(
      options.json ? jsonText({ ok: true, written, unreadable }) : `${counted(written, 'recording')} written to ${options.out}${left}`,
    );
  });
}

function rowOf({ triageId, createdAt, repository, size, analysis, capped }: RecordingHead): string {
  const answer =
    analysis === null ? 'no answer' : `${analysis.category} ${analysis.analyst}${analysis.model === null ? '' : ` ${analysis.model}`}`;
  const ids = analysis === null ? triageId : `${triageId} ${analysis.id}`;
  return visibleLine(`${createdAt.slice(0, 19)} ${ids} ${repository} ${sizeText(size)} ${answer}${capped ? ' (cut off)' : ''}`);
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** The runs that were asked for by id, and which of them were met. */
interface AskedRuns {
  /** Whether this one is meant: by the id of its triage or of its answer; everything is where nothing was requested. */
  meant(recording: Pick<Recording, 'triageId'> & { readonly analysis: { readonly id: string } | null }): boolean;
  /** Which ids were not met, in a sentence; null where all were. */
  missing(): string | null;
}

export function askedRuns(runs: readonly string[] | undefined): AskedRuns {
  const left = new Set(runs);
  return {
    meant: ({ triageId, analysis }) => {
      if (runs === undefined) return true;
      const ids = [triageId, ...(analysis === null ? [] : [analysis.id])].filter((id) => runs.includes(id));
      for (const id of ids) left.delete(id);
      return ids.length > 0;
    },
    missing: () => (left.size === 0 ? null : `There is no recording of ${[...left].join(', ')}.`),
  };
}
