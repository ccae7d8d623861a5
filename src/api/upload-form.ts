import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { messageOf, TriageError } from '../domain/errors.ts';
import {
  MAX_FILES,
  readMetadata,
  type Upload,
  type UploadedFile,
  type UploadMetadata,
  withDistinctNames,
} from '../service/intake/upload-shape.ts';

const MAX_METADATA_BYTES = 64 * 1024;

/**
 * Reads a form as its parts arrive: `metadata`, and any number of `log`, `report` and `artifact` files. Throws `too-large` as soon as
 * the parts together pass the limit, `invalid-input` for a form that is not as described.
 */
export async function readFormUpload(request: FastifyRequest, maxBytes: number): Promise<Upload> {
  const room = createRoom(Number(request.headers['content-length'] ?? 0), maxBytes);
  const files: UploadedFile[] = [];
  let metadata: UploadMetadata | null = null;
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') {
        metadata = readMetadata(fieldValue(part.fieldname, part.value, part.valueTruncated));
      } else if (part.fieldname === 'metadata') {
        const bytes = await collect(part, createRoom(0, MAX_METADATA_BYTES));
        metadata = readMetadata(new TextDecoder().decode(bytes));
      } else {
        const kind = kindOf(part.fieldname);
        if (files.filter((file) => file.kind === kind).length >= MAX_FILES) throw tooMany(kind);
        // A part may name no file; the kind is a name then.
        files.push({ name: part.filename ?? '', kind, bytes: await collect(part, room) });
      }
    }
  } catch (error) {
    // What nobody reads any more must flow off, or the connection stalls before the answer.
    request.raw.unpipe();
    request.raw.resume();
    throw unreadable(error);
  }
  if (metadata === null)
    throw new TriageError('invalid-input', 'The form has no "metadata" field. Send one with the JSON that describes the build.');
  return { metadata, files: withDistinctNames(files) };
}

/** What the form's parser throws knows its status, save for a form that is no form. */
function unreadable(error: unknown): unknown {
  if (error instanceof TriageError || (error instanceof Error && 'statusCode' in error)) return error;
  return new TriageError('invalid-input', `The form cannot be read: ${messageOf(error)}. Send multipart/form-data with its boundary.`, {
    cause: error,
  });
}

function fieldValue(name: string, value: unknown, truncated: boolean): unknown {
  if (name !== 'metadata') kindOf(name);
  if (truncated) throw new TriageError('too-large', 'The metadata is larger than 64 kB. Send logs as "log" files.');
  return value;
}

function kindOf(fieldName: string): UploadedFile['kind'] {
  if (fieldName === 'log' || fieldName === 'report' || fieldName === 'artifact') return fieldName;
  throw new TriageError(
    'invalid-input',
    `The form has a field "${fieldName.slice(0, 100)}". Valid fields are "metadata" (JSON), "log", "report" and "artifact" (files).`,
  );
}

/** Room for the bytes of all files of a request, so that each byte is kept once. */
interface Room {
  add(chunk: Uint8Array): void;
  /** The bytes added since the last call. */
  take(): Uint8Array;
}

function createRoom(expected: number, limit: number): Room {
  let bytes = Buffer.allocUnsafeSlow(Math.min(expected > 0 ? expected : 64 * 1024, limit));
  let start = 0;
  let end = 0;
  return {
    add(chunk) {
      if (end - start + chunk.length > limit || end + chunk.length > limit) throw tooLarge(limit);
      if (end + chunk.length > bytes.length) {
        // The request did not say how long it is: double, keeping what was taken where it is.
        const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(bytes.length * 2, end + chunk.length)));
        bytes.copy(larger, start, start, end);
        bytes = larger;
      }
      bytes.set(chunk, end);
      end += chunk.length;
    },
    take() {
      const taken = bytes.subarray(start, end);
      start = end;
      return taken;
    },
  };
}

async function collect(part: MultipartFile, room: Room): Promise<Uint8Array> {
  for await (const chunk of part.file) room.add(chunk);
  if (part.file.truncated) throw new TriageError('too-large', `${part.filename} exceeds the size limit.`);
  return room.take();
}

function tooMany(kind: UploadedFile['kind']): TriageError {
  return new TriageError('invalid-input', `The form has more than ${MAX_FILES} files in "${kind}". Send them in a zip or tar archive.`);
}

function tooLarge(limit: number): TriageError {
  return new TriageError(
    'too-large',
    `The upload is larger than the limit of ${Math.floor(limit / 1024)} kB. Compress the logs with gzip, or send only the failing ones.`,
    {
      details: { maxBytes: limit },
    },
  );
}
