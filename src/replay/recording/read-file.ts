import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { messageOf } from '../../domain/errors.ts';
import type { Recording } from '../../domain/recording.ts';
import { readRecording } from './read-recording.ts';

/** A recording to be replayed, or why it cannot be; `name` is what people find it by. */
export type RecordingSource = { readonly name: string; readonly recording: Recording } | { readonly name: string; readonly error: string };

/** Each line of a file of recordings, read one by one; a line that cannot be read is told, and the rest goes on. */
export async function* recordingsInFile(path: string): AsyncGenerator<RecordingSource> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === '') continue;
    const name = `line ${number}`;
    try {
      const recording = readRecording(JSON.parse(line));
      yield { name: recording.triageId, recording };
    } catch (error) {
      yield { name, error: messageOf(error).slice(0, 300) };
    }
  }
}
