import type { Comparison, Difference } from '../domain/comparison.ts';
import { getErrorMessage } from '../domain/errors.ts';
import { type CaseOutcome, isLabelledBuild } from './cases/case.ts';
import { compareRuns } from './compare/compare-runs.ts';
import type { Figure, FigureSection } from './figures/figure.ts';
import type { Bar, Gate } from './gate-bars.ts';
import { findNearestName } from './nearest-name.ts';
import { formatInterval, formatValue } from './report.ts';
import type { ReplayedCase } from './run/replay.ts';
import type { RunResults } from './run/results-file.ts';

/** The result of checking the figures against the bars. The format is stable, because scripts read it. */
export interface GateResult {
  readonly schema: 1;
  readonly file: string;
  /** True if no bar is missed beyond noise and every bar could be judged. */
  readonly ok: boolean;
  readonly outcomes: readonly BarOutcome[];
}

/** The status of a bar. `within-noise` means on the wrong side, but possibly only by chance. */
export type BarStatus = 'ok' | 'within-noise' | 'failed';

export interface BarOutcome {
  readonly dataset: string;
  readonly figure: string;
  /**
   * The bar in words, such as "at least 0.9". Null if the outcome is about something else, for example an
   * empty data set.
   */
  readonly bar: string | null;
  readonly status: BarStatus;
  /** The value or, for `worseBy`, the decline. Null if it could not be judged. */
  readonly value: number | null;
  readonly interval: readonly [low: number, high: number] | null;
  readonly cases: number | null;
  readonly sentence: string;
  readonly why: string | null;
  /** The ids of the cases that count against the figure; empty if there are none. */
  readonly against: readonly string[];
}

/** One replayed data set with its figures. */
export interface GatedRun {
  /** The name of its file or folder, which bars refer to. */
  readonly name: string;
  /** The name that is shown to people, such as "clean.jsonl, repeat 2 of 3". */
  readonly label: string;
  readonly sections: readonly FigureSection[];
  readonly cases: readonly ReplayedCase[];
  /** False if the replay ended before its last case. */
  readonly isAll: boolean;
}

/**
 * Checks every bar against every data set that it applies to. A bar that cannot be judged fails: its figure
 * is missing, or its data set was not replayed, is empty, has no labels, contains invalid rows, or was not
 * replayed to its end.
 */
export async function judgeGate(gate: Gate, runs: readonly GatedRun[]): Promise<GateResult> {
  const outcomes: BarOutcome[] = runs.flatMap((run) => listProblems(run, gate.bars));
  for (const run of runs) {
    const bars = gate.bars.filter(({ dataset }) => dataset === undefined || dataset === run.name);
    const worse = bars.some(({ worseBy }) => worseBy !== undefined)
      ? await compareToBaseline(gate.baseline, run)
      : null;
    for (const bar of bars)
      outcomes.push(
        bar.worseBy === undefined ? judgeBar(bar, run) : judgeWorse(bar, bar.worseBy, run, worse),
      );
  }
  const names = [...new Set(runs.map(({ name }) => name))];
  for (const bar of gate.bars)
    if (bar.dataset !== undefined && !names.includes(bar.dataset))
      outcomes.push(createNotReplayed(bar, bar.dataset, names));
  if (runs.length === 0) outcomes.push(toProblem('(none)', 'Nothing was replayed, so no bar was checked.'));
  return { schema: 1, file: gate.path, ok: outcomes.every(({ status }) => status !== 'failed'), outcomes };
}

function listProblems({ name, label, cases, isAll }: GatedRun, bars: readonly Bar[]): BarOutcome[] {
  const problems: string[] = [];
  if (cases.length === 0) problems.push(`${label} has no cases: nothing was measured.`);
  else if (!cases.some(hasLabel)) problems.push(`${label} has no labels: its answers could not be checked.`);
  const [unreadable, ...more] = cases.filter(({ row }) => row === null).map(({ result }) => result.id);
  if (unreadable !== undefined)
    problems.push(
      `${label} has ${more.length === 0 ? '1 row' : `${more.length + 1} rows`} that cannot be read, ` +
        `for example ${unreadable}: ${more.length === 0 ? 'its result is' : 'their results are'} ` +
        'unknown.',
    );
  if (!isAll) problems.push(`${label} was not fully replayed: the missing cases may be the failing ones.`);
  if (bars.every(({ dataset }) => dataset !== undefined && dataset !== name))
    problems.push(`No bar covers ${name}: add one, or leave the data set out.`);
  return problems.map((sentence) => toProblem(label, sentence));
}

function hasLabel({ row }: ReplayedCase): boolean {
  if (row === null) return false;
  const lists = [
    row.expected_lines,
    row.failing_tests,
    row.faulty_files,
    row.required_mentions,
    row.forbidden_mentions,
  ];
  return (
    row.category != null ||
    row.kind != null ||
    row.group != null ||
    row.root_cause != null ||
    isLabelledBuild(row) ||
    lists.some((list) => (list?.length ?? 0) > 0)
  );
}

function createNotReplayed({ figure, why }: Bar, dataset: string, names: readonly string[]): BarOutcome {
  const near = findNearestName(dataset, names);
  const hint = near === null ? `replayed: ${names.join(', ') || 'nothing'}` : `did you mean ${near}?`;
  return {
    ...toProblem(dataset, `${dataset} was not replayed, so ${figure} could not be checked; ${hint}`),
    figure,
    why: why ?? null,
  };
}

function toProblem(dataset: string, sentence: string): BarOutcome {
  const nothing = { bar: null, status: 'failed' as const, value: null, interval: null, cases: null };
  return { dataset, figure: '(data set)', ...nothing, sentence, why: null, against: [] };
}

/** The tolerance for sums, whose last digits depend on the order of their terms. */
const ROUNDING = 1e-9;

function judgeBar(bar: Bar, { label, sections }: Pick<GatedRun, 'label' | 'sections'>): BarOutcome {
  const found = findFigure(bar, sections);
  if (typeof found === 'string') return createUnjudged(bar, label, `${label}: ${found}`);
  const { value, interval, cases, against } = found;
  const status =
    bar.noise === 'none' || interval === undefined
      ? pointStatus(bar, value)
      : getRangeStatus(bar, value, interval);
  const sentence = formatSentence(bar, label, found, status);
  return {
    ...createUnjudged(bar, label, sentence),
    status,
    value,
    interval: interval ?? null,
    cases,
    against: against ?? [],
  };
}

/** Creates the outcome of a bar that could not be judged. It counts as missed. */
function createUnjudged(bar: Bar, dataset: string, sentence: string): BarOutcome {
  return {
    ...toProblem(dataset, sentence),
    figure: bar.figure,
    bar: formatBarText(bar),
    why: bar.why ?? null,
  };
}

function formatBarText({ atLeast, atMost, worseBy }: Bar): string {
  if (atLeast !== undefined) return `at least ${atLeast}`;
  return atMost === undefined ? `worse by at most ${worseBy}` : `at most ${atMost}`;
}

function findFigure({ figure, section }: Bar, sections: readonly FigureSection[]): Figure | string {
  const titles = sections.map(({ title }) => title);
  if (section !== undefined && !titles.includes(section))
    return `there is no section "${section}"${suggestName(section, titles)}`;
  const among = sections.filter(({ title }) => section === undefined || title === section);
  const found = among.flatMap(({ title, figures }) =>
    figures.filter(({ name }) => name === figure).map((other) => ({ title, one: other })),
  );
  const [first, second] = found;
  const names = among.flatMap(({ figures }) => figures.map(({ name }) => name));
  if (first === undefined) return `there is no figure "${figure}"${suggestName(figure, names)}`;
  if (second !== undefined)
    return (
      `"${figure}" is in several sections; choose ` +
      `one: ${found.map(({ title }) => `"${title}"`).join(', ')}.`
    );
  if (first.one.judged === true)
    return `"${figure}" is a model's opinion; a gate can only use measured figures.`;
  if (!Number.isFinite(first.one.value)) return `"${figure}" has no value.`;
  if (first.one.cases === 0) return `"${figure}" is based on no cases.`;
  return first.one;
}

function suggestName(name: string, known: readonly string[]): string {
  const near = findNearestName(name, known);
  return near === null
    ? '; see the table for available figures, which depend on the labels.'
    : `; did you mean "${near}"?`;
}

function pointStatus({ atLeast, atMost }: Bar, value: number): BarStatus {
  const misses =
    atLeast !== undefined ? value < atLeast - ROUNDING : atMost !== undefined && value > atMost + ROUNDING;
  return misses ? 'failed' : 'ok';
}

function getRangeStatus(bar: Bar, value: number, [low, high]: readonly [number, number]): BarStatus {
  if (pointStatus(bar, value) === 'ok') return 'ok';
  const best = bar.atLeast === undefined ? low : high;
  return pointStatus(bar, best) === 'ok' ? 'within-noise' : 'failed';
}

function formatSentence(bar: Bar, dataset: string, figure: Figure, status: BarStatus): string {
  const range = figure.interval === undefined || bar.noise === 'none' ? '' : ` ${formatInterval(figure)}`;
  const side = bar.atLeast === undefined ? 'above' : 'below';
  const lead = `${dataset}: ${bar.figure} is ${formatValue(figure)}${range}, n=${figure.cases}`;
  if (status === 'ok') return `${lead}; required: ${formatBarText(bar)}.`;
  const missed = `${side} its bar of ${bar.atLeast ?? bar.atMost}`;
  return status === 'failed' ? `${lead}: ${missed}.` : `${lead}: ${missed}, within noise.`;
}

function judgeWorse(
  bar: Bar,
  worseBy: number,
  { label }: Pick<GatedRun, 'label'>,
  compared: Comparison | string | null,
): BarOutcome {
  if (compared === null || typeof compared === 'string') {
    return createUnjudged(
      bar,
      label,
      `${label}: ${bar.figure} could not be compared to the baseline: ${compared}`,
    );
  }
  const missing = findMissingCases(compared);
  if (missing !== null) return createUnjudged(bar, label, `${label}: ${missing}`);
  const found = compared.differences.find((difference) => difference.name === bar.figure);
  if (found === undefined)
    return createUnjudged(bar, label, `${label}: ${explainNotComparable(bar.figure, compared)}`);
  if (found.better === null)
    return createUnjudged(
      bar,
      label,
      `${label}: neither direction is worse for "${bar.figure}"; set atLeast or atMost.`,
    );
  return createOutcome(bar, worseBy, label, found, compared);
}

/**
 * Returns an error if cases are missing in the baseline, or null otherwise. Without this check, the worst
 * cases could be removed from the baseline.
 */
function findMissingCases({ cases }: Comparison): string | null {
  const [first] = cases.onlyB;
  if (first === undefined) return null;
  return (
    `the baseline lacks ${cases.onlyB.length} of the cases, for example ${first}: ` +
    'recreate it with --out.'
  );
}

function explainNotComparable(figure: string, { differences }: Comparison): string {
  const names = differences.map(({ name }) => name);
  const near = findNearestName(figure, names);
  const hint =
    near === null ? '; `faultline compare` lists the compared figures' : `; did you mean "${near}"?`;
  return `"${figure}" is not compared with a baseline${hint}`;
}

function createOutcome(
  bar: Bar,
  worseBy: number,
  dataset: string,
  found: Difference,
  compared: Comparison,
): BarOutcome {
  const sign = found.better === 'higher' ? -1 : 1;
  const worse = sign * found.difference;
  const ends = found.interval?.map((end) => sign * end).sort((left, right) => left - right);
  const interval = ends === undefined ? null : ([ends[0] ?? worse, ends[1] ?? worse] as const);
  const status = judgeStatus(bar, worseBy, worse, interval, found);
  const range =
    interval === null || bar.noise === 'none'
      ? ''
      : ` (95 %: ${interval[0].toFixed(3)} to ${interval[1].toFixed(3)})`;
  const was = `${dataset}: ${bar.figure} is ${found.b.toFixed(3)}, was ${found.a.toFixed(3)}`;
  const by = worse > 0 ? `worse by ${worse.toFixed(3)}${range}` : 'no worse';
  const verdict = {
    ok: ` required: ${formatBarText(bar)}.`,
    failed: ` more than ${worseBy}.`,
    'within-noise': ` more than ${worseBy}, within noise.`,
  };
  const against = found.name === compared.wonBy ? compared.lost.map(({ id }) => id) : [];
  return {
    ...createUnjudged(bar, dataset, `${was}: ${by};${verdict[status]}`),
    status,
    value: worse,
    interval,
    cases: found.cases,
    against,
  };
}

/**
 * Judges a bar by the difference from the baseline. It is missed beyond noise only if the comparison says so
 * and the whole interval exceeds the allowed decline.
 */
function judgeStatus(
  bar: Bar,
  worseBy: number,
  worse: number,
  interval: readonly [number, number] | null,
  { verdict }: Difference,
): BarStatus {
  if (worse <= worseBy + ROUNDING) return 'ok';
  if (bar.noise === 'none' || interval === null) return 'failed';
  return verdict === 'a-better' && interval[0] > worseBy + ROUNDING ? 'failed' : 'within-noise';
}

/**
 * Compares the run with the baseline (A) on the cases that both have. Returns a sentence if they cannot be
 * compared.
 */
async function compareToBaseline(baseline: RunResults | null, run: GatedRun): Promise<Comparison | string> {
  if (baseline === null) return 'no baseline is named.';
  const results = new Map(run.cases.map(({ result }) => [result.id, result]));
  try {
    return await compareRuns({
      dataset: run.label,
      cases: listOutcomes(run),
      files: { a: [baseline], b: [{ path: run.name, results }] },
    });
  } catch (error) {
    return getErrorMessage(error);
  }
}

async function* listOutcomes({ cases }: GatedRun): AsyncGenerator<CaseOutcome> {
  for (const [index, { row }] of cases.entries()) {
    if (row !== null)
      yield {
        line: index + 1,
        one: { row, load: () => Promise.reject(new Error('a comparison reads no log')) },
      };
  }
}
