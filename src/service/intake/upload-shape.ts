import { z } from 'zod';
import type { NewBuild, SourceKind } from '../../domain/build.ts';
import { readInput } from '../../domain/errors.ts';
import { attemptNumber, parseJson, pullRequestNumber, shortText, toUtc, webAddress } from '../../providers/read-input.ts';

const optionalText = shortText().nullish();

/** What an uploader says about the build. */
export const UploadMetadata = z
  .object({
    repository: shortText(300).describe('`owner/name`, or another name for the source.'),
    pipeline: shortText(500).describe('Workflow, job or pipeline name.'),
    number: z.union([shortText(100), z.int().min(0)]).describe('Build number, as shown by the CI system.'),
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
    url: webAddress().nullish(),
    startedAt: z.iso.datetime({ offset: true }).nullish(),
    finishedAt: z.iso.datetime({ offset: true }).nullish(),
  })
  .meta({
    examples: [{ repository: 'shop/api', pipeline: 'ci', number: 812, branch: 'main', commit: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b' }],
  });
export type UploadMetadata = z.infer<typeof UploadMetadata>;

const UploadedText = z
  .object({
    name: shortText(200),
    text: z.string().optional(),
    base64: z
      .string()
      // One character class: a longer pattern overflows the engine's stack on large files.
      .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'is not base64')
      .optional()
      .describe('For gzip, or bytes that are not UTF-8.'),
  })
  .refine((file) => (file.text === undefined) !== (file.base64 === undefined), 'needs either text or base64');
type UploadedText = z.infer<typeof UploadedText>;

/** Of one kind, in one upload. */
export const MAX_FILES = 200;
const ARTIFACTS =
  'Additional files: server logs, crash reports, debug logs, plain or in archives. Files that show a failure or that a log refers to are read.';

/** The upload as JSON. */
export const JsonUpload = z
  .object({
    metadata: UploadMetadata,
    logs: z.array(UploadedText).max(MAX_FILES).default([]),
    reports: z
      .array(UploadedText)
      .max(MAX_FILES)
      .default([])
      .describe('Test reports: JUnit XML, TRX, NUnit, xUnit.net, TestNG, TAP, CTRF, `go test -json` and others.'),
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

/** The upload as a form; only for the API description, the parts are read as they come. */
export const FormUpload = z.object({
  metadata: UploadMetadata.describe('JSON.'),
  log: z.array(z.file()).optional().describe('Any number of logs: plain, gzip or Zstandard, or zip and tar archives of logs and reports.'),
  report: z.array(z.file()).optional().describe('Any number of test reports of any known format, plain, compressed or in archives.'),
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

/** Reads the JSON form of an upload. Throws `invalid-input` for what does not fit. */
export function readJsonUpload(body: unknown): Upload {
  const { metadata, logs, reports, artifacts } = readInput('The upload', JsonUpload, body);
  const files = [
    ...logs.map((file) => fileOf(file, 'log')),
    ...reports.map((file) => fileOf(file, 'report')),
    ...artifacts.map((file) => fileOf(file, 'artifact')),
  ];
  return { metadata, files: withDistinctNames(files) };
}

/** Reads the metadata part of a form: JSON text, or an object where the form's parser has read it already. */
export function readMetadata(value: unknown): UploadMetadata {
  return readInput('The metadata', UploadMetadata, typeof value === 'string' ? parseJson('The metadata', value) : value);
}

/** Two files of one name would replace each other in the archive; a log of no name gets one. `.gz` goes, as the compression does. */
export function withDistinctNames(files: readonly UploadedFile[]): UploadedFile[] {
  const taken = new Set<string>();
  return files.map((file) => {
    const read = shortText(200).safeParse(file.name.replace(/\.gz$/i, ''));
    const base = read.success ? read.data : file.kind;
    let name = base;
    for (let count = 2; taken.has(name); count++) name = `${base} (${count})`;
    taken.add(name);
    return { ...file, name };
  });
}

/** The build that the metadata describes. */
export function buildOf(metadata: UploadMetadata): NewBuild {
  return {
    provider: 'upload',
    repository: metadata.repository,
    pipeline: metadata.pipeline,
    number: String(metadata.number),
    attempt: metadata.attempt,
    externalId: null,
    job: metadata.job ?? null,
    branch: metadata.branch ?? null,
    commit: metadata.commit ?? null,
    author: metadata.author ?? null,
    pullRequest: metadata.pullRequest ?? null,
    url: metadata.url ?? null,
    status: metadata.status,
    startedAt: toUtc(metadata.startedAt),
    finishedAt: toUtc(metadata.finishedAt),
  };
}

function fileOf(file: UploadedText, kind: SourceKind): UploadedFile {
  const bytes = file.base64 === undefined ? Buffer.from(file.text ?? '', 'utf8') : Buffer.from(file.base64, 'base64');
  return { name: file.name, kind, bytes };
}
