import { messageOf } from '../../domain/errors.ts';
import type { RecordingFilter, RecordingHead, RecordingStore } from '../../ports/measurements.ts';
import type { RecordingSource } from './read-file.ts';
import { unpackRecording } from './read-recording.ts';

const PAGE = 200;

/** What is stored, page by page. */
export async function* recordingHeads(store: Pick<RecordingStore, 'list'>, filter: RecordingFilter): AsyncGenerator<RecordingHead> {
  let after = '';
  for (;;) {
    const page = await store.list({ ...filter, after }, { limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.triageId;
  }
}

/** The recordings themselves, one in memory at a time; one that cannot be read is told, and the rest goes on. */
export async function* storedRecordings(
  store: Pick<RecordingStore, 'list' | 'find'>,
  filter: RecordingFilter,
): AsyncGenerator<RecordingSource> {
  for await (const { triageId } of recordingHeads(store, filter)) {
    try {
      const stored = await store.find(triageId);
      // Deleted meanwhile.
      if (stored === null) continue;
      yield { name: triageId, recording: await unpackRecording(stored) };
    } catch (error) {
      yield { name: triageId, error: messageOf(error).slice(0, 300) };
    }
  }
}
