import { type FileHandle, open, stat } from 'node:fs/promises';
import { z } from 'zod';
import { CATEGORIES } from '../../domain/category.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { numberedLines } from '../cases/numbered-lines.ts';
import { CaseResult, parseResult } from './result.ts';

/** A results file that grows a line a case; whatever happens, it holds whole lines only. */
export interface ResultsFile {
  readonly path: string;
  /** Lines that an earlier run wrote, in their order, one at a time; null when they are all told. */
  next(): Promise<CaseResult | null>;
  /** Rejects where the disk is full, with the file as it was before. */
  append(result: CaseResult): Promise<void>;
  close(): Promise<void>;
}

const PIECE = 65_536;
/** They quote logs: a new file is its owner's alone. */
const OWNER_ONLY = 0o600;

/** Opens a new file, over an old one. */
export async function createResults(path: string): Promise<ResultsFile> {
  const handle = await opened(path, 'w');
  // A pipe or a device has no positions; a file is written by them.
  return resultsFile(path, handle, (await handle.stat()).isFile() ? 0 : null);
}

/** Opens a file that an earlier run left, to go on behind it; a torn last line is dropped. A file that is not there begins. */
export async function resumeResults(path: string): Promise<ResultsFile> {
  // 'a+' makes it where it is missing; writing goes by position, so that a torn end is written over.
  await (await opened(path, 'a+')).close();
  const handle = await opened(path, 'r+');
  const whole = await wholeLines(handle);
  await handle.truncate(whole);
  return resultsFile(path, handle, whole);
}

/** Every result of a file, in its order. Throws with the line where one is none. */
export async function* readResultLines(path: string): AsyncGenerator<CaseResult> {
  for await (const { line, text } of numberedLines(path)) {
    const result = text === null ? null : parseResult(text);
    if (result === null) throw new TriageError('invalid-input', `${path}, line ${line} is not a replay result.`);
    yield result;
  }
}

function resultsFile(path: string, handle: FileHandle, start: number | null): ResultsFile {
  let end = start;
  const earlier = start === null || start === 0 ? null : readResultLines(path);
  return {
    path,
    async next() {
      const read = await earlier?.next();
      return read === undefined || read.done === true ? null : read.value;
    },
    async append(result) {
      const bytes = Buffer.from(`${JSON.stringify(result)}\n`);
      try {
        await writeAll(handle, bytes, end);
      } catch (cause) {
        if (end !== null) await handle.truncate(end).catch(() => undefined);
        throw unwritten(path, cause, ' Its content is intact; free some space and continue with --resume.');
      }
      if (end !== null) end += bytes.length;
    },
    close: () => handle.close(),
  };
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number | null): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, position === null ? null : position + at);
    at += bytesWritten;
  }
}

/** For a file that takes no more; `advice` is what to do, a sentence. */
export function unwritten(path: string, cause: unknown, advice = ''): TriageError {
  const isFull = cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT');
  const message = `${path} cannot be written further: ${isFull ? 'the disk is full' : messageOf(cause)}.${advice}`;
  return new TriageError('storage-failed', message, { cause });
}

/** Where the last whole line of a file ends, in bytes; what is behind it a process that died has left. */
export async function wholeLines(handle: FileHandle): Promise<number> {
  let { size: end } = await handle.stat();
  while (end > 0) {
    const start = Math.max(0, end - PIECE);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    const at = buffer.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}

async function opened(path: string, flags: string): Promise<FileHandle> {
  return open(path, flags, OWNER_ONLY).catch((cause: unknown) => {
    throw new TriageError('not-found', `--out: ${path} cannot be written: ${messageOf(cause)}.`, { cause });
  });
}

/** One run of a set of cases, as its results file tells it. */
export interface RunResults {
  readonly path: string;
  /** By id, in the file's order. */
  readonly results: ReadonlyMap<string, CaseResult>;
}

/** Reads what `replay --out` wrote. Throws with the file and the line: a comparison of half a file would be one of other cases. */
export async function readResults(path: string): Promise<RunResults> {
  if (!(await isFile(path))) throw new TriageError('not-found', `${path} does not exist.`);
  const results = new Map<string, CaseResult>();
  const lines = new Map<string, number>();
  for await (const { line, text } of numberedLines(path)) {
    const result = readLine(text, `${path}, line ${line}`);
    const { id } = result;
    const earlier = lines.get(id);
    if (earlier !== undefined)
      throw new TriageError('invalid-input', `${path}, line ${line}: the case ${id} was already on line ${earlier}.`);
    lines.set(id, line);
    results.set(id, result);
  }
  if (results.size === 0) throw new TriageError('invalid-input', `${path} contains no results.`);
  return { path, results };
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}

function readLine(text: string | null, where: string): CaseResult {
  if (text === null) throw new TriageError('invalid-input', `${where} is too long to be a result.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const message = `${where} is not JSON: ${messageOf(cause)}. Was the run that wrote it interrupted?`;
    throw new TriageError('invalid-input', message, { cause });
  }
  const parsed = CaseResult.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new TriageError('invalid-input', `${where}, field ${issue?.path.join('.') || '(row)'}: ${issue?.message}`);
  }
  const { category } = parsed.data;
  if (category !== null && !CATEGORIES.some((known) => known === category))
    throw new TriageError('invalid-input', `${where}, field category: ${category} is not one of ${CATEGORIES.join(', ')}.`);
  return withoutTexts(parsed.data);
}

/** A hundred thousand results must fit in memory, several times over. */
function withoutTexts(result: CaseResult): CaseResult {
  const excerpts = result.excerpts.map((excerpt) => ({ ...excerpt, text: '', reason: '' }));
  return { ...result, excerpts, messages: [], claims: [], failingTests: [], rootCause: null, fixRecommendation: null };
}

const Setting = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What a results file was made of and with: it is beside it, and decides whether a run may go on with it. */
export const RunManifest = z.object({
  schema: z.literal(1),
  version: z.string(),
  startedAt: z.string(),
  /** In the order in which they were replayed. */
  sources: z.array(z.object({ name: z.string(), sha256: z.string().nullable(), cases: z.int().nullable() })),
  /** Everything that an answer may depend on, by its name for people. */
  settings: z.record(z.string(), Setting),
});
export type RunManifest = z.infer<typeof RunManifest>;

/** Null where the text is none. */
export function parseManifest(text: string): RunManifest | null {
  try {
    return RunManifest.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** What differs between two runs, a phrase each; empty where the later may go on with the earlier one's results. */
export function differencesOf(earlier: RunManifest, now: RunManifest): string[] {
  const differences = earlier.version === now.version ? [] : [`the version was ${earlier.version} and is now ${now.version}`];
  if (earlier.sources.length !== now.sources.length)
    differences.push(`it had ${earlier.sources.length} sources of cases, now there are ${now.sources.length}`);
  for (const [index, source] of now.sources.entries()) {
    const before = earlier.sources[index];
    if (before !== undefined && (before.sha256 !== source.sha256 || before.cases !== source.cases))
      differences.push(
        before.name === source.name ? `the cases of ${source.name} have changed` : `it had ${before.name} where ${source.name} is now`,
      );
  }
  const names = new Set([...Object.keys(earlier.settings), ...Object.keys(now.settings)]);
  for (const name of names) {
    const [before, after] = [earlier.settings[name] ?? null, now.settings[name] ?? null];
    if (before !== after) differences.push(`${name} was ${before ?? 'not set'}, now it is ${after ?? 'not set'}`);
  }
  return differences;
}
