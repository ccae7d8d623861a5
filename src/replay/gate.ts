import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { Comparison, Difference } from '../domain/comparison.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { type CaseOutcome, isLabelledBuild } from './cases/case.ts';
import { compareRuns } from './compare/compare-runs.ts';
import type { Figure, FigureSection } from './figures/figure.ts';
import { intervalText, type JunitSuite, type JunitTest, valueText } from './report.ts';
import type { ReplayedCase } from './run/replay.ts';
import { type RunResults, readResults } from './run/results.ts';

const Name = z.string().min(1);

/** One bar: a figure and how low or high it may be, or how much worse than the baseline's. */
export const Bar = z
  .strictObject({
    /**
     * The data set that the bar applies to, by the name of its file or folder. If absent, it applies to every
     * data set.
     */
    dataset: Name.optional(),
    /** The heading of the figure in the table, if the name of the figure alone is ambiguous. */
    section: Name.optional(),
    figure: Name,
    atLeast: z.number().optional(),
    atMost: z.number().optional(),
    /** The largest allowed decline from the baseline on the same cases, in the figure's own unit. */
    worseBy: z.number().min(0).optional(),
    /**
     * The treatment of chance. With `interval`, a bar is missed only if the whole 95 % interval is on the
     * wrong side. With `none`, it is missed by any amount, for analysts that always answer the same.
     */
    noise: z.enum(['interval', 'none']).default('interval'),
    /** The purpose of the bar, shown if it is missed. */
    why: Name.optional(),
  })
  .refine(
    ({ atLeast, atMost, worseBy }) =>
      [atLeast, atMost, worseBy].filter((one) => one !== undefined).length === 1,
    {
      message: 'set exactly one of atLeast, atMost and worseBy',
    },
  );
export type Bar = z.infer<typeof Bar>;

const Bars = z
  .strictObject({
    schema: z.literal(1),
    /** The results that `worseBy` is measured against, by their path relative to this file. */
    baseline: Name.optional(),
    bars: z.array(Bar).min(1),
  })
  .refine(
    ({ baseline, bars }) => baseline !== undefined || bars.every(({ worseBy }) => worseBy === undefined),
    {
      message: 'a bar uses worseBy, but no baseline is named',
      path: ['baseline'],
    },
  );
type Bars = z.infer<typeof Bars>;

/** Bars that are ready to judge. */
export interface Gate {
  readonly path: string;
  readonly bars: readonly Bar[];
  readonly baseline: RunResults | null;
}

/**
 * Reads a file of bars and the baseline that it names. This happens before anything is replayed, so that a
 * mistake does not cost a run.
 */
export async function openGate(path: string): Promise<Gate> {
  const { baseline, bars } = await readBars(path);
  return {
    path,
    bars,
    baseline: baseline === undefined ? null : await readResults(resolve(dirname(path), baseline)),
  };
}

async function readBars(path: string): Promise<Bars> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new TriageError('not-found', `--gate: ${path} cannot be read: ${getErrorMessage(cause)}.`, {
      cause,
    });
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TriageError('invalid-input', `--gate: ${path} is not JSON: ${getErrorMessage(cause)}.`, {
      cause,
    });
  }
  const parsed = Bars.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || '(file)'}: ${issue.message}`,
  );
  throw new TriageError('invalid-input', `--gate: ${path} is not a gate file: ${problems.join('; ')}.`);
}

/** The result of checking the measurements against the bars. Stable: scripts read it. */
export interface GateResult {
  readonly schema: 1;
  readonly file: string;
  /** True if no bar is missed beyond noise and every bar could be judged. */
  readonly ok: boolean;
  readonly outcomes: readonly BarOutcome[];
}

/** `within-noise`: on the wrong side of its bar, but chance alone may have put it there. */
type BarStatus = 'ok' | 'within-noise' | 'failed';

interface BarOutcome {
  readonly dataset: string;
  readonly figure: string;
  /**
   * The bar in words, such as "at least 0.9". Null if the outcome is not about a bar of the file, for example
   * because a data set is empty.
   */
  readonly bar: string | null;
  readonly status: BarStatus;
  /** The measured value or, for `worseBy`, the decline. Null if it could not be judged. */
  readonly value: number | null;
  readonly interval: readonly [low: number, high: number] | null;
  readonly cases: number | null;
  readonly sentence: string;
  readonly why: string | null;
  /** Ids of the cases that keep the figure from being better. Empty if no single case does. */
  readonly against: readonly string[];
}

/** One data set as it was replayed, with its figures. */
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

const INDENT = '  ';
const WORDS: Readonly<Record<BarStatus, string>> = { ok: 'ok', 'within-noise': 'noise', failed: 'FAILED' };
const MOST_NAMED = 10;

/**
 * Renders a gate for people: one line for the result, then one line per bar, the missed ones first with the
 * cases to look at.
 */
export function renderGate(gate: GateResult): string {
  const missed = gate.outcomes.filter(({ status }) => status === 'failed');
  const noisy = gate.outcomes.filter(({ status }) => status === 'within-noise');
  const count =
    `${gate.outcomes.length - missed.length} of ${gate.outcomes.length} bars ` +
    `held${noisy.length > 0 ? `, ${noisy.length} of them only within noise` : ''}`;
  const heading = `gate ${gate.file}: ${gate.ok ? 'passed' : 'FAILED'}, ${count}`;
  const rank: Readonly<Record<BarStatus, number>> = { failed: 0, 'within-noise': 1, ok: 2 };
  const sorted = gate.outcomes.toSorted((left, right) => rank[left.status] - rank[right.status]);
  return [heading, ...sorted.flatMap(formatLines)].join('\n');
}

function formatLines({ status, sentence, why, against }: BarOutcome): string[] {
  const more = against.length > MOST_NAMED ? ` and ${against.length - MOST_NAMED} more` : '';
  return [
    `${INDENT}${WORDS[status].padEnd(6)}  ${sentence}`,
    ...(status === 'ok' || why === null ? [] : [`${INDENT.repeat(5)}Why: ${why}`]),
    ...(status === 'ok' || against.length === 0
      ? []
      : [`${INDENT.repeat(5)}Look at: ${against.slice(0, MOST_NAMED).join(', ')}${more}`]),
  ];
}

/**
 * Converts the bars for a CI server: one suite per data set, one test per bar. A bar within noise passes, and
 * its output says so.
 */
export function toJunit(gate: GateResult): JunitSuite[] {
  const byDataset = Map.groupBy(gate.outcomes, ({ dataset }) => dataset);
  return [...byDataset].map(([dataset, outcomes]) => ({
    name: `gate: ${dataset}`,
    tests: outcomes.map(toTest),
  }));
}

function toTest({ figure, bar, status, sentence, why, against }: BarOutcome): JunitTest {
  const test = { name: bar === null ? figure : `${figure} ${bar}`, seconds: 0 };
  if (status === 'ok') return test;
  const lines = [
    sentence,
    ...(why === null ? [] : [`Why: ${why}`]),
    ...(against.length === 0 ? [] : [`Look at: ${against.join(', ')}`]),
  ];
  return status === 'failed'
    ? { ...test, failure: sentence, output: lines.join('\n') }
    : { ...test, output: lines.join('\n') };
}

/**
 * Checks every bar against every data set that it applies to. A bar that cannot be judged has failed and
 * never passes. This is the case if a figure is missing, or if a data set was not replayed, is empty, has no
 * label, contains rows that cannot be read, or was not replayed to its end.
 */
export async function judgeGate(gate: Gate, runs: readonly GatedRun[]): Promise<GateResult> {
  const outcomes: BarOutcome[] = runs.flatMap((run) => listProblems(run, gate.bars));
  for (const run of runs) {
    const own = gate.bars.filter(({ dataset }) => dataset === undefined || dataset === run.name);
    const worse = own.some(({ worseBy }) => worseBy !== undefined)
      ? await compareToBaseline(gate.baseline, run)
      : null;
    for (const bar of own)
      outcomes.push(
        bar.worseBy === undefined ? judgeBar(bar, run) : judgeWorse(bar, bar.worseBy, run, worse),
      );
  }
  const names = [...new Set(runs.map(({ name }) => name))];
  for (const bar of gate.bars)
    if (bar.dataset !== undefined && !names.includes(bar.dataset))
      outcomes.push(notReplayed(bar, bar.dataset, names));
  if (runs.length === 0) outcomes.push(problem('(none)', 'Nothing was replayed, so no bar was checked.'));
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
  return problems.map((sentence) => problem(label, sentence));
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

function notReplayed({ figure, why }: Bar, dataset: string, names: readonly string[]): BarOutcome {
  const near = nearestName(dataset, names);
  const hint = near === null ? `replayed: ${names.join(', ') || 'nothing'}` : `did you mean ${near}?`;
  return {
    ...problem(dataset, `${dataset} was not replayed, so ${figure} could not be checked; ${hint}`),
    figure,
    why: why ?? null,
  };
}

function problem(dataset: string, sentence: string): BarOutcome {
  const nothing = { bar: null, status: 'failed' as const, value: null, interval: null, cases: null };
  return { dataset, figure: '(data set)', ...nothing, sentence, why: null, against: [] };
}

/** The tolerance for sums, whose last digits depend on the order of their terms. */
const ROUNDING = 1e-9;

function judgeBar(bar: Bar, { label, sections }: Pick<GatedRun, 'label' | 'sections'>): BarOutcome {
  const found = findFigure(bar, sections);
  if (typeof found === 'string') return unjudged(bar, label, `${label}: ${found}`);
  const { value, interval, cases, against } = found;
  const status =
    bar.noise === 'none' || interval === undefined
      ? pointStatus(bar, value)
      : rangeStatus(bar, value, interval);
  const sentence = formatSentence(bar, label, found, status);
  return {
    ...unjudged(bar, label, sentence),
    status,
    value,
    interval: interval ?? null,
    cases,
    against: against ?? [],
  };
}

/** Creates the outcome of a bar that could not be checked, which counts as missed. */
function unjudged(bar: Bar, dataset: string, sentence: string): BarOutcome {
  return { ...problem(dataset, sentence), figure: bar.figure, bar: barText(bar), why: bar.why ?? null };
}

function barText({ atLeast, atMost, worseBy }: Bar): string {
  if (atLeast !== undefined) return `at least ${atLeast}`;
  return atMost === undefined ? `worse by at most ${worseBy}` : `at most ${atMost}`;
}

function findFigure({ figure, section }: Bar, sections: readonly FigureSection[]): Figure | string {
  const titles = sections.map(({ title }) => title);
  if (section !== undefined && !titles.includes(section))
    return `there is no section "${section}"${meant(section, titles)}`;
  const among = sections.filter(({ title }) => section === undefined || title === section);
  const found = among.flatMap(({ title, figures }) =>
    figures.filter(({ name }) => name === figure).map((one) => ({ title, one })),
  );
  const [first, second] = found;
  const names = among.flatMap(({ figures }) => figures.map(({ name }) => name));
  if (first === undefined) return `there is no figure "${figure}"${meant(figure, names)}`;
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

function meant(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === null
    ? '; see the table for available figures, which depend on the labels.'
    : `; did you mean "${near}"?`;
}

function pointStatus({ atLeast, atMost }: Bar, value: number): BarStatus {
  const misses =
    atLeast !== undefined ? value < atLeast - ROUNDING : atMost !== undefined && value > atMost + ROUNDING;
  return misses ? 'failed' : 'ok';
}

function rangeStatus(bar: Bar, value: number, [low, high]: readonly [number, number]): BarStatus {
  if (pointStatus(bar, value) === 'ok') return 'ok';
  const best = bar.atLeast === undefined ? low : high;
  return pointStatus(bar, best) === 'ok' ? 'within-noise' : 'failed';
}

function formatSentence(bar: Bar, dataset: string, figure: Figure, status: BarStatus): string {
  const range = figure.interval === undefined || bar.noise === 'none' ? '' : ` ${intervalText(figure)}`;
  const side = bar.atLeast === undefined ? 'above' : 'below';
  const lead = `${dataset}: ${bar.figure} is ${valueText(figure)}${range}, n=${figure.cases}`;
  if (status === 'ok') return `${lead}; required: ${barText(bar)}.`;
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
    return unjudged(bar, label, `${label}: ${bar.figure} could not be compared to the baseline: ${compared}`);
  }
  const missing = missingCases(compared);
  if (missing !== null) return unjudged(bar, label, `${label}: ${missing}`);
  const found = compared.differences.find((one) => one.name === bar.figure);
  if (found === undefined) return unjudged(bar, label, `${label}: ${notComparable(bar.figure, compared)}`);
  if (found.better === null)
    return unjudged(
      bar,
      label,
      `${label}: neither direction is worse for "${bar.figure}"; set atLeast or atMost.`,
    );
  return createOutcome(bar, worseBy, label, found, compared);
}

/**
 * Returns an error if the baseline lacks some of the cases, or null if it lacks none. Otherwise the worst
 * cases could be left out of the baseline.
 */
function missingCases({ cases }: Comparison): string | null {
  const [first] = cases.onlyB;
  if (first === undefined) return null;
  return (
    `the baseline lacks ${cases.onlyB.length} of the cases, for example ${first}: ` +
    'recreate it with --out.'
  );
}

function notComparable(figure: string, { differences }: Comparison): string {
  const names = differences.map(({ name }) => name);
  const near = nearestName(figure, names);
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
    ok: ` required: ${barText(bar)}.`,
    failed: ` more than ${worseBy}.`,
    'within-noise': ` more than ${worseBy}, within noise.`,
  };
  const against = found.name === compared.wonBy ? compared.lost.map(({ id }) => id) : [];
  return {
    ...unjudged(bar, dataset, `${was}: ${by};${verdict[status]}`),
    status,
    value: worse,
    interval,
    cases: found.cases,
    against,
  };
}

/**
 * Judges a bar by the difference from the baseline. It is missed beyond noise only if the comparison says so
 * and the whole interval exceeds the allowed amount.
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

/** Returns the name that was probably meant: the nearest one by edits, if it is near enough, else null. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const wanted = name.toLowerCase();
  let best: { readonly name: string; readonly edits: number } | null = null;
  for (const one of new Set(known)) {
    const edits = editsBetween(wanted, one.toLowerCase());
    if (best === null || edits < best.edits) best = { name: one, edits };
  }
  // A third of the letters: beyond that it is another name rather than a slip.
  return best !== null && best.edits <= Math.max(2, Math.ceil(name.length / 3)) ? best.name : null;
}

/** Counts the letters to insert, delete or replace (Levenshtein 1966), one row of the table at a time. */
function editsBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [at, letter] of [...left].entries()) {
    const next = [at + 1];
    for (const [column, other] of [...right].entries()) {
      const change = (row[column] ?? 0) + Number(letter !== other);
      next.push(Math.min(change, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
