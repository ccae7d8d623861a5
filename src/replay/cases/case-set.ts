import { gzipSync } from 'node:zlib';
import type { Category } from '../../domain/category.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { CaseOutcome, ReplayCase } from './case.ts';
import { SET_FILE } from './cases-at.ts';
import { hashOf } from './choose.ts';
import { type MaskedCase, maskCase } from './mask-case.ts';
import type { NewFolder } from './new-folder.ts';
import type { DatasetRow } from './row.ts';

export interface CaseSetOptions {
  readonly masker: Pick<Masker, 'maskAll'>;
  /** Of one case's texts, decompressed. */
  readonly maxLogBytes: number;
}

/** A case that is not in the set, and why. */
export interface LeftOutCase {
  /** 1-based, in a file the line; 0 where there is none. */
  readonly line: number;
  readonly id: string | null;
  readonly field: string | null;
  readonly reason: string;
}

export interface CaseSetSummary {
  readonly cases: number;
  /** Files beside the rows. */
  readonly logs: number;
  /** Places that were hidden. */
  readonly secrets: number;
  readonly categories: Readonly<Partial<Record<Category | 'none', number>>>;
  readonly leftOut: number;
  /** The first of them. */
  readonly firstLeftOut: readonly LeftOutCase[];
}

const MAX_TOLD = 1_000;
/** "Unknown": the byte of gzip's header that differs between operating systems. */
const GZIP_SYSTEM = 9;
const ANY_SYSTEM = 0xff;

/**
 * Writes cases as a set: `cases.jsonl` and `logs/*.gz`, everything masked, in the order given; the same cases make the same bytes. A
 * case whose log stands in its row keeps it there. What cannot be read is left out and told. The folder is committed, or discarded
 * where anything is thrown.
 */
export async function writeCaseSet(
  outcomes: AsyncIterable<CaseOutcome>,
  folder: NewFolder,
  options: CaseSetOptions,
  signal: AbortSignal,
): Promise<CaseSetSummary> {
  const tally = createTally();
  try {
    await folder.append(SET_FILE, '');
    for await (const outcome of outcomes) {
      signal.throwIfAborted();
      if ('error' in outcome) tally.leaveOut({ line: outcome.line, id: outcome.id, field: outcome.field ?? null, reason: outcome.error });
      else {
        const { row } = outcome.one;
        const masked = await readCase(outcome.one, options);
        if ('reason' in masked) tally.leaveOut({ line: outcome.line, id: masked.field === 'id' ? null : row.id, ...masked });
        else tally.add(masked, await writeCase(masked, isInline(row), folder));
      }
    }
    await folder.commit();
  } catch (error) {
    await folder.discard();
    throw error;
  }
  return tally.summary();
}

async function readCase(one: ReplayCase, options: CaseSetOptions): Promise<MaskedCase | { field: string | null; reason: string }> {
  try {
    const texts = await one.load({ maxBytes: options.maxLogBytes, green: true });
    const masked = await maskCase(one.row, texts, options.masker);
    return masked.idHidden ? { field: 'id', reason: 'the ID contains something that is masked in logs' } : masked;
  } catch (error) {
    return { field: null, reason: messageOf(error) };
  }
}

/** Whether the log of a row stands in the row itself. */
function isInline({ log_path, log, stack_trace, snippets }: DatasetRow): boolean {
  return !log_path && (log ?? stack_trace ?? snippets) != null;
}

async function writeCase({ row, texts, greenText }: MaskedCase, inline: boolean, folder: NewFolder): Promise<number> {
  const [first = '', ...more] = texts;
  const name = `logs/${fileName(row.id)}`;
  const files = new Map<string, string>();
  const keep = (file: string, text: string) => {
    files.set(file, text);
    return file;
  };
  const {
    stack_trace: _trace,
    snippets: _snippets,
    log: _log,
    log_path: _path,
    pass_log_path: _green,
    more_log_paths: _more,
    repo_path: _clone,
    ...labels
  } = row;
  const written: DatasetRow = {
    ...labels,
    ...(inline ? { log: first } : { log_path: keep(`${name}.gz`, first) }),
    ...(more.length === 0 ? {} : { more_log_paths: more.map((text, at) => keep(`${name}.${at + 2}.gz`, text)) }),
    ...(greenText === undefined ? {} : { pass_log_path: keep(`${name}.green.gz`, greenText) }),
  };
  for (const [file, text] of files) await folder.write(file, compressed(text));
  await folder.append(SET_FILE, `${JSON.stringify(written)}\n`);
  return files.size;
}

/** Told apart also where a file system takes upper and lower case for one, and among a hundred thousand ids without a plain letter. */
function fileName(id: string): string {
  const plain = id
    .replace(/[^\w.-]+/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 80);
  return `${plain}-${hashOf('file', id)}`;
}

function compressed(text: string): Buffer {
  const bytes = gzipSync(text);
  bytes[GZIP_SYSTEM] = ANY_SYSTEM;
  return bytes;
}

function createTally() {
  const categories: Partial<Record<Category | 'none', number>> = {};
  const firstLeftOut: LeftOutCase[] = [];
  let [cases, logs, secrets, leftOut] = [0, 0, 0, 0];
  return {
    add: (masked: MaskedCase, files: number) => {
      const category = masked.row.category ?? 'none';
      categories[category] = (categories[category] ?? 0) + 1;
      cases++;
      logs += files;
      secrets += masked.secrets;
    },
    leaveOut: (one: LeftOutCase) => {
      leftOut++;
      if (firstLeftOut.length < MAX_TOLD) firstLeftOut.push(one);
    },
    summary: (): CaseSetSummary => ({ cases, logs, secrets, categories, leftOut, firstLeftOut }),
  };
}
