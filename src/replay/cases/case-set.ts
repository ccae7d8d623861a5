import { gzipSync } from 'node:zlib';
import type { Category } from '../../domain/category.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Masker } from '../../log/mask/mask.ts';
import { type CaseOutcome, type CaseTexts, DatasetRow, type ReplayCase } from './case.ts';
import { hashOf } from './choose.ts';
import { SET_FILE } from './folder.ts';
import type { NewFolder } from './new-folder.ts';

interface CaseSetOptions {
  readonly masker: Pick<Masker, 'maskAll'>;
  /** Of one case's texts, decompressed. */
  readonly maxLogBytes: number;
}

interface LeftOutCase {
  /** 1-based, in a file the line; 0 where there is none. */
  readonly line: number;
  readonly id: string | null;
  readonly field: string | null;
  readonly reason: string;
}

export interface CaseSetSummary {
  readonly cases: number;
  readonly logs: number;
  readonly secrets: number;
  readonly categories: Readonly<Partial<Record<Category | 'none', number>>>;
  readonly leftOut: number;
  readonly firstLeftOut: readonly LeftOutCase[];
}

const MAX_TOLD = 1_000;
/** "Unknown": the byte of gzip's header that differs between operating systems. */
const GZIP_SYSTEM = 9;
const ANY_SYSTEM = 0xff;

/**
 * Writes cases as a set: `cases.jsonl` and `logs/*.gz`, everything masked, in the order given; the same cases make the same bytes. A
 * case whose log is in its row keeps it there. What cannot be read is left out and told. The folder is committed, or discarded
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

/** A case as it may be handed on: what is known of it, and its texts, with every secret hidden. */
interface MaskedCase {
  readonly row: DatasetRow;
  /** Names of what is true never show what is hidden in the log: they are masked with it. */
  readonly texts: readonly string[];
  readonly greenText: string | undefined;
  readonly secrets: number;
  /** The id itself held something to hide: what is called so cannot be handed on. */
  readonly idHidden: boolean;
}

const WORDS = ['project', 'source', 'group', 'step', 'root_cause', 'fix', 'decided_by'] as const;
const LISTS = ['failing_tests', 'faulty_files', 'required_mentions', 'forbidden_mentions'] as const;

/** Masks the log, the green log and every free text of the row as one run: what is found in one is hidden in all, with one name. */
async function maskCase(row: DatasetRow, { sources, greenText }: CaseTexts, masker: Pick<Masker, 'maskAll'>): Promise<MaskedCase> {
  const words = WORDS.map((field) => row[field] ?? '');
  const lists = LISTS.map((field) => row[field] ?? []);
  const logs = [...sources.map(({ text }) => text), greenText ?? ''];
  const masked = await masker.maskAll([...logs, row.id, ...words, ...lists.flat()]);
  const texts = masked.map(({ text }) => text);
  const take = (count: number) => texts.splice(0, count);
  const [held, green, [id]] = [take(sources.length), take(1)[0], take(1)];
  const labels = Object.fromEntries([
    ...WORDS.map((field) => [field, take(1)[0]] as const).filter(([field]) => row[field] != null),
    ...LISTS.map((field, at) => [field, take(lists[at]?.length ?? 0)] as const).filter(([field]) => row[field] != null),
  ]);
  return {
    // Parsed again, so that its fields stand in one order whatever the case came from.
    row: DatasetRow.parse({ ...row, ...labels }),
    texts: held,
    greenText: greenText === undefined ? undefined : green,
    secrets: masked.reduce((sum, { count }) => sum + count, 0),
    idHidden: id !== row.id,
  };
}
