import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import { readSources } from '../../log/read-sources.ts';
import { isUnknown, listFailures } from '../../log/recognise/failures.ts';
import {
  extractLikeness,
  type LikenessParts,
  likenessFeatures,
  nearMatchIndex,
} from '../../log/recognise/likeness.ts';
import { type BadCase, type CaseTexts, DatasetRow, resolveProject } from './case.ts';
import { hashText } from './choose.ts';
import { readDataset, readTexts } from './dataset.ts';
import type { NewFolder } from './new-folder.ts';

export interface SplitTask extends SplitOptions {
  readonly dataset: string;
  /** The final path of `folder`; paths of logs are written relative to it. */
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

/** A case to learn from that is nearly one to test with. */
interface AcrossPair extends Omit<NearDuplicate, 'id'> {
  readonly train: string;
  readonly test: string;
}

export interface SplitSummary {
  readonly train: SideSummary;
  readonly test: SideSummary;
  /** Cases without a time, in a split by time: on neither side. */
  readonly undated: number;
  readonly bad: number;
  /** Cases to learn from that have a near-duplicate among those to test with. */
  readonly nearDuplicates: number;
  /** The number of them that were left out of the training side. */
  readonly dropped: number;
  readonly mostAlike: readonly AcrossPair[];
  /** Cases whose log could not be read, so that their near-duplicates are not known. */
  readonly unread: number;
}

const SHOWN_PAIRS = 10;

/**
 * Splits a data set into `train.jsonl` and `test.jsonl`, each row as it was but for the paths of its logs,
 * and writes every near-duplicate across the split to `near-duplicates.jsonl`. The file is read three times,
 * so that neither its rows nor its logs are in memory together. Throws `invalid-input` where a side would be
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
      await folder.append('test.jsonl', relocated(value, task));
      const one = await comparable(row, task, counts);
      if (one !== null) tested.push(one);
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
  const nearest = nearDuplicatesAmong(tested, task.minScore);
  const dropped = new Set<number>();
  let mostAlike: AcrossPair[] = [];
  let pairs = 0;
  await folder.append('near-duplicates.jsonl', '');
  await folder.append('train.jsonl', '');
  for await (const { row, value, line } of readRows(task, sides, 'train', signal)) {
    const one = await comparable(row, task, counts);
    const found = one === null ? null : nearest(one);
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
    if (!dropped.has(line)) await folder.append('train.jsonl', relocated(value, task));
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

async function comparable(
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
function relocated(value: unknown, { dataset, out }: SplitTask): string {
  const move = (path: unknown) =>
    typeof path !== 'string' || path === '' || isAbsolute(path)
      ? path
      : relative(resolve(out), join(resolve(dirname(dataset)), path));
  const fields = Object.entries(Fields.parse(value)).map(([name, held]) => {
    if (name === 'log_path' || name === 'pass_log_path' || name === 'report_path') return [name, move(held)];
    if (name === 'more_log_paths' && Array.isArray(held)) return [name, held.map(move)];
    return [
      name,
      name === 'logs'
        ? LabelledLogs.parse(held).map((log) => ({ ...log, log_path: move(log.log_path) }))
        : held,
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

export type SplitBy = 'time' | 'project' | 'random';
type Side = 'train' | 'test';

/** The data that a split uses: little of each row, so that a hundred thousand rows fit in memory. */
export interface SplitRow {
  readonly line: number;
  readonly id: string;
  readonly project: string;
  readonly category: Category | null;
  /** Milliseconds since 1970; null where the row does not say. */
  readonly happenedAt: number | null;
}

interface SplitOptions {
  readonly by: SplitBy;
  /** The share of cases on the test side, 0..1. */
  readonly share: number;
  /** The seed, used by a random split only. */
  readonly seed: string;
}

/**
 * Assigns each row, by its line, to a side. Rows without a side are left out. By time, everything on the test
 * side happened after everything on the training side. By project, no project is on both sides. Randomly,
 * which means by hash of the id, only on request. The same rows are split the same way in any order.
 */
export function assignSides(rows: readonly SplitRow[], options: SplitOptions): Map<number, Side> {
  if (options.by === 'time') return byTime(rows, options.share);
  if (options.by === 'project') return byProject(rows, options.share);
  return new Map(
    rows.map(({ line, id }) => [line, fraction(options.seed, id) < options.share ? 'test' : 'train']),
  );
}

/**
 * Splits by time and keeps everything of the same moment on one side. If the oldest moment would be tested
 * too, it is moved to the training side.
 */
function byTime(rows: readonly SplitRow[], share: number): Map<number, Side> {
  const times = rows
    .flatMap(({ happenedAt }) => (happenedAt === null ? [] : [happenedAt]))
    .sort((left, right) => left - right);
  const wanted =
    times[Math.min(times.length - 1, Math.round(times.length * (1 - share)))] ?? Number.POSITIVE_INFINITY;
  const from = wanted === times[0] ? (times.find((time) => time > wanted) ?? wanted) : wanted;
  const dated = rows.flatMap(({ line, happenedAt }) => (happenedAt === null ? [] : [{ line, happenedAt }]));
  return new Map(dated.map(({ line, happenedAt }) => [line, happenedAt >= from ? 'test' : 'train']));
}

/** Projects are taken for testing in the order of their hashes, as long as there is room for all of one. */
function byProject(rows: readonly SplitRow[], share: number): Map<number, Side> {
  const sizes = new Map<string, number>();
  for (const row of rows) sizes.set(sameProject(row), (sizes.get(sameProject(row)) ?? 0) + 1);
  const inOrder = [...sizes].sort(([left], [right]) =>
    hashText('split', left) < hashText('split', right) ? -1 : 1,
  );
  const wanted = Math.max(1, Math.round(rows.length * share));
  const tested = new Set<string>();
  let taken = 0;
  for (const [project, size] of inOrder) {
    if (taken + size > wanted) continue;
    tested.add(project);
    taken += size;
  }
  // Where every project is larger than the share, the smallest represents it.
  const smallest = [...inOrder].sort(([, left], [, right]) => left - right)[0];
  if (tested.size === 0 && smallest !== undefined && sizes.size > 1) tested.add(smallest[0]);
  return new Map(rows.map((row) => [row.line, tested.has(sameProject(row)) ? 'test' : 'train']));
}

/**
 * Returns the key of a project. Code hosts ignore case, so "Acme/Shop" must not be in the training side while
 * "acme/shop" is tested.
 */
function sameProject({ project }: SplitRow): string {
  return project.toLowerCase();
}

function fraction(seed: string, id: string): number {
  return Number.parseInt(hashText(seed, id).slice(0, 12), 16) / 0x1000000000000;
}

interface Comparable {
  readonly id: string;
  readonly parts: LikenessParts;
  /** The fingerprint of the failure, if it is known and says why something failed; else null. */
  readonly fingerprint: string | null;
}

interface NearDuplicate {
  readonly id: string;
  /** 0..1, as near-match search scores two failures. */
  readonly score: number;
  readonly sameFingerprint: boolean;
}

/** Candidates that are scored for one case: those with most in common. */
const MAX_SCORED = 5;
/**
 * The number of min-hashes that a candidate must share: far fewer than two near-duplicates have in common.
 */
const MIN_SHARED = 8;
/** The maximum number of cases per bucket. A feature that more cases share does not distinguish them. */
const MAX_COMMON = 40;
/**
 * Min-hashes of a case's features (Broder 1997), compared in pairs: of cases with half their features in
 * common, 99 % share a pair.
 */
const HASHES = 32;

/**
 * Finds the nearest of many cases without comparing all with all: candidates share the fingerprint, or a pair
 * of min-hashes of the features that likeness goes by, and only these are scored. Holds the texts of the
 * cases it is made of, at most some kilobytes each.
 */
function nearDuplicatesAmong(cases: readonly Comparable[], minScore: number) {
  const byFingerprint = new Map<string, number>();
  const buckets = new Map<string, number[]>();
  const hashes = cases.map(({ parts }) => minHashes(parts));
  for (const [at, { fingerprint }] of cases.entries()) {
    if (fingerprint !== null && !byFingerprint.has(fingerprint)) byFingerprint.set(fingerprint, at);
    for (const key of createKeys(hashes[at] ?? null)) {
      const bucket = buckets.get(key) ?? [];
      if (bucket.length === 0) buckets.set(key, bucket);
      if (bucket.length < MAX_COMMON) bucket.push(at);
    }
  }
  const candidatesFor = (own: Uint32Array | null) => {
    const found = new Set(createKeys(own).flatMap((key) => buckets.get(key) ?? []));
    const shared = [...found].map((at) => ({ at, hashes: sharedHashes(own, hashes[at] ?? null) }));
    const close = shared.filter((one) => one.hashes >= MIN_SHARED);
    return close.sort((left, right) => right.hashes - left.hashes || left.at - right.at).slice(0, MAX_SCORED);
  };
  /**
   * The first case with the same fingerprint, else the most alike one with at least the score asked for; null
   * where there is none.
   */
  return ({ parts, fingerprint }: Comparable): NearDuplicate | null => {
    const same = fingerprint === null ? undefined : cases[byFingerprint.get(fingerprint) ?? -1];
    if (same !== undefined) return { id: same.id, score: likeness(parts, same.parts), sameFingerprint: true };
    let best: NearDuplicate | null = null;
    for (const { at } of candidatesFor(minHashes(parts))) {
      const other = cases[at];
      const score = other === undefined ? 0 : likeness(parts, other.parts);
      if (other !== undefined && score >= minScore && score > (best?.score ?? 0))
        best = { id: other.id, score, sameFingerprint: false };
    }
    return best;
  };
}

/**
 * Computes the similarity of two failures. An index of only one failure weighs all features equally, so the
 * score depends on these two only.
 */
function likeness(parts: LikenessParts, other: LikenessParts): number {
  return nearMatchIndex([{ id: '', parts: other }]).search(parts, 1, 0)[0]?.score ?? 0;
}

/** Computes the min-hashes of a failure. Returns null if it has no features to compare. */
function minHashes(parts: LikenessParts): Uint32Array | null {
  const features = likenessFeatures(parts);
  if (features.size === 0) return null;
  const least = new Uint32Array(HASHES).fill(0xffffffff);
  for (const feature of features.keys()) {
    const first = mixed(feature, 0x811c9dc5);
    const second = mixed(feature, 0x9747b28c) | 1;
    for (let at = 0; at < HASHES; at++) {
      const hash = (first + Math.imul(at, second)) >>> 0;
      if (hash < (least[at] ?? 0)) least[at] = hash;
    }
  }
  return least;
}

function createKeys(least: Uint32Array | null): string[] {
  if (least === null) return [];
  return Array.from({ length: HASHES / 2 }, (_, pair) => `${pair}:${least[2 * pair]}:${least[2 * pair + 1]}`);
}

function sharedHashes(left: Uint32Array | null, right: Uint32Array | null): number {
  let shared = 0;
  for (let at = 0; at < HASHES; at++) if (left !== null && right !== null && left[at] === right[at]) shared++;
  return shared;
}

/**
 * Hashes the UTF-16 of a text by FNV-1a, then mixes it (finalizer of MurmurHash3), so that all bits depend on
 * all characters.
 */
function mixed(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** An excerpt as short as this is the failure already: it is compared as it stands. */
const SHORT_LINES = 30;
const SHORT_TEXT = 2_000;
/** Tokens of a long log that its failure is read from. */
const BUDGET = 1_000;
/** The limits on lines per case and characters per line; the similarity uses no more. */
const MAX_LINES = 40;
const MAX_LINE = 300;

/**
 * Returns the features by which a case is compared with others: its text if that is an excerpt, else its
 * first failure as read from the log.
 */
function toComparable(id: string, { sources }: Pick<CaseTexts, 'sources'>): Comparable {
  const text = sources[0]?.text ?? '';
  const lines = text.length <= SHORT_TEXT ? text.split('\n') : [];
  if (sources.length === 1 && text.length <= SHORT_TEXT && lines.length <= SHORT_LINES) {
    return { id, parts: { test: null, message: null, frames: [], lines: bounded(lines) }, fingerprint: null };
  }
  const [failure] = listFailures(readSources(sources, { budgetTokens: BUDGET }));
  if (failure === undefined)
    return { id, parts: { test: null, message: null, frames: [], lines: bounded(lines) }, fingerprint: null };
  const { test, message, frames, lines: around } = extractLikeness(failure);
  const known = !failure.generic && !isUnknown(failure.fingerprint);
  const parts = { test, message: message?.slice(0, SHORT_TEXT) ?? null, frames, lines: bounded(around) };
  return { id, parts, fingerprint: known ? failure.fingerprint.value : null };
}

/** Copies the lines, so that a part of a long log does not keep all of it in memory. */
function bounded(lines: readonly string[]): string[] {
  return lines.slice(0, MAX_LINES).map((line) => Buffer.from(line.slice(0, MAX_LINE)).toString());
}
