import { gzipSync } from 'node:zlib';
import type { Category } from '../../domain/category.ts';
import { getErrorMessage } from '../../domain/errors.ts';
import type { Masker } from '../../log/mask/mask.ts';
import { maskExperiment } from '../../service/experiments.ts';
import {
  type BadCase,
  type CaseOutcome,
  type CaseTexts,
  DatasetRow,
  type ReplayCase,
  resolveProject,
} from './case.ts';
import { hashText } from './choose.ts';
import { SET_FILE } from './folder.ts';
import type { NewFolder } from './new-folder.ts';

interface CaseSetOptions {
  readonly masker: Pick<Masker, 'maskAll'>;
  /** The size limit of one case's texts, decompressed, in bytes. */
  readonly maxLogBytes: number;
}

interface LeftOutCase {
  /** The line number in the file, 1-based; 0 if there is none. */
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
/**
 * The position of the byte in gzip's header that names the operating system. It is set to "unknown", so that
 * files are the same on all systems.
 */
const GZIP_SYSTEM = 9;
const ANY_SYSTEM = 0xff;

/**
 * Writes cases as a set, `cases.jsonl` and `logs/*.gz`, masked and in the given order. The same cases give
 * the same bytes. A log that is in its row stays there. Cases that cannot be read are left out and reported.
 * The folder is committed at the end, or discarded if an error is thrown.
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
      if ('error' in outcome)
        tally.leaveOut({
          line: outcome.line,
          id: outcome.id,
          field: outcome.field ?? null,
          reason: outcome.error,
        });
      else {
        const { row } = outcome.one;
        const masked = await readCase(outcome.one, options);
        if ('reason' in masked)
          tally.leaveOut({ line: outcome.line, id: masked.field === 'id' ? null : row.id, ...masked });
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

async function readCase(
  replayCase: ReplayCase,
  options: CaseSetOptions,
): Promise<MaskedCase | { field: string | null; reason: string }> {
  try {
    const texts = await replayCase.load({ maxBytes: options.maxLogBytes, green: true });
    const masked = await maskCase(replayCase.row, texts, options.masker);
    return masked.idHidden
      ? { field: 'id', reason: 'the ID contains something that is masked in logs' }
      : masked;
  } catch (error) {
    return { field: null, reason: getErrorMessage(error) };
  }
}

function isInline({ logs, log_path, log, stack_trace, snippets }: DatasetRow): boolean {
  return logs == null && !log_path && (log ?? stack_trace ?? snippets) != null;
}

async function writeCase(
  { row, texts, greenText }: MaskedCase,
  inline: boolean,
  folder: NewFolder,
): Promise<number> {
  const named = (row.logs ?? []).map(({ name }) => name);
  const first = texts[0] ?? '';
  const more = texts.slice(Math.max(1, named.length));
  const name = `logs/${getFileName(row.id)}`;
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
    report_path: _report,
    logs: _logs,
    repo_path: _clone,
    ...labels
  } = row;
  const single = inline ? { log: first } : { log_path: keep(`${name}.gz`, first) };
  const several = {
    logs: named.map((log, at) => ({ name: log, log_path: keep(`${name}.${at + 1}.gz`, texts[at] ?? '') })),
  };
  const written: DatasetRow = {
    ...labels,
    ...(named.length === 0 ? single : several),
    ...(more.length === 0
      ? {}
      : {
          more_log_paths: more.map((text, at) =>
            keep(`${name}.${Math.max(1, named.length) + at + 1}.gz`, text),
          ),
        }),
    ...(greenText === undefined ? {} : { pass_log_path: keep(`${name}.green.gz`, greenText) }),
  };
  for (const [file, text] of files) await folder.write(file, compress(text));
  await folder.append(SET_FILE, `${JSON.stringify(written)}\n`);
  return files.size;
}

/**
 * Returns a file name that is unique even on file systems that ignore case, and even for ids without any
 * ASCII letter.
 */
function getFileName(id: string): string {
  const plain = id
    .replace(/[^\w.-]+/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 80);
  return `${plain}-${hashText('file', id)}`;
}

function compress(text: string): Buffer {
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
    leaveOut: (leftOutCase: LeftOutCase) => {
      leftOut++;
      if (firstLeftOut.length < MAX_TOLD) firstLeftOut.push(leftOutCase);
    },
    summary: (): CaseSetSummary => ({ cases, logs, secrets, categories, leftOut, firstLeftOut }),
  };
}

/** A masked case that may be passed on: its row and its texts, without secrets. */
interface MaskedCase {
  readonly row: DatasetRow;
  /** The masked texts. The labels of the row are masked with them, so they never reveal hidden text. */
  readonly texts: readonly string[];
  readonly greenText: string | undefined;
  readonly secrets: number;
  /** True if the id itself contained something to hide. Such a case cannot be passed on. */
  readonly idHidden: boolean;
}

const WORDS = ['project', 'source', 'group', 'step', 'root_cause', 'fix', 'decided_by'] as const;
const LISTS = [
  'failing_tests',
  'tests_passed_on_retry',
  'faulty_files',
  'required_mentions',
  'forbidden_mentions',
] as const;
const FAILURE_WORDS = ['test', 'suite', 'message', 'log', 'step', 'cause'] as const;

/**
 * Masks the log, the green log and every free text of the row as one run: a secret found in one is hidden in
 * all, under one name.
 */
async function maskCase(
  row: DatasetRow,
  { sources, greenText }: CaseTexts,
  masker: Pick<Masker, 'maskAll'>,
): Promise<MaskedCase> {
  const words = WORDS.map((field) => row[field] ?? '');
  const lists = LISTS.map((field) => row[field] ?? []);
  const logs = [...sources.map(({ text }) => text), greenText ?? ''];
  const names = (row.logs ?? []).map(({ name }) => name);
  const failures = row.failures ?? [];
  const failureTexts = failures.flatMap((failure) => FAILURE_WORDS.map((field) => failure[field] ?? ''));
  const masked = await masker.maskAll([
    ...logs,
    row.id,
    ...words,
    ...lists.flat(),
    ...names,
    ...failureTexts,
  ]);
  const texts = masked.map(({ text }) => text);
  const take = (count: number) => texts.splice(0, count);
  const [held, green, [id]] = [take(sources.length), take(1)[0], take(1)];
  const labels = Object.fromEntries([
    ...WORDS.map((field) => [field, take(1)[0]] as const).filter(([field]) => row[field] != null),
    ...LISTS.map((field, at) => [field, take(lists[at]?.length ?? 0)] as const).filter(
      ([field]) => row[field] != null,
    ),
  ]);
  const shownLogs = (row.logs ?? []).map((log) => ({ ...log, name: take(1)[0] ?? '' }));
  const shownFailures = failures.map((failure) => ({
    ...failure,
    ...takeWords(failure, FAILURE_WORDS, take),
  }));
  return {
    // Parsing it again puts the fields of every source into the same order.
    row: DatasetRow.parse({
      ...row,
      ...labels,
      ...(row.logs == null ? {} : { logs: shownLogs }),
      ...(row.failures == null ? {} : { failures: shownFailures }),
      ...(row.experiment == null ? {} : { experiment: await maskExperiment(row.experiment, masker) }),
    }),
    texts: held,
    greenText: greenText === undefined ? undefined : green,
    secrets: masked.reduce((sum, { count }) => sum + count, 0),
    idHidden: id !== row.id,
  };
}

/**
 * Takes the next masked texts for these fields of an object, in order. Fields that the object lacks are
 * skipped.
 */
function takeWords<Field extends string>(
  values: { readonly [Key in Field]?: string | null | undefined },
  fields: readonly Field[],
  take: (count: number) => readonly string[],
): Record<string, string | undefined> {
  const taken = fields.map((field) => [field, take(1)[0]] as const);
  return Object.fromEntries(taken.filter(([field]) => values[field] != null));
}

export interface CaseProblem {
  /** The line number in the file, 1-based. */
  readonly line: number;
  readonly id: string | null;
  /**
   * The path of the field, `expected_lines.0`; null if the error is not about a field, for example in text
   * that is not JSON.
   */
  readonly field: string | null;
  readonly reason: string;
}

export interface CheckedCases {
  readonly cases: number;
  readonly good: number;
  readonly problems: number;
  /** The number of valid cases by label; `none` counts those without a label. */
  readonly categories: Readonly<Partial<Record<Category | 'none', number>>>;
  readonly projects: Readonly<Record<string, number>>;
  /** The number of valid cases with a time, which a split by time needs. */
  readonly dated: number;
}

interface CheckOptions {
  /** The limits for reading every log as well; null if logs are not read. */
  readonly logs: { readonly maxBytes: number } | null;
  readonly onProblem: (problem: CaseProblem) => void;
}

/** Checks every case, one in memory at a time, and lists all errors in each. */
export async function checkCases(
  outcomes: AsyncIterable<CaseOutcome>,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<CheckedCases> {
  const categories: Partial<Record<Category | 'none', number>> = {};
  const projects = new Map<string, number>();
  let [cases, good, problems, dated] = [0, 0, 0, 0];
  for await (const outcome of outcomes) {
    signal.throwIfAborted();
    cases++;
    const found =
      'error' in outcome
        ? listProblemsIn(outcome)
        : await listProblemsWith(outcome.one, outcome.line, options);
    problems += found.length;
    for (const problem of found) options.onProblem(problem);
    if ('error' in outcome || found.length > 0) continue;
    const { row } = outcome.one;
    good++;
    if (row.happened_at != null) dated++;
    const category = row.category ?? 'none';
    categories[category] = (categories[category] ?? 0) + 1;
    projects.set(resolveProject(row), (projects.get(resolveProject(row)) ?? 0) + 1);
  }
  const bySize = [...projects].sort(
    ([left, ones], [right, others]) => others - ones || (left < right ? -1 : 1),
  );
  return { cases, good, problems, categories, projects: Object.fromEntries(bySize), dated };
}

function listProblemsIn({ line, id, field, error, problems }: BadCase): CaseProblem[] {
  if (problems === undefined)
    return [{ line, id, field: field ?? null, reason: withoutPlace(error, line, field) }];
  return problems.map(({ path, reason }) => ({ line, id, field: path, reason }));
}

/** Removes the line and the field from the reason, because they are shown next to it. */
function withoutPlace(error: string, line: number, field: string | undefined): string {
  const place = field === undefined ? `line ${line} ` : `line ${line}, field ${field}: `;
  return error.startsWith(place) ? error.slice(place.length) : error;
}

async function listProblemsWith(
  replayCase: ReplayCase,
  line: number,
  { logs }: CheckOptions,
): Promise<CaseProblem[]> {
  const { row } = replayCase;
  const problem = (field: string | null, reason: string): CaseProblem => ({
    line,
    id: row.id,
    field,
    reason,
  });
  const found = listBackwards(row).map((at) =>
    problem(`expected_lines.${at}`, 'the range ends before it begins'),
  );
  if (logs === null) return found;
  try {
    const { sources } = await replayCase.load({ maxBytes: logs.maxBytes, green: true });
    const text = sources[0]?.text ?? '';
    if (sources.every((source) => source.text.trim() === '')) found.push(problem(null, 'the log is empty'));
    const lines = row.expected_lines == null ? 0 : text.split('\n').length;
    const beyond = (row.expected_lines ?? []).findIndex(([, end]) => end > lines);
    if (beyond !== -1) found.push(problem(`expected_lines.${beyond}`, `the log ends at line ${lines}`));
  } catch (error) {
    found.push(problem(null, getErrorMessage(error)));
  }
  return found;
}

function listBackwards({ expected_lines }: DatasetRow): number[] {
  return (expected_lines ?? []).flatMap(([start, end], at) => (end < start ? [at] : []));
}
