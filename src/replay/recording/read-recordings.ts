import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { RECORDING_SCHEMA, Recording } from '../../domain/recording.ts';
import { joinLines, RecordingLine } from '../../service/triage/recording/recording-lines.ts';
import type {
  RecordingFilter,
  RecordingHead,
  RecordingStore,
  StoredRecording,
} from '../../stores/measurements.ts';
import { MAX_LINE_BYTES, streamNumberedLines } from '../cases/dataset.ts';

/** A recording to replay, or the reason why it cannot be replayed. `name` identifies it for people. */
export type RecordingSource =
  | { readonly name: string; readonly recording: Recording }
  | { readonly name: string; readonly error: string };

/**
 * Reads the recordings in a file, one line at a time. An unreadable line is reported and does not prevent
 * reading the others. Throws `not-found`.
 */
export async function* readRecordingsIn(path: string): AsyncGenerator<RecordingSource> {
  for await (const { line, text } of streamNumberedLines(path)) {
    try {
      if (text === null)
        throw new TriageError('invalid-input', `It is longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB.`);
      const recording = readRecording(JSON.parse(text));
      yield { name: recording.triageId, recording };
    } catch (error) {
      yield { name: `line ${line}`, error: getErrorMessage(error).slice(0, 300) };
    }
  }
}

const PAGE = 200;

/** Lists the stored recordings, page by page. */
export async function* listRecordingHeads(
  store: Pick<RecordingStore, 'list'>,
  filter: RecordingFilter,
): AsyncGenerator<RecordingHead> {
  let after = '';
  for (;;) {
    const page = await store.list({ ...filter, after }, { limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.triageId;
  }
}

/**
 * Reads the stored recordings, one in memory at a time. An unreadable recording is reported and does not
 * prevent reading the others.
 */
export async function* readStoredRecordings(
  store: Pick<RecordingStore, 'list' | 'find'>,
  filter: RecordingFilter,
): AsyncGenerator<RecordingSource> {
  for await (const { triageId } of listRecordingHeads(store, filter)) {
    try {
      const stored = await store.find(triageId);
      // The recording has been deleted since it was listed.
      if (stored === null) continue;
      yield { name: triageId, recording: await unpackRecording(stored) };
    } catch (error) {
      yield { name: triageId, error: getErrorMessage(error).slice(0, 300) };
    }
  }
}

const uncompress = promisify(gunzip);

/** The maximum size in bytes of an unpacked recording. */
const MAX_UNPACKED = 256 * 1024 * 1024;

type Raw = Readonly<Record<string, unknown>>;

/**
 * Reads an exported recording. If it cannot be read, throws `invalid-input` with the version that wrote it
 * and what to do.
 */
export function readRecording(json: unknown): Recording {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw createUnreadableError('It is not a JSON object.');
  const raw: Raw = { ...json };
  checkSchema(raw.schema, raw);
  const read = Recording.safeParse(raw);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  throw createUnreadableError(
    `${issue?.path.join('.') || 'It'}: ${issue?.message ?? 'not understood'} (created ` +
      `by ${describeMaker(raw)}).`,
  );
}

/** Reads a stored recording: gzipped parts of JSON lines. Throws `invalid-input` if they cannot be read. */
export async function unpackRecording(stored: StoredRecording): Promise<Recording> {
  const { triageId, schema, bytes, analysis, capped } = stored;
  checkSchema(schema, {});
  const text = await unpack(triageId, bytes);
  const lines = text.split('\n').filter((line) => line !== '');
  const parsed = lines.map((line) => parseLine(line, triageId));
  return joinLines(triageId, parsed, analysis, capped);
}

async function unpack(triageId: string, bytes: Uint8Array): Promise<string> {
  if (bytes.length === 0) return '';
  try {
    return (await uncompress(bytes, { maxOutputLength: MAX_UNPACKED })).toString('utf8');
  } catch (error) {
    throw new TriageError(
      'invalid-input',
      `The recording of ${triageId} is damaged: ${getErrorMessage(error)}.`,
      { cause: error },
    );
  }
}

function parseLine(line: string, triageId: string): RecordingLine {
  try {
    return RecordingLine.parse(JSON.parse(line));
  } catch (error) {
    throw new TriageError(
      'invalid-input',
      `The recording of ${triageId} cannot be read: ${formatFirstLine(getErrorMessage(error))}.`,
      {
        cause: error,
      },
    );
  }
}

function checkSchema(schema: unknown, raw: Raw): void {
  if (typeof schema !== 'number' || !Number.isSafeInteger(schema))
    throw createUnreadableError('It has no schema, so it is not a Faultline recording.');
  if (schema < RECORDING_SCHEMA)
    throw createUnreadableError(
      `It was created by ${describeMaker(raw)} in schema ${schema}, which is no longer supported: ` +
        'replay it with that version.',
    );
  if (schema > RECORDING_SCHEMA) {
    throw createUnreadableError(
      `It was created by ${describeMaker(raw)} in schema ${schema}; ` +
        `this version supports up to ${RECORDING_SCHEMA}: update Faultline.`,
    );
  }
}

function describeMaker({ madeBy }: Raw): string {
  const version =
    typeof madeBy === 'object' && madeBy !== null && 'faultline' in madeBy ? madeBy.faultline : undefined;
  return typeof version === 'string' ? `Faultline ${version.slice(0, 40)}` : 'another version';
}

function formatFirstLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200);
}

function createUnreadableError(why: string): TriageError {
  return new TriageError('invalid-input', `The recording cannot be read. ${why}`);
}
