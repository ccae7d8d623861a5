import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { RECORDING_SCHEMA, Recording } from '../../domain/recording.ts';
import type { StoredRecording } from '../../ports/measurements.ts';
import { joinLines } from './join.ts';
import { RecordingLine } from './lines.ts';

const uncompress = promisify(gunzip);

/** Most bytes of a stored recording once it is unpacked. */
const MAX_UNPACKED = 256 * 1024 * 1024;

type Raw = Readonly<Record<string, unknown>>;
/** By the schema they turn into the next one. */
export type Upgrades = Readonly<Record<number, (recording: Raw) => Raw>>;

/** Schema 1 is the first. */
const UPGRADES: Upgrades = {};

/**
 * A recording as it was exported. One of an older schema is brought up to date where that can be done. Throws `invalid-input` with what made
 * it and what to do where it cannot be read.
 */
export function readRecording(json: unknown, upgrades: Upgrades = UPGRADES): Recording {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw unreadable('It is not a JSON object.');
  let raw: Raw = { ...json };
  checkSchema(raw.schema, raw);
  for (let schema = Number(raw.schema); schema < RECORDING_SCHEMA; schema++) {
    const upgrade = upgrades[schema];
    if (upgrade === undefined) {
      throw unreadable(`It was created by ${makerOf(raw)} in schema ${schema}, which is no longer supported: replay it with that version.`);
    }
    raw = { ...upgrade(raw), schema: schema + 1 };
  }
  const read = Recording.safeParse(raw);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  throw unreadable(`${issue?.path.join('.') || 'It'}: ${issue?.message ?? 'not understood'} (created by ${makerOf(raw)}).`);
}

/** A recording as the store keeps it: parts of JSON lines, gzipped one by one. Throws `invalid-input` where they cannot be read. */
export async function unpackRecording(stored: StoredRecording): Promise<Recording> {
  const { triageId, schema, bytes, analysis, capped } = stored;
  checkSchema(schema, {});
  const text = await unpack(triageId, bytes);
  const lines = text.split('\n').filter((line) => line !== '');
  return joinLines(
    triageId,
    lines.map((line) => lineOf(line, triageId)),
    analysis,
    capped,
  );
}

async function unpack(triageId: string, bytes: Uint8Array): Promise<string> {
  if (bytes.length === 0) return '';
  try {
    return (await uncompress(bytes, { maxOutputLength: MAX_UNPACKED })).toString('utf8');
  } catch (error) {
    throw new TriageError('invalid-input', `The recording of ${triageId} is damaged: ${messageOf(error)}.`, { cause: error });
  }
}

function lineOf(line: string, triageId: string): RecordingLine {
  try {
    return RecordingLine.parse(JSON.parse(line));
  } catch (error) {
    throw new TriageError('invalid-input', `The recording of ${triageId} cannot be read: ${firstLine(messageOf(error))}.`, {
      cause: error,
    });
  }
}

function checkSchema(schema: unknown, raw: Raw): void {
  if (typeof schema !== 'number' || !Number.isSafeInteger(schema))
    throw unreadable('It has no schema, so it is not a Faultline recording.');
  if (schema > RECORDING_SCHEMA) {
    throw unreadable(
      `It was created by ${makerOf(raw)} in schema ${schema}; this version supports up to ${RECORDING_SCHEMA}: update Faultline.`,
    );
  }
}

function makerOf({ madeBy }: Raw): string {
  const version = typeof madeBy === 'object' && madeBy !== null && 'faultline' in madeBy ? madeBy.faultline : undefined;
  return typeof version === 'string' ? `Faultline ${version.slice(0, 40)}` : 'another version';
}

function firstLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200);
}

function unreadable(why: string): TriageError {
  return new TriageError('invalid-input', `The recording cannot be read. ${why}`);
}
