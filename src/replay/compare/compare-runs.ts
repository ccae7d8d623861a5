import type { CaseOutcome } from '../cases/case.ts';
import { mean } from '../figures/figure.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { RunResults } from '../run/results-file.ts';
import type { ChangedCase, ComparedSide, Comparison, Difference, Spread } from './comparison.ts';
import { costsOf, differencesOf } from './differences.ts';
import { MAIN_WORTHS, MEASURES, type Side, worthOf } from './measures.ts';
import { type PairedCase, pairCases, type Sides } from './paired-cases.ts';
import { summaryOf } from './text.ts';

export interface CompareOptions {
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

/** The cases that B answers better, worse, and only otherwise, in the data set's order: by the first main figure of those that are compared. */
function changedCases(
  pairs: readonly PairedCase[],
  compared: readonly Pick<Difference, 'name'>[],
): Pick<Comparison, 'wonBy' | 'won' | 'lost' | 'changed'> {
  const main = MAIN_WORTHS.find(({ name }) => compared.some((one) => one.name === name));
  const [won, lost, changed]: [ChangedCase[], ChangedCase[], ChangedCase[]] = [[], [], []];
  for (const pair of pairs) {
    const { a, b } = pair.runs;
    const [before, after] = main === undefined ? [null, null] : [worthOf(a, main.worth), worthOf(b, main.worth)];
    const said = { a: saidOf(a), b: saidOf(b) };
    const { id, line, row } = pair;
    const one: ChangedCase = { id, line, url: addressOf(row.source), truth: truthOf(pair, main?.name ?? null), said };
    if (before !== null && after !== null && before !== after) (after > before ? won : lost).push(one);
    else if (said.a !== said.b) changed.push(one);
  }
  return { wonBy: main?.name ?? null, won, lost, changed };
}

/** The commonest category of the repeats, the first of several alike, how often it was said where not always; else what else there is to say. */
function saidOf(runs: readonly ReplayedCase[]): string {
  const answers = Map.groupBy(runs, answerOf);
  const [[answer, ones] = ['nothing', []]] = [...answers].sort(([, left], [, right]) => right.length - left.length);
  return ones.length === runs.length ? answer : `${answer} (${ones.length} of ${runs.length})`;
}

function answerOf({ row, result }: ReplayedCase): string {
  if (result.error !== null) return 'failed';
  if (result.category !== null && row?.category != null) {
    const published = result.action === 'auto_notify' ? ', published' : '';
    return `${result.category}${result.abstained === true ? ', abstained' : ''}${published}`;
  }
  if ((row?.faulty_files?.length ?? 0) > 0) return result.suspects[0]?.path ?? 'no suspect';
  const lines = result.excerpts.map(({ lineStart, lineEnd }) => (lineStart === lineEnd ? `${lineStart}` : `${lineStart}-${lineEnd}`));
  return lines.length === 0 ? 'nothing' : `lines ${shortened(lines)}`;
}

/** The label that decides, else the first that there is. */
function truthOf({ row }: PairedCase, wonBy: string | null): string {
  const files = shortened(row.faulty_files ?? []);
  const lines = `lines ${shortened((row.expected_lines ?? []).map(([start, end]) => (start === end ? `${start}` : `${start}-${end}`)))}`;
  if (wonBy === 'recall of labelled lines') return lines;
  if (row.category != null && !wonBy?.startsWith('faulty file'))
    return [row.category, ...(row.also_ok ?? []), ...(row.category_alternatives ?? [])].join(' or ');
  return files === '' ? lines : files;
}

const MOST_NAMED = 3;

function shortened(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Only what a browser may follow: a data set is somebody else's text. */
function addressOf(source: string | null | undefined): string | null {
  const url = source == null ? null : URL.parse(source);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null;
}

/** Each figure of each repeat by itself, on the cases that all repeats answered, and the cases that do not stay the same. Null for one file. */
function spreadOf(pairs: readonly PairedCase[], side: Side, files: readonly RunResults[]): Spread | null {
  if (files.length < 2) return null;
  const whole = pairs.filter(({ runs }) => runs[side].length === files.length);
  const repeats = files.map((_, at) => whole.map((pair) => onlyRepeat(pair, side, at)));
  const figures = MEASURES.flatMap((measure) => {
    const values = repeats.map((ones) => measure.prepare(ones)?.value('a', null) ?? null).filter((value) => value !== null);
    return values.length < files.length ? [] : [{ name: measure.name, mean: mean(values), deviation: deviationOf(values), values }];
  });
  const flips = whole.filter(({ runs }) => new Set(runs[side].map(({ result }) => result.category)).size > 1);
  const partial = pairs.filter(({ runs }) => runs[side].length < files.length);
  return { repeats: files.length, figures, flips: flips.map(({ id }) => id), partial: partial.map(({ id }) => id) };
}

/** The pair as if this repeat were both sides: measures only count what both sides have. */
function onlyRepeat(pair: PairedCase, side: Side, at: number): PairedCase {
  const runs = pair.runs[side].slice(at, at + 1);
  return { ...pair, runs: { a: runs, b: runs } };
}

/** The standard deviation of a sample: by one less than its size. */
function deviationOf(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(values.reduce((total, value) => total + (value - middle) ** 2, 0) / (values.length - 1));
}
