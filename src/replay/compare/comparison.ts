import type { Better } from './measures.ts';
import type { Sides, Unpaired } from './paired-cases.ts';

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
