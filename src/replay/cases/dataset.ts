import { createReadStream } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { SourceText } from '../../domain/build.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { CaseLimits, CaseOutcome, CaseTexts } from './case.ts';
import { readLog } from './read-log.ts';
import { DatasetRow } from './row.ts';
import { problemOf } from './row-problem.ts';

/** A row as read, or what is wrong with it: a bad row never stops the rest. */
export type RowOutcome =
  | { readonly line: number; readonly row: DatasetRow }
  | { readonly line: number; readonly id: string | null; readonly error: string };

/** Every case of a JSONL file, in its order. */
export async function* datasetCases(path: string): AsyncGenerator<CaseOutcome> {
  for await (const outcome of readDataset(path)) {
    if ('error' in outcome) yield outcome;
    else yield { line: outcome.line, one: { row: outcome.row, load: (limits) => textsOf(outcome.row, path, limits) } };
  }
}

/** Streams a JSONL file, line by line. */
export async function* readDataset(path: string): AsyncGenerator<RowOutcome> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  let line = 0;
  for await (const text of lines) {
    line++;
    if (text.trim() !== '') yield parseRow(text, line);
  }
}

function parseRow(text: string, line: number): RowOutcome {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { line, id: null, error: `line ${line} is not JSON: ${messageOf(error)}` };
  }
  const parsed = DatasetRow.safeParse(value);
  if (parsed.success) return { line, row: parsed.data };
  const { path, reason } = problemOf(parsed.error, value);
  const id = z.object({ id: z.string() }).safeParse(value);
  return { line, id: id.success ? id.data.id : null, error: `line ${line}, field ${path}: ${reason}` };
}

/** The texts of a row: its log, else its stack trace, else its snippets. Throws where it has none or a file cannot be read. */
export async function textsOf(row: DatasetRow, datasetPath: string, limits: CaseLimits): Promise<CaseTexts> {
  const folder = dirname(datasetPath);
  const source = row.log_path ? await fileText(folder, row.log_path, limits.maxBytes) : inlineText(row);
  const green = limits.green && row.pass_log_path ? await fileText(folder, row.pass_log_path, limits.maxBytes) : undefined;
  return { sources: [source], greenText: green?.text };
}

async function fileText(folder: string, path: string, maxBytes: number): Promise<SourceText> {
  const full = isAbsolute(path) ? path : join(folder, path);
  const [first, ...rest] = await readLog(full, maxBytes);
  if (first === undefined) throw new TriageError('invalid-input', `${path} holds no log`);
  // A row has one log: several of an archive are read as one.
  return rest.length === 0 ? first : { ...first, text: [first, ...rest].map(({ text }) => text).join('\n') };
}

function inlineText(row: DatasetRow): SourceText {
  const text = row.log ?? row.stack_trace ?? row.snippets?.map((snippet) => snippet.log).join('\n');
  if (text === undefined) throw new TriageError('invalid-input', `row ${row.id} has neither log, log_path, stack_trace nor snippets`);
  return { name: 'log', kind: 'log', text, notes: [] };
}
