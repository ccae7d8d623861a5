import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requireInScope } from '../domain/access.ts';
import type { NewBuild } from '../domain/build.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { hashInSteps } from '../providers/read-input.ts';
import { keepPictures } from '../service/intake/pictures.ts';
import {
  type Delivery,
  findRecorded,
  type IntakeDeps,
  type Recorded,
  recordBuild,
} from '../service/intake/record-build.ts';
import { keepShownSecrets } from '../service/intake/shown-secrets.ts';
import {
  FormUpload,
  JsonUpload,
  MAX_FILES,
  type PreparedSources,
  prepareSources,
  readJsonUpload,
  readMetadata,
  requireSomethingToRead,
  toNewBuild,
  type Upload,
  type UploadedFile,
  type UploadMetadata,
  withDistinctNames,
} from '../service/intake/upload.ts';
import { answerFor, BuildReceived } from './answers.ts';
import { readHeader } from './webhook-route.ts';

const UploadHeaders = z.object({
  'idempotency-key': z
    .string()
    .optional()
    .describe('The same key with the same content returns the same response; with different content, 409.'),
});

/**
 * Registers `POST /api/builds`, which accepts a build with its logs and reports as a form or as JSON. It
 * answers 202 once everything is stored.
 */
export async function registerBuildUpload(app: FastifyInstance, deps: IntakeDeps): Promise<void> {
  const { maxBodyBytes } = deps.settings.http;
  const limits = { fileSize: maxBodyBytes, fieldSize: 64 * 1024, parts: 3 * MAX_FILES + 1 };
  await app.register(multipart, {
    limits,
    throwFileSizeLimit: true,
    isPartAFile: (field) => field !== 'metadata',
  });
  const turns = new Map<string, Promise<Recorded>>();
  app.post(
    '/api/builds',
    {
      config: { access: { role: 'ingest' } },
      // The handler checks the body, because a form is not a single value.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        tags: ['Intake'],
        operationId: 'uploadBuild',
        summary: 'Upload a build',
        description:
          'Any number of logs and test reports (plain, compressed, or in zip and tar archives), with ' +
          'metadata of the build. Secrets are masked before anything is stored. ' +
          'The response is sent once everything is durably stored; ' +
          'the analysis follows within seconds. Repeating an upload, even at the same moment, gets ' +
          'the same answer. 409 if the build was already received with different content or under ' +
          'another Idempotency-Key: increase `attempt` for a rerun.',
        headers: UploadHeaders,
        body: {
          content: {
            'multipart/form-data': { schema: FormUpload },
            'application/json': { schema: JsonUpload },
          },
        },
        response: { 202: BuildReceived },
      },
    },
    async (request, reply) => {
      refuseOversized(request, maxBodyBytes);
      const upload = request.isMultipart()
        ? await readFormUpload(request, maxBodyBytes)
        : readJsonUpload(request.body);
      requireInScope(request.principal, upload.metadata.repository);
      const delivery = await identifyDelivery(request, upload);
      const recorded = await runInTurn(turns, formatBuildKey(upload), () =>
        keepUpload(deps, delivery, upload),
      );
      return reply.status(202).send(answerFor(deps.settings, recorded));
    },
  );
}

async function keepUpload(deps: IntakeDeps, delivery: Delivery, upload: Upload): Promise<Recorded> {
  const before = await findRecorded(deps, delivery);
  if (before !== null) return before;
  const prepared = await prepareSources(
    upload.files,
    deps.settings.http.maxLogBytes,
    deps.masker,
    deps.uploadReaders,
  );
  const build = toNewBuild(upload.metadata);
  if (build.status === 'failed') requireSomethingToRead(prepared);
  const row = await claimRow(deps, build, prepared);
  // Another process has received the build in the meantime. If it received this same upload, its answer is
  // returned.
  if (row.taken) return (await findRecorded(deps, delivery)) ?? rejectDifferentUpload(build, row.id);
  try {
    const texts = await keepPictures(deps.stores, row.id, prepared.sources);
    for (const source of texts) await deps.archive.put(row.id, source);
    await keepShownSecrets(deps, row.id, prepared.own);
    return await recordBuild(deps, delivery, build, { testResults: prepared.testResults });
  } catch (error) {
    if (row.created) await withdraw(deps, row.id);
    throw error;
  }
}

/**
 * Removes the stored parts of a rejected upload. If that fails, the next start of an embedded service removes
 * them.
 */
async function withdraw({ stores, archive, logger }: IntakeDeps, buildId: string): Promise<void> {
  try {
    if ((await stores.builds.withdrawUnfinished(buildId)).length > 0) await archive.remove(buildId);
  } catch (error) {
    logger.warn({ buildId, error }, 'the stored parts of a rejected upload could not be deleted');
  }
}

/**
 * Creates the row of the build with the status `unknown`, so that its logs can reference it. The following
 * transaction sets its status and adds its triage job; a row that has a status is `taken`. If the process
 * crashes in between, the row stays, and the sender's next attempt completes it with only its own logs. After
 * an error the row is removed. Logs of the same names are replaced one by one: another process may be
 * receiving the same upload at this moment, and the logs that it stored must still exist when it reports
 * success.
 */
async function claimRow(
  deps: IntakeDeps,
  build: NewBuild,
  { sources }: PreparedSources,
): Promise<{ readonly id: string; readonly created: boolean; readonly taken: boolean }> {
  const { build: row, created } = await deps.stores.builds.upsert({ ...build, status: 'unknown' });
  const taken = row.status !== 'unknown';
  const names = new Set(sources.map(({ name }) => name));
  if (!created && !taken && (await deps.archive.list(row.id)).some(({ name }) => !names.has(name)))
    await deps.archive.remove(row.id);
  return { id: row.id, created, taken };
}

function rejectDifferentUpload({ number, pipeline }: NewBuild, buildId: string): never {
  throw new TriageError(
    'conflict',
    `Build ${number} of ${pipeline} was already received with different content or under another ` +
      'Idempotency-Key. Increase "attempt" for a rerun.',
    { details: { buildId } },
  );
}

/**
 * Processes the uploads of one build one after the other. If the same upload arrives twice at the same
 * moment, it is stored once, and both requests get its answer.
 */
async function runInTurn<Result>(
  turns: Map<string, Promise<Result>>,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const turn = turns.get(key)?.then(work, work) ?? work();
  turns.set(key, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(key) === turn) turns.delete(key);
  }
}

function formatBuildKey({ metadata }: Upload): string {
  return JSON.stringify([metadata.repository, metadata.pipeline, String(metadata.number), metadata.attempt]);
}

/**
 * Returns the identity of the delivery. A key belongs to the token that used it; without a key, the digest of
 * the content is used.
 */
async function identifyDelivery(request: FastifyRequest, upload: Upload): Promise<Delivery> {
  const parts = upload.files.flatMap((file) => [
    `\n${file.kind} ${JSON.stringify(file.name)} ${file.bytes.length}\n`,
    file.bytes,
  ]);
  const bodySha256 = await hashInSteps([JSON.stringify(upload.metadata), ...parts]);
  const key = readHeader(request, 'idempotency-key');
  if (key !== undefined && !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new TriageError('invalid-input', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
  }
  const deliveryId =
    key === undefined ? `content:${bodySha256}` : `key:${request.principal?.name ?? ''}:${key}`;
  return { source: 'upload', deliveryId, event: 'build', bodySha256 };
}

function refuseOversized(request: FastifyRequest, maxBytes: number): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared <= maxBytes) return;
  // The unread body must be drained; otherwise the sender blocks before it reads the response.
  request.raw.resume();
  throw new TriageError(
    'too-large',
    `The upload has ${declared} bytes; the limit is ${maxBytes}, a quarter of FAULTLINE_MAX_LOG_BYTES. ` +
      'Compress the logs with gzip.',
  );
}

const MAX_METADATA_BYTES = 64 * 1024;

/**
 * Reads a form as its parts arrive: `metadata`, and any number of `log`, `report` and `artifact` files.
 * Throws `too-large` as soon as the parts together exceed the limit, and `invalid-input` if the form has
 * other parts.
 */
async function readFormUpload(request: FastifyRequest, maxBytes: number): Promise<Upload> {
  const room = createRoom(Number(request.headers['content-length'] ?? 0), maxBytes);
  const files: UploadedFile[] = [];
  let metadata: UploadMetadata | null = null;
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') {
        metadata = readMetadata(parseField(part.fieldname, part.value, part.valueTruncated));
      } else if (part.fieldname === 'metadata') {
        const bytes = await collect(part, createRoom(0, MAX_METADATA_BYTES));
        metadata = readMetadata(new TextDecoder().decode(bytes));
      } else {
        const kind = parseFileKind(part.fieldname);
        if (files.filter((file) => file.kind === kind).length >= MAX_FILES) throw createTooManyError(kind);
        // A part may have no file name. The kind is used as its name then.
        files.push({ name: part.filename ?? '', kind, bytes: await collect(part, room) });
      }
    }
  } catch (error) {
    // The rest of the body must be drained; otherwise the connection stalls before the response.
    request.raw.unpipe();
    request.raw.resume();
    throw toFormError(error);
  }
  if (metadata === null)
    throw new TriageError(
      'invalid-input',
      'The form has no "metadata" field. Send one with the JSON that describes the build.',
    );
  return { metadata, files: withDistinctNames(files) };
}

/**
 * Converts an error of the form parser. Most errors have a status already. The error for a body that is not a
 * form has none.
 */
function toFormError(error: unknown): unknown {
  if (error instanceof TriageError || (error instanceof Error && 'statusCode' in error)) return error;
  return new TriageError(
    'invalid-input',
    `The form cannot be read: ${getErrorMessage(error)}. Send multipart/form-data with its boundary.`,
    {
      cause: error,
    },
  );
}

function parseField(name: string, value: unknown, truncated: boolean): unknown {
  if (name !== 'metadata') parseFileKind(name);
  if (truncated)
    throw new TriageError('too-large', 'The metadata is larger than 64 kB. Send logs as "log" files.');
  return value;
}

function parseFileKind(fieldName: string): UploadedFile['kind'] {
  if (fieldName === 'log' || fieldName === 'report' || fieldName === 'artifact') return fieldName;
  throw new TriageError(
    'invalid-input',
    `The form has a field "${fieldName.slice(0, 100)}". Valid fields are "metadata" (JSON), "log", ` +
      '"report" and "artifact" (files).',
  );
}

type Room = ReturnType<typeof createRoom>;

/** Creates one buffer for the bytes of all files of a request, so that each byte is stored once. */
function createRoom(expected: number, limit: number) {
  let bytes = Buffer.allocUnsafeSlow(Math.min(expected > 0 ? expected : 64 * 1024, limit));
  let start = 0;
  let end = 0;
  return {
    add(chunk: Uint8Array): void {
      if (end - start + chunk.length > limit || end + chunk.length > limit) throw createTooLargeError(limit);
      if (end + chunk.length > bytes.length) {
        // The request did not state its length: double the buffer and keep the received bytes in place.
        const larger = Buffer.allocUnsafeSlow(
          Math.min(limit, Math.max(bytes.length * 2, end + chunk.length)),
        );
        bytes.copy(larger, start, start, end);
        bytes = larger;
      }
      bytes.set(chunk, end);
      end += chunk.length;
    },
    /** Returns the bytes added since the last call. */
    take(): Uint8Array {
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

function createTooManyError(kind: UploadedFile['kind']): TriageError {
  return new TriageError(
    'invalid-input',
    `The form has more than ${MAX_FILES} files in "${kind}". Send them in a zip or tar archive.`,
  );
}

function createTooLargeError(limit: number): TriageError {
  return new TriageError(
    'too-large',
    `The upload is larger than the limit of ${Math.floor(limit / 1024)} kB. ` +
      'Compress the logs with gzip, or send only the failing ones.',
    {
      details: { maxBytes: limit },
    },
  );
}
