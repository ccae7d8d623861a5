import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import {
  createSparseBuild,
  type NewBuild,
  type SourceKind,
  type SourceText,
  type TestResult,
} from '../../domain/build.ts';
import { readInput, TriageError } from '../../domain/errors.ts';
import { mapInTurns, omitUndefined } from '../../lib/collections.ts';
import { toStorable } from '../../lib/text.ts';
import { decodeSources } from '../../log/decode/archive.ts';
import { createArtifactRoom, openArtifact } from '../../log/inventory/open-artifact.ts';
import type { Masker } from '../../log/mask/mask.ts';
import { collectOwnSecrets } from '../../log/mask/own-secrets.ts';
import { boundResults } from '../../log/reports/bound-results.ts';
import { readResults } from '../../log/reports/report.ts';
import type { LogThreads } from '../../log/worker-pool.ts';
import {
  attemptNumber,
  createShortTextSchema,
  createWebUrlSchema,
  findSecondsBetween,
  parseJson,
  pullRequestNumber,
  toShown,
  toUtc,
} from '../../providers/read-input.ts';

const optionalText = createShortTextSchema().nullish();

/** The metadata of a build in an upload. */
export const UploadMetadata = z
  .object({
    repository: createShortTextSchema(300).describe('`owner/name`, or another name for the source.'),
    pipeline: createShortTextSchema(500).describe('Workflow, job or pipeline name.'),
    number: z
      .union([createShortTextSchema(100), z.int().min(0)])
      .describe('Build number, as shown by the CI system.'),
    attempt: attemptNumber().describe('Increase it for a rerun of the same build.'),
    status: z
      .enum(['failed', 'passed'])
      .default('failed')
      .describe('Only failed builds are triaged; passed builds are stored for comparison.'),
    job: optionalText,
    branch: optionalText,
    commit: optionalText,
    author: optionalText,
    pullRequest: pullRequestNumber().nullish(),
    url: createWebUrlSchema().nullish(),
    queuedAt: z.iso.datetime({ offset: true }).nullish().describe('When it began to wait.'),
    startedAt: z.iso.datetime({ offset: true }).nullish(),
    finishedAt: z.iso.datetime({ offset: true }).nullish(),
  })
  .meta({
    examples: [
      {
        repository: 'shop/api',
        pipeline: 'ci',
        number: 812,
        branch: 'main',
        commit: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
      },
    ],
  });
export type UploadMetadata = z.infer<typeof UploadMetadata>;

const UploadedText = z
  .object({
    name: createShortTextSchema(200),
    text: z.string().optional(),
    base64: z
      .string()
      // A single character class; a more complex pattern would overflow the engine's stack on large files.
      .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'is not base64')
      .optional()
      .describe('For gzip, or bytes that are not UTF-8.'),
  })
  .refine((file) => (file.text === undefined) !== (file.base64 === undefined), 'needs either text or base64');
type UploadedText = z.infer<typeof UploadedText>;

/** The maximum number of files of one kind in one upload. */
export const MAX_FILES = 200;
const ARTIFACTS =
  'Additional files: server logs, crash reports, debug logs, plain or in archives. ' +
  'Files that show a failure or that a log refers to are read.';

/** The upload as JSON. */
export const JsonUpload = z
  .object({
    metadata: UploadMetadata,
    logs: z.array(UploadedText).max(MAX_FILES).default([]),
    reports: z
      .array(UploadedText)
      .max(MAX_FILES)
      .default([])
      .describe(
        'Test reports: JUnit XML, TRX, NUnit, xUnit.net, TestNG, TAP, CTRF, `go test -json` and others.',
      ),
    artifacts: z.array(UploadedText).max(MAX_FILES).default([]).describe(ARTIFACTS),
  })
  .meta({
    examples: [
      {
        metadata: { repository: 'shop/api', pipeline: 'ci', number: 812, branch: 'main' },
        logs: [{ name: 'test.log', text: 'FAIL src/cart.test.ts\n  expected 10.20, got 10.21\n' }],
        reports: [],
      },
    ],
  });

/** The upload as a form. Only the API description uses it, because the parts are read as a stream. */
export const FormUpload = z.object({
  metadata: UploadMetadata.describe('JSON.'),
  log: z
    .array(z.file())
    .optional()
    .describe('Any number of logs: plain, gzip or Zstandard, or zip and tar archives of logs and reports.'),
  report: z
    .array(z.file())
    .optional()
    .describe('Any number of test reports of any known format, plain, compressed or in archives.'),
  artifact: z.array(z.file()).optional().describe(ARTIFACTS),
});

export interface UploadedFile {
  readonly name: string;
  readonly kind: SourceKind;
  readonly bytes: Uint8Array;
}

export interface Upload {
  readonly metadata: UploadMetadata;
  readonly files: readonly UploadedFile[];
}

/** Reads an upload in JSON. Throws `invalid-input` if it does not match the schema. */
export function readJsonUpload(body: unknown): Upload {
  const { metadata, logs, reports, artifacts } = readInput('The upload', JsonUpload, body);
  const files = [
    ...logs.map((file) => toUploadedFile(file, 'log')),
    ...reports.map((file) => toUploadedFile(file, 'report')),
    ...artifacts.map((file) => toUploadedFile(file, 'artifact')),
  ];
  return { metadata, files: withDistinctNames(files) };
}

/** Reads the metadata part of a form: JSON text, or an object if the form's parser has parsed it. */
export function readMetadata(value: unknown): UploadMetadata {
  return readInput(
    'The metadata',
    UploadMetadata,
    typeof value === 'string' ? parseJson('The metadata', value) : value,
  );
}

/**
 * Gives every file a distinct name, because files with the same name would replace each other in the archive.
 * A log without a name gets one. The extension `.gz` is removed.
 */
export function withDistinctNames(files: readonly UploadedFile[]): UploadedFile[] {
  const taken = new Set<string>();
  return files.map((file) => {
    const read = createShortTextSchema(200).safeParse(file.name.replace(/\.gz$/i, ''));
    const base = read.success ? read.data : file.kind;
    let name = base;
    for (let count = 2; taken.has(name); count++) name = `${base} (${count})`;
    taken.add(name);
    return { ...file, name };
  });
}

/** Creates the build that the metadata describe. */
export function toNewBuild(metadata: UploadMetadata): NewBuild {
  const { repository, pipeline, queuedAt, ...known } = metadata;
  const times = {
    queuedSeconds: findSecondsBetween(queuedAt, metadata.startedAt),
    startedAt: toUtc(metadata.startedAt),
    finishedAt: toUtc(metadata.finishedAt),
  };
  return createSparseBuild({
    repository,
    pipeline,
    ...omitUndefined(known),
    number: String(metadata.number),
    ...times,
  });
}

function toUploadedFile(file: UploadedText, kind: SourceKind): UploadedFile {
  const bytes =
    file.base64 === undefined ? Buffer.from(file.text ?? '', 'utf8') : Buffer.from(file.base64, 'base64');
  return { name: file.name, kind, bytes };
}

export interface PreparedSources {
  /** The decoded and masked texts. */
  readonly sources: readonly SourceText[];
  /** The test results from the reports, with names that can be stored. */
  readonly testResults: readonly TestResult[];
  /** The digests of own secrets in the files. */
  readonly own: readonly string[];
}

/**
 * Decodes and masks uploaded files, opens archives, and reads the reports, before anything is stored. An
 * unreadable file does not affect the others: it is left out or stored in part, with a note on the first
 * source. Throws TriageError if the decompressed files together are larger than `maxBytes`. If no file is
 * readable, throws the error of the first one.
 */
export async function prepareSources(
  files: readonly UploadedFile[],
  maxBytes: number,
  masker: Masker,
  { decode, openArtifact, readReports }: UploadReaders = AT_ONCE,
): Promise<PreparedSources> {
  const decoded: SourceText[] = [];
  const refused: TriageError[] = [];
  const taken = new Set<string>();
  let left = maxBytes;
  const room = createArtifactRoom(maxBytes);
  for (const file of files) {
    const opened = await open(file).catch((error: unknown) => {
      if (!(error instanceof TriageError) || error.code === 'too-large') throw error;
      refused.push(error);
      return [];
    });
    for (const source of opened) {
      left -= await countBytes(source.text);
      decoded.push({ ...source, name: chooseDistinctName(source.name, taken) });
    }
  }
  // All files are masked together, so that a secret that is found in one file is hidden in every other.
  const masked = await masker.maskAll(decoded.map(({ text }) => text));
  const sources = decoded.map((source, at) => ({ ...source, text: masked[at]?.text ?? '' }));
  const reports = await readReports(sources.filter(({ kind }) => kind === 'report'));
  // One build may have any number of reports.
  const results = boundResults(reports.flatMap((report) => report.testResults));
  const testResults = await mapInTurns(results.kept, toStorableResult);
  const isLogged = sources.some(({ kind, text }) => kind !== 'report' && text.trim() !== '');
  // If nothing is readable, the sender must correct the upload.
  if (!isLogged && testResults.length === 0) {
    const broken = refused[0]?.message ?? reports.flatMap(({ notes }) => notes)[0];
    if (refused[0] !== undefined && sources.length === 0) throw refused[0];
    if (broken !== undefined) throw new TriageError('invalid-input', broken);
  }
  const [first, ...rest] = sources;
  const notes = refused.map(({ message }) => `Skipped: ${message}`);
  return {
    sources: first === undefined ? [] : [{ ...first, notes: [...first.notes, ...notes] }, ...rest],
    testResults,
    own: collectOwnSecrets(masked),
  };

  async function open({ name, bytes, kind }: UploadedFile): Promise<SourceText[]> {
    if (kind === 'artifact') return openArtifact(name, bytes, room);
    return decode(name, bytes, kind, { maxBytes: Math.max(1, left) });
  }
}

/** The functions that decode uploaded files and read their reports. Long work runs in a thread. */
export type UploadReaders = Pick<LogThreads, 'decode' | 'openArtifact' | 'readReports'>;

const AT_ONCE: UploadReaders = {
  decode: decodeSources,
  openArtifact,
  readReports: async (reports) => reports.map(({ name, text }) => readResults(name, text)),
};

/** The number of characters that are counted before other work gets a turn. */
const COUNTED_AT_ONCE = 1 << 22;

async function countBytes(text: string): Promise<number> {
  let bytes = 0;
  for (let at = 0; at < text.length; at += COUNTED_AT_ONCE) {
    bytes += Buffer.byteLength(text.slice(at, at + COUNTED_AT_ONCE));
    if (text.length > COUNTED_AT_ONCE) await nextTurn();
  }
  return bytes;
}

/**
 * Returns a name that is not taken. Names in an archive come from the sender, and files with the same name
 * would replace each other.
 */
function chooseDistinctName(name: string, taken: Set<string>): string {
  const base = toShown(name).slice(0, 500);
  let distinct = base;
  for (let count = 2; taken.has(distinct); count++) distinct = `${base} (${count})`;
  taken.add(distinct);
  return distinct;
}

/** Throws `invalid-input` if a failed build contains nothing to read. */
export function requireSomethingToRead({ sources, testResults }: PreparedSources): void {
  if (testResults.length > 0 || sources.some((source) => source.text.trim() !== '')) return;
  const names = sources.map((source) => source.name).join(', ');
  const what = names === '' ? 'The upload has no log or report' : `No content in ${names}: empty`;
  throw new TriageError(
    'invalid-input',
    `${what}. A failed build needs at least one log with text, or one report with tests.`,
  );
}

function toStorableResult(result: TestResult): TestResult {
  return {
    ...result,
    name: toStorable(result.name),
    suite: result.suite === null ? null : toStorable(result.suite),
    file: result.file === null ? null : toStorable(result.file),
    ...(result.runner !== undefined && { runner: toStorable(result.runner) }),
  };
}
