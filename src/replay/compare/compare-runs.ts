import type { CaseOutcome } from '../cases/case.ts';
import { changedCases } from './changed-cases.ts';
import type { ComparedSide, Comparison } from './comparison.ts';
import { costsOf } from './costs.ts';
import { differencesOf } from './differences.ts';
import type { Side } from './measure.ts';
import { type PairedCase, pairCases, type Sides } from './paired-cases.ts';
import type { RunResults } from './read-results.ts';
import { spreadOf } from './spread.ts';
import { summaryOf } from './summary.ts';

export interface CompareOptions {
  /** As people call the data set. */
  readonly dataset: string;
  readonly cases: AsyncIterable<CaseOutcome>;
  /** The results files of each side; several are repeats of one configuration. */
  readonly files: Sides<readonly RunResults[]>;
}

/**
 * Two runs on the same cases, pair by pair. Deterministic: the same files always give the same comparison, and swapping the sides changes
 * signs only. Throws where an id stands twice or no case is on both sides.
 */
export async function compareRuns({ dataset, cases, files }: CompareOptions): Promise<Comparison> {
  const { pairs, ...others } = await pairCases(cases, files);
  const measured = differencesOf(pairs);
  const facts = {
    schema: 1 as const,
    dataset,
    sides: { a: sideOf(pairs, 'a', files.a), b: sideOf(pairs, 'b', files.b) },
    cases: { compared: pairs.length, ...others },
    ...measured,
    costs: costsOf(pairs),
    ...changedCases(pairs, measured.differences),
  };
  return { ...facts, summary: summaryOf(facts) };
}

function sideOf(pairs: readonly PairedCase[], side: Side, files: readonly RunResults[]): ComparedSide {
  const analysts = pairs.flatMap(({ runs }) => runs[side].map(({ result }) => result.analyst)).filter((analyst) => analyst !== null);
  return { files: files.map(({ path }) => path), analysts: [...new Set(analysts)].sort(), spread: spreadOf(pairs, side, files) };
}
