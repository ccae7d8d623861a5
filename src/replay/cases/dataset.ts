import { createReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { z } from 'zod';
import type { SourceText } from '../../domain/build.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';

import { decodeSources } from '../../log/decode/archive.ts';
import { createTooLargeError } from '../../log/decode/decode.ts';
import {
  type BadCase,
  type CaseLimits,
  type CaseOutcome,
  type CaseTexts,
  DatasetRow,
  type ReplayCase,
} from './case.ts';

/** A row, or the reason why it cannot be read. An invalid row never prevents reading the others. */
export type RowOutcome =
  | { readonly line: number; readonly row: DatasetRow; readonly value: unknown }
  | BadCase;

/** Yields every case of a JSONL file, in order. */
export async function* readDatasetCases(path: string): AsyncGenerator<CaseOutcome> {
  for await (const outcome of readDataset(path)) {
    if ('error' in outcome) yield outcome;
    else
      yield {
        line: outcome.line,
        one: { row: outcome.row, load: (limits) => readTexts(outcome.row, path, limits) },
      };
  }
}

/**
 * Streams a JSONL file line by line. If several rows have the same id, the first one is valid. `value` is the
 * row with all its fields.
 */
export async function* readDataset(path: string): AsyncGenerator<RowOutcome> {
  const seen = new Map<string, number>();
  for await (const { line, text } of streamNumberedLines(path)) {
    const outcome = text === null ? createTooLong(line) : parseRow(text, line);
    const first = 'row' in outcome ? seen.get(outcome.row.id) : undefined;
    if ('row' in outcome && first !== undefined) yield createDuplicate(outcome.row.id, line, first);
    else {
      if ('row' in outcome) seen.set(outcome.row.id, line);
      yield outcome;
    }
  }
}

function createTooLong(line: number): BadCase {
  return {
    line,
    id: null,
    error: `line ${line} is longer than ${MAX_LINE_BYTES / 1024 / 1024} MB, the limit for a row`,
  };
}

function createDuplicate(id: string, line: number, first: number): BadCase {
  return {
    line,
    id,
    field: 'id',
    error: `line ${line}, field id: "${id.slice(0, 200)}" is already the ID of line ${first}`,
  };
}

function parseRow(text: string, line: number): RowOutcome {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { line, id: null, error: `line ${line} is not JSON: ${getErrorMessage(error)}` };
  }
  const parsed = DatasetRow.safeParse(value);
  if (parsed.success) return { line, row: parsed.data, value };
  const { path, reason } = findProblem(parsed.error, value);
  const all = listProblems(parsed.error, value);
  const id = z.object({ id: z.string() }).safeParse(value);
  const error = `line ${line}, field ${path}: ${reason}`;
  return {
    line,
    id: id.success ? id.data.id : null,
    field: path,
    error,
    ...(all.length > 1 ? { problems: all } : {}),
  };
}

/**
 * Reads the texts of a row, all together within the limit: its logs by their names, or else its log, its
 * stack trace or its snippets; then its report and further files. Throws if there is no text, a file cannot
 * be read, two logs have the same name, or a failure names a log that does not exist.
 */
export async function readTexts(
  row: DatasetRow,
  datasetPath: string,
  limits: CaseLimits,
): Promise<CaseTexts> {
  const folder = dirname(datasetPath);
  const read = (path: string, maxBytes = limits.maxBytes) => readFileTexts(folder, path, maxBytes);
  checkLogNames(row);
  // Each of up to two thousand small files of an untrusted row may unpack to the limit, so the files share
  // it.
  let room = limits.maxBytes;
  const readWithin = async (path: string) => {
    const texts = await read(path, Math.max(0, room)).catch((error: unknown) => {
      const isTooLarge = error instanceof TriageError && error.code === 'too-large';
      throw isTooLarge && room < limits.maxBytes
        ? createTooLargeError(`Row ${row.id} with ${path}`, limits.maxBytes)
        : error;
    });
    room -= countCharacters(texts);
    return texts;
  };
  const sources: SourceText[] = [];
  for (const { name, log_path } of row.logs ?? [])
    sources.push({ ...joinLogs(log_path, await readWithin(log_path)), name });
  if (sources.length === 0)
    sources.push(row.log_path ? joinLogs(row.log_path, await readWithin(row.log_path)) : toInlineText(row));
  for (const path of [row.report_path ?? [], row.more_log_paths ?? []].flat())
    append(sources, await readWithin(path));
  const green =
    limits.green && row.pass_log_path
      ? joinLogs(row.pass_log_path, await read(row.pass_log_path))
      : undefined;
  const { repo_path: clone } = row;
  return {
    sources,
    greenText: green?.text,
    ...(clone ? { repository: isAbsolute(clone) ? clone : join(folder, clone) } : {}),
  };
}

function checkLogNames({ id, logs, failures }: DatasetRow): void {
  if (logs == null) return;
  const names = new Set(logs.map(({ name }) => name));
  if (names.size < logs.length)
    throw new TriageError('invalid-input', `row ${id}: two of its logs have the same name`);
  const at = failures?.findIndex(({ log }) => log != null && !names.has(log)) ?? -1;
  if (at === -1) return;
  const message = `row ${id}, field failures.${at}.log: "${failures?.[at]?.log}" is not the name of one of its logs`;
  throw new TriageError('invalid-input', message);
}

/** Counts characters. A text has at least as many bytes. */
function countCharacters(texts: readonly SourceText[]): number {
  return texts.reduce((sum, { text }) => sum + text.length, 0);
}

async function readFileTexts(folder: string, path: string, maxBytes: number): Promise<SourceText[]> {
  return await readLog(isAbsolute(path) ? path : join(folder, path), maxBytes);
}

/** Joins several logs of an archive, because a row has only one log. */
function joinLogs(path: string, texts: readonly SourceText[]): SourceText {
  const [first, ...rest] = texts;
  if (first === undefined) throw new TriageError('invalid-input', `${path} contains no log`);
  return rest.length === 0 ? first : { ...first, text: texts.map(({ text }) => text).join('\n') };
}

function toInlineText(row: DatasetRow): SourceText {
  const text = row.log ?? row.stack_trace ?? row.snippets?.map((snippet) => snippet.log).join('\n');
  if (text === undefined)
    throw new TriageError(
      'invalid-input',
      `row ${row.id} has neither logs, log, log_path, stack_trace nor snippets`,
    );
  return { name: 'log', kind: 'log', text, notes: [] };
}

/**
 * An error in a row: its place (`expected_lines.0.1`, or `(row)` for the whole row) and the reason, for
 * people.
 */
interface RowProblem {
  readonly path: string;
  readonly reason: string;
}

const LABELS: ReadonlySet<string> = new Set(['category', 'also_ok', 'category_alternatives']);
const SHOWN = 60;

/** Returns the first error. */
export function findProblem(error: z.ZodError, value: unknown): RowProblem {
  return listProblems(error, value)[0] ?? { path: '(row)', reason: error.message };
}

/**
 * Lists all errors, in the order of the row. A label outside the taxonomy is quoted next to the allowed ones.
 */
function listProblems(error: z.ZodError, value: unknown): RowProblem[] {
  return error.issues.map((issue) => {
    const path = issue.path.join('.') || '(row)';
    const given = isLabel(issue.path) ? issue.path.reduce(getValue, value) : undefined;
    if (typeof given !== 'string') return { path, reason: issue.message };
    return {
      path,
      reason: `"${given.slice(0, SHOWN)}" is not a category; use one of ${CATEGORIES.join(', ')}`,
    };
  });
}

function isLabel([field]: readonly PropertyKey[]): boolean {
  return typeof field === 'string' && LABELS.has(field);
}

function getValue(container: unknown, key: PropertyKey): unknown {
  if (typeof container !== 'object' || container === null) return undefined;
  return Object.getOwnPropertyDescriptor(container, key)?.value;
}

/**
 * Reads the texts of a log file, which is plain, compressed or an archive. Throws TriageError. A file above
 * the limit is not read at all.
 */
export async function readLog(path: string, maxBytes: number): Promise<SourceText[]> {
  const name = basename(path).replace(/\.(?:gz|zst)$/, '');
  const file = await stat(path).catch((cause: unknown) => {
    throw new TriageError('not-found', `${path} is missing or cannot be read.`, { cause });
  });
  // A device or pipe may have no end.
  if (!file.isFile()) throw new TriageError('invalid-input', `${path} is not a file.`);
  if (file.size > maxBytes) throw createTooLargeError(name, maxBytes);
  return await decodeSources(name, await readFile(path), 'log', { maxBytes });
}

const FIELDS = ['log_path', 'pass_log_path', 'more_log_paths', 'report_path', 'logs'] as const;

/**
 * Yields the cases of an external data set whose logs lie within `root`. The author of the data set must not
 * be able to export files of this machine. A row that names a log outside, also through a link, becomes an
 * outcome with an error. Missing files are reported by the reader.
 */
export async function* listConfined(
  outcomes: AsyncIterable<CaseOutcome>,
  dataset: string,
  root: string,
): AsyncGenerator<CaseOutcome> {
  const inside = await realpath(root);
  for await (const outcome of outcomes) {
    const outer = 'error' in outcome ? null : await findOutside(outcome.one, dataset, inside);
    if ('error' in outcome || outer === null) yield outcome;
    else {
      const reason = `${outer.path} is outside of ${root}; --logs-in names the folder that logs may be in`;
      const { line } = outcome;
      yield {
        line,
        id: outcome.one.row.id,
        field: outer.field,
        error: `line ${line}, field ${outer.field}: ${reason}`,
      };
    }
  }
}

async function findOutside(
  { row }: ReplayCase,
  dataset: string,
  inside: string,
): Promise<{ field: string; path: string } | null> {
  for (const field of FIELDS) {
    for (const named of [row[field] ?? []].flat()) {
      const path = typeof named === 'string' ? named : named.log_path;
      const full = await realpath(isAbsolute(path) ? path : join(dirname(dataset), path)).catch(() => null);
      const way = full === null ? '' : relative(inside, full);
      if (way === '..' || way.startsWith('../') || isAbsolute(way)) return { field, path };
    }
  }
  return null;
}

/** A line of a file, 1-based, without its end; `text` is null if it is too long to be a row. */
export interface FileLine {
  readonly line: number;
  readonly text: string | null;
}

/**
 * The maximum size of a row with its log in bytes. A longer line is refused, because it would fill the
 * memory.
 */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
const LINE_FEED = 10;

/** Streams the lines of a file that are not blank, one in memory at a time. Throws `not-found`. */
export async function* streamNumberedLines(
  path: string,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<FileLine> {
  let line = 1;
  let buffered: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= maxLineBytes) buffered.push(part);
    else buffered = [];
  };
  const ended = (): FileLine | null => {
    const text = bytes > maxLineBytes ? null : Buffer.concat(buffered).toString('utf8');
    const done = { line, text: line === 1 && text !== null ? text.replace(/^\ufeff/, '') : text };
    line++;
    buffered = [];
    bytes = 0;
    return done.text !== null && done.text.trim() === '' ? null : done;
  };
  for await (const chunk of readChunks(path)) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      take(chunk.subarray(from, end));
      from = end + 1;
      const done = ended();
      if (done !== null) yield done;
    }
    take(chunk.subarray(from));
  }
  const last = ended();
  if (last !== null) yield last;
}

async function* readChunks(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path)) if (Buffer.isBuffer(chunk)) yield chunk;
  } catch (cause) {
    throw new TriageError('not-found', `${path} cannot be read: ${getErrorMessage(cause)}.`, { cause });
  }
}
