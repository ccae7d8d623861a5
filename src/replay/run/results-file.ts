import { type FileHandle, open, stat } from 'node:fs/promises';
import { CATEGORIES } from '../../domain/category.ts';
import { getErrorMessage, getErrorReason, TriageError } from '../../domain/errors.ts';
import { streamNumberedLines } from '../cases/dataset.ts';
import { CaseResult } from './results.ts';

const PIECE = 65_536;
/** The file mode of results. Only the owner has access, because they quote logs. */
const OWNER_ONLY = 0o600;

export type ResultsFile = ReturnType<typeof openResultsFile>;

export async function createResults(path: string): Promise<ResultsFile> {
  const handle = await openFile(path, 'w');
  // A pipe or device has no positions; a file is written by position.
  return openResultsFile(path, handle, (await handle.stat()).isFile() ? 0 : null);
}

/**
 * Opens the file of an earlier run to continue after its last complete line. An incomplete last line is
 * overwritten. Creates the file if it does not exist.
 */
export async function openResumeResults(path: string): Promise<ResultsFile> {
  // 'a+' creates the file if it does not exist.
  await (await openFile(path, 'a+')).close();
  const handle = await openFile(path, 'r+');
  const whole = await countWholeLines(handle);
  await handle.truncate(whole);
  return openResultsFile(path, handle, whole);
}

/** Reads every result of a file, in its order. Throws with the line if it is not a result. */
export async function* readResultLines(path: string): AsyncGenerator<CaseResult> {
  for await (const { line, text } of streamNumberedLines(path)) {
    yield readLine(text, `${path}, line ${line}`);
  }
}

/** Opens a results file that grows by one line for each case. It always contains only complete lines. */
function openResultsFile(path: string, handle: FileHandle, start: number | null) {
  let end = start;
  const earlier = start === null || start === 0 ? null : readResultLines(path);
  return {
    path,
    /**
     * Returns the lines that an earlier run wrote, in their order, one at a time, and null after the last
     * one.
     */
    async next(): Promise<CaseResult | null> {
      const read = await earlier?.next();
      return read === undefined || read.done === true ? null : read.value;
    },
    /** Appends a result. If the disk is full, rejects and leaves the file as it was. */
    async append(result: CaseResult): Promise<void> {
      const bytes = Buffer.from(`${JSON.stringify(result)}\n`);
      try {
        await writeAll(handle, bytes, end);
      } catch (cause) {
        if (end !== null) await handle.truncate(end).catch(() => undefined);
        throw createUnwrittenError(
          path,
          cause,
          ' Its content is intact; free some space and continue with --resume.',
        );
      }
      if (end !== null) end += bytes.length;
    },
    close: () => handle.close(),
  };
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number | null): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    const { bytesWritten } = await handle.write(
      bytes,
      at,
      bytes.length - at,
      position === null ? null : position + at,
    );
    at += bytesWritten;
  }
}

/**
 * Creates the error for a file that cannot be written any more. `advice` is a sentence that says what to do.
 */
export function createUnwrittenError(path: string, cause: unknown, advice = ''): TriageError {
  return new TriageError(
    'storage-failed',
    `${path} cannot be written further: ${getErrorReason(cause)}.${advice}`,
    { cause },
  );
}

/**
 * Returns the number of bytes up to the end of the last complete line. Anything after it was left by a
 * crashed process.
 */
export async function countWholeLines(handle: FileHandle): Promise<number> {
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

async function openFile(path: string, flags: string): Promise<FileHandle> {
  return open(path, flags, OWNER_ONLY).catch((cause: unknown) => {
    throw new TriageError('not-found', `--out: ${path} cannot be written: ${getErrorMessage(cause)}.`, {
      cause,
    });
  });
}

/** One run of a set of cases, read from its results file. */
export interface RunResults {
  readonly path: string;
  /** The results by id, in the order of the file. */
  readonly results: ReadonlyMap<string, CaseResult>;
}

/**
 * Reads the file that `replay --out` wrote. Throws with the file and line if any line is invalid, because an
 * incomplete file would be compared on other cases.
 */
export async function readResults(path: string): Promise<RunResults> {
  if (!(await isFile(path))) throw new TriageError('not-found', `${path} does not exist.`);
  const results = new Map<string, CaseResult>();
  const lines = new Map<string, number>();
  for await (const { line, text } of streamNumberedLines(path)) {
    const result = withoutTexts(readLine(text, `${path}, line ${line}`));
    const { id } = result;
    const earlier = lines.get(id);
    if (earlier !== undefined)
      throw new TriageError(
        'invalid-input',
        `${path}, line ${line}: the case ${id} was already on line ${earlier}.`,
      );
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
    const message = `${where} is not JSON: ${getErrorMessage(cause)}. Was the run that wrote it interrupted?`;
    throw new TriageError('invalid-input', message, { cause });
  }
  const parsed = CaseResult.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new TriageError(
      'invalid-input',
      `${where}, field ${issue?.path.join('.') || '(row)'}: ${issue?.message}`,
    );
  }
  const { category } = parsed.data;
  if (category !== null && !CATEGORIES.some((known) => known === category))
    throw new TriageError(
      'invalid-input',
      `${where}, field category: ${category} is not one of ${CATEGORIES.join(', ')}.`,
    );
  return parsed.data;
}

/** Removes the texts of a result, because several sets of a hundred thousand results must fit in memory. */
function withoutTexts(result: CaseResult): CaseResult {
  const excerpts = result.excerpts.map((excerpt) => ({ ...excerpt, text: '', reason: '' }));
  return {
    ...result,
    excerpts,
    messages: [],
    claims: [],
    failingTests: [],
    rootCause: null,
    fixRecommendation: null,
    analyses: [],
  };
}
