import { messageOf, TriageError } from '../../domain/errors.ts';
import type { Recording } from '../../domain/recording.ts';
import { MAX_LINE_BYTES, numberedLines } from '../cases/numbered-lines.ts';
import { readRecording } from './read-recording.ts';

/** A recording to be replayed, or why it cannot be; `name` is what people find it by. */
export type RecordingSource = { readonly name: string; readonly recording: Recording } | { readonly name: string; readonly error: string };

/** Each line of a file of recordings, read one by one; a line that cannot be read is told, and the rest goes on. Throws `not-found`. */
export async function* recordingsInFile(path: string): AsyncGenerator<RecordingSource> {
  for await (const { line, text } of numberedLines(path)) {
    try {
      if (text === null) throw new TriageError('invalid-input', `It is longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB.`);
      const recording = readRecording(JSON.parse(text));
      yield { name: recording.triageId, recording };
    } catch (error) {
      yield { name: `line ${line}`, error: messageOf(error).slice(0, 300) };
    }
  }
}
