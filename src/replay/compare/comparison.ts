import { TriageError } from '../../domain/errors.ts';
import { type CaseOutcome, type DatasetRow, projectOf } from '../cases/case.ts';
import { type ReplayedCase, replayedFrom } from '../run/replay.ts';
import type { RunResults } from '../run/results.ts';

/** Two runs of the same cases, side by side. Everything that a table, a page or a script needs; stable. */
export interface Comparison {
  readonly schema: 1;
  readonly dataset: string;
  readonly sides: Sides<ComparedSide>;
  readonly cases: ComparedCases;
  readonly resampling: Resampling;
  readonly differences: readonly Difference[];
  readonly costs: readonly CostDifference[];
  /** By which figure cases are won and lost; null where the labels allow none. */
  readonly wonBy: string | null;
  readonly won: readonly ChangedCase[];
  readonly lost: readonly ChangedCase[];
  /** Another answer, and neither better nor worse. */
  readonly changed: readonly ChangedCase[];
  readonly summary: readonly string[];
}

/** One side: the results files that are its repeats. */
export interface ComparedSide {
  readonly files: readonly string[];
  readonly analysts: readonly string[];
  /** Null for one file. */
  readonly spread: Spread | null;
}

/** How far repeats of one side differ among themselves. */
export interface Spread {
  readonly repeats: number;
  readonly figures: readonly {
    readonly name: string;
    readonly mean: number;
    readonly deviation: number;
    readonly values: readonly number[];
  }[];
  /** Cases whose category is not the same in all repeats, by id. */
  readonly flips: readonly string[];
  /** Cases that not all of its files hold, by id. */
  readonly partial: readonly string[];
}

/** Which cases were compared, and by id which were not, and why. */
interface ComparedCases extends Unpaired {
  readonly compared: number;
}

/**
 * What a difference comes to. `within-noise`: chance alone may have made it. `same`: no case differs. `higher` and `lower` are said of B
 * where neither way is good.
 */
export type DifferenceVerdict = 'b-better' | 'a-better' | 'higher' | 'lower' | 'within-noise' | 'same';

/** One figure on both sides. */
export interface Difference extends Sides<number> {
  readonly name: string;
  readonly better: Better;
  readonly cases: number;
  /** B less A. */
  readonly difference: number;
  /** 95 % of the difference, by resampling pairs; null where too little is known to give one. */
  readonly interval: readonly [low: number, high: number] | null;
  /** Pairs on which B is better and worse; where neither way is good, higher and lower. */
  readonly won: number;
  readonly lost: number;
  /** Where every case is worth 0 or 1. */
  readonly mcNemar: McNemar | null;
  readonly verdict: DifferenceVerdict;
}

/** What a case costs on both sides: medians over the cases that failed on neither, and the median of the differences. */
export interface CostDifference extends Sides<number> {
  readonly name: string;
  readonly unit: 'dollars' | 'tokens' | 'milliseconds' | 'rounds';
  readonly cases: number;
  readonly difference: number;
  readonly interval: readonly [low: number, high: number] | null;
  /** Over all those cases, a repeat on average. */
  readonly totals: Sides<number>;
}

/** A case that the two sides answer otherwise. */
export interface ChangedCase {
  readonly id: string;
  /** 1-based, in the data set: with its path an anchor. */
  readonly line: number;
  /** Where the case is from, if the row says so with an http(s) address. */
  readonly url: string | null;
  readonly truth: string;
  readonly said: Sides<string>;
}

/** What the cases say on which the two sides disagree. */
export interface McNemar {
  /** Right on the second side only. */
  readonly won: number;
  /** Right on the first side only. */
  readonly lost: number;
  /** Exact two-sided p: how often chance alone, heads or tails a disagreement, is at least as lopsided. */
  readonly exact: number;
  /** The mid-p: the exact p less half the probability of what was seen, on both sides. What verdicts go by. */
  readonly midP: number;
}

/** What is drawn together, and how many of them there are. */
export interface Resampling {
  readonly by: 'project' | 'case';
  readonly units: number;
}

/** Which way is good; null where neither is. */
export type Better = 'higher' | 'lower' | null;

/** Something of the first and of the second side. */
export interface Sides<T> {
  readonly a: T;
  readonly b: T;
}

/** A case that both sides answered: once, or once a repeat. */
export interface PairedCase {
  readonly id: string;
  /** 1-based, in the data set. */
  readonly line: number;
  readonly row: DatasetRow;
  readonly project: string;
  /** In the order of the side's files; those that have the case. */
  readonly runs: Sides<readonly ReplayedCase[]>;
}

/** By id, everything that is no pair, or only half of one. */
interface Unpaired {
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
  /** In the data set, answered by neither. */
  readonly unanswered: readonly string[];
  /** Answered, and not in the data set. */
  readonly unlabelled: readonly string[];
  /** Paired cases that failed on that side at least once: their answer is a wrong one. */
  readonly failed: Sides<readonly string[]>;
  /** Rows of the data set that could not be read: the line and the reason. */
  readonly unreadable: readonly string[];
}

/** Matches the results of both sides by the ids of the data set. Throws where an id stands twice, or no case is on both sides. */
export async function pairCases(
  cases: AsyncIterable<CaseOutcome>,
  files: Sides<readonly RunResults[]>,
): Promise<Unpaired & { pairs: PairedCase[] }> {
  const seen = new Map<string, number>();
  const pairs: PairedCase[] = [];
  const [onlyA, onlyB, unanswered, unreadable]: [string[], string[], string[], string[]] = [[], [], [], []];
  for await (const outcome of cases) {
    if ('error' in outcome) {
      unreadable.push(outcome.error);
      continue;
    }
    const { row } = outcome.one;
    const earlier = seen.get(row.id);
    if (earlier !== undefined)
      throw new TriageError('invalid-input', `The data set has the ID ${row.id} on lines ${earlier} and ${outcome.line}.`);
    seen.set(row.id, outcome.line);
    const runs = { a: runsOf(row, files.a), b: runsOf(row, files.b) };
    if (runs.a.length > 0 && runs.b.length > 0) pairs.push({ id: row.id, line: outcome.line, row, project: projectOf(row), runs });
    else if (runs.a.length > 0) onlyA.push(row.id);
    else if (runs.b.length > 0) onlyB.push(row.id);
    else unanswered.push(row.id);
  }
  const answered = [...files.a, ...files.b].flatMap(({ results }) => [...results.keys()]);
  const unlabelled = [...new Set(answered)].filter((id) => !seen.has(id));
  if (pairs.length === 0) throw noCommonCase(seen.size, files);
  const failed = { a: failedOf(pairs, 'a'), b: failedOf(pairs, 'b') };
  return { pairs, onlyA, onlyB, unanswered, unlabelled, failed, unreadable };
}

function runsOf(row: DatasetRow, files: readonly RunResults[]): ReplayedCase[] {
  const light = { ...row, log: null, stack_trace: null, snippets: null };
  return files.flatMap(({ results }) => results.get(row.id) ?? []).map((result) => replayedFrom(light, result));
}

function failedOf(pairs: readonly PairedCase[], side: keyof Sides<unknown>): string[] {
  return pairs.filter(({ runs }) => runs[side].some(({ result }) => result.error !== null)).map(({ id }) => id);
}

function noCommonCase(rows: number, { a, b }: Sides<readonly RunResults[]>): TriageError {
  const count = (files: readonly RunResults[]) => files.reduce((total, { results }) => total + results.size, 0);
  return new TriageError(
    'invalid-input',
    `No case is on both sides: the IDs do not match (cases in the data set: ${rows}, results on side A: ${count(a)}, on side B: ${count(b)}). Is this the data set that was replayed?`,
  );
}
