import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import { assignSides, type Side, type SplitOptions, type SplitRow } from './assign-sides.ts';
import { type BadCase, DatasetRow, resolveProject } from './case.ts';
import { readDataset, readTexts } from './dataset.ts';
import {
  type Comparable,
  findNearDuplicatesAmong,
  type NearDuplicate,
  toComparable,
} from './near-duplicates.ts';
import type { NewFolder } from './new-folder.ts';

export interface SplitTask extends SplitOptions {
  readonly dataset: string;
  /** The final path of `folder`. Paths of logs are written relative to it. */
  readonly out: string;
  readonly dropDuplicates: boolean;
  /** The minimum similarity of near-duplicates, 0..1. */
  readonly minScore: number;
  readonly maxLogBytes: number;
  readonly onBad: (bad: BadCase) => void;
}

interface SideSummary {
  readonly cases: number;
  readonly categories: Readonly<Partial<Record<Category | 'none', number>>>;
  readonly projects: number;
}

/** A training case that is a near-duplicate of a test case. */
interface AcrossPair extends Omit<NearDuplicate, 'id'> {
  readonly train: string;
  readonly test: string;
}

export interface SplitSummary {
  readonly train: SideSummary;
  readonly test: SideSummary;
  /** The number of cases without a time in a split by time. They are on neither side. */
  readonly undated: number;
  readonly bad: number;
  /** The number of training cases that have a near-duplicate among the test cases. */
  readonly nearDuplicates: number;
  /** The number of them that were left out of the training side. */
  readonly dropped: number;
  readonly mostAlike: readonly AcrossPair[];
  /** The number of cases whose log could not be read, so that their near-duplicates are unknown. */
  readonly unread: number;
}

const SHOWN_PAIRS = 10;

/**
 * Splits a data set into `train.jsonl` and `test.jsonl`, and writes every near-duplicate across the split to
 * `near-duplicates.jsonl`. Rows are unchanged except for the paths of their logs. The file is read three
 * times, so that neither all rows nor all logs are in memory. Throws `invalid-input` if a side would be
 * empty.
 */
export async function splitCases(
  task: SplitTask,
  folder: NewFolder,
  signal: AbortSignal,
): Promise<SplitSummary> {
  try {
    const { rows, bad } = await survey(task, signal);
    const sides = assignSides(rows, task);
    const summary = { test: tally(rows, sides, 'test'), undated: rows.length - sides.size, bad };
    refuseEmpty(task, rows, sides);
    const tested: Comparable[] = [];
    const counts = { unread: 0 };
    for await (const { row, value } of readRows(task, sides, 'test', signal)) {
      await folder.append('test.jsonl', relocate(value, task));
      const comparison = await findComparable(row, task, counts);
      if (comparison !== null) tested.push(comparison);
    }
    const across = await writeTraining(task, sides, { folder, tested, counts }, signal);
    const learned =
      across.dropped.size === 0 ? sides : new Map([...sides].filter(([line]) => !across.dropped.has(line)));
    await folder.commit();
    const { pairs, mostAlike, dropped } = across;
    return {
      train: tally(rows, learned, 'train'),
      ...summary,
      nearDuplicates: pairs,
      dropped: dropped.size,
      mostAlike,
      ...counts,
    };
  } catch (error) {
    await folder.discard();
    throw error;
  }
}

interface Training {
  readonly folder: NewFolder;
  readonly tested: readonly Comparable[];
  readonly counts: { unread: number };
}

async function writeTraining(
  task: SplitTask,
  sides: ReadonlyMap<number, Side>,
  { folder, tested, counts }: Training,
  signal: AbortSignal,
) {
  const nearest = findNearDuplicatesAmong(tested, task.minScore);
  const dropped = new Set<number>();
  let mostAlike: AcrossPair[] = [];
  let pairs = 0;
  await folder.append('near-duplicates.jsonl', '');
  await folder.append('train.jsonl', '');
  for await (const { row, value, line } of readRows(task, sides, 'train', signal)) {
    const comparison = await findComparable(row, task, counts);
    const found = comparison === null ? null : nearest(comparison);
    if (found !== null) {
      const { id, score, sameFingerprint } = found;
      const pair: AcrossPair = {
        train: row.id,
        test: id,
        score: Math.round(score * 1000) / 1000,
        sameFingerprint,
      };
      await folder.append('near-duplicates.jsonl', `${JSON.stringify(pair)}\n`);
      pairs++;
      mostAlike = [...mostAlike, pair].sort((left, right) => right.score - left.score).slice(0, SHOWN_PAIRS);
      if (task.dropDuplicates) dropped.add(line);
    }
    if (!dropped.has(line)) await folder.append('train.jsonl', relocate(value, task));
  }
  return { dropped, mostAlike, pairs };
}

async function survey(
  { dataset, onBad }: SplitTask,
  signal: AbortSignal,
): Promise<{ rows: SplitRow[]; bad: number }> {
  const rows: SplitRow[] = [];
  let bad = 0;
  for await (const outcome of readDataset(dataset)) {
    signal.throwIfAborted();
    if ('error' in outcome) {
      bad++;
      onBad(outcome);
      continue;
    }
    const { row, line } = outcome;
    const happenedAt = row.happened_at == null ? null : Date.parse(row.happened_at);
    rows.push({ line, id: row.id, project: resolveProject(row), category: row.category ?? null, happenedAt });
  }
  return { rows, bad };
}

function refuseEmpty(
  { by, dataset }: SplitTask,
  rows: readonly SplitRow[],
  sides: ReadonlyMap<number, Side>,
): void {
  const found = new Set(sides.values());
  if (found.has('train') && found.has('test')) return;
  if (by === 'time' && sides.size === 0 && rows.length > 0)
    throw new TriageError(
      'invalid-input',
      `No row of ${dataset} has a time (happened_at): use --by project.`,
    );
  const why =
    rows.length === 0
      ? 'it has no cases'
      : by === 'time'
        ? 'all dated cases have the same time'
        : by === 'project'
          ? 'all its cases belong to one project'
          : 'it has too few cases';
  throw new TriageError('invalid-input', `${dataset} cannot be split: ${why}.`);
}

async function* readRows(
  { dataset }: SplitTask,
  sides: ReadonlyMap<number, Side>,
  side: Side,
  signal: AbortSignal,
) {
  for await (const outcome of readDataset(dataset)) {
    signal.throwIfAborted();
    if ('row' in outcome && sides.get(outcome.line) === side) yield outcome;
  }
}

async function findComparable(
  row: DatasetRow,
  task: SplitTask,
  counts: { unread: number },
): Promise<Comparable | null> {
  try {
    return toComparable(
      row.id,
      await readTexts(row, task.dataset, { maxBytes: task.maxLogBytes, green: false }),
    );
  } catch {
    counts.unread++;
    return null;
  }
}

const Fields = z.record(z.string(), z.unknown());
const LabelledLogs = DatasetRow.shape.logs.transform((logs) => logs ?? []);

/** Returns the row with all its fields, and the paths of its logs relative to the new folder. */
function relocate(value: unknown, { dataset, out }: SplitTask): string {
  const move = (path: unknown) =>
    typeof path !== 'string' || path === '' || isAbsolute(path)
      ? path
      : relative(resolve(out), join(resolve(dirname(dataset)), path));
  const fields = Object.entries(Fields.parse(value)).map(([name, content]) => {
    if (name === 'log_path' || name === 'pass_log_path' || name === 'report_path')
      return [name, move(content)];
    if (name === 'more_log_paths' && Array.isArray(content)) return [name, content.map(move)];
    return [
      name,
      name === 'logs'
        ? LabelledLogs.parse(content).map((log) => ({ ...log, log_path: move(log.log_path) }))
        : content,
    ];
  });
  return `${JSON.stringify(Object.fromEntries(fields))}\n`;
}

function tally(rows: readonly SplitRow[], sides: ReadonlyMap<number, Side>, side: Side): SideSummary {
  const categories: Partial<Record<Category | 'none', number>> = {};
  const chosen = rows.filter(({ line }) => sides.get(line) === side);
  for (const { category } of chosen)
    categories[category ?? 'none'] = (categories[category ?? 'none'] ?? 0) + 1;
  return { cases: chosen.length, categories, projects: new Set(chosen.map(({ project }) => project)).size };
}
