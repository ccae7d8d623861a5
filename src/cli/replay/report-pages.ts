import { maskingOf } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import {
  type ReportCaseList,
  type ReportComparison,
  type ReportDifference,
  renderComparisonReport,
} from '../../console/replay-report/comparison.ts';
import { renderReplayReport } from '../../console/replay-report/replay-report.ts';
import type {
  ReportCase,
  ReportCaseMore,
  ReportFigure,
  ReportSection,
  ReportSet,
  ReportStated,
} from '../../console/replay-report/report.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { createMasker, type Masker } from '../../log/mask/mask.ts';
import type { DatasetRow } from '../../replay/cases/case.ts';
import type { ChangedCase, Comparison, CostDifference, Difference, DifferenceVerdict, Spread } from '../../replay/compare/comparison.ts';
import { amount, dollars, leftOutLines, namesOf, probability, signed } from '../../replay/compare/text.ts';
import { type StatedBy, statementsOf } from '../../replay/figures/calibration.ts';
import { type Figure, type FigureSection, isRight, judgedCases } from '../../replay/figures/figure.ts';
import { intervalText, isNotable, valueText } from '../../replay/report/table.ts';
import type { ReplayedCase } from '../../replay/run/replay.ts';
import type { CaseResult } from '../../replay/run/result.ts';
import { readResultLines } from '../../replay/run/results-file.ts';
import { VERSION } from '../version.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import type { ReportedRun } from './replay-source.ts';
import { settingsOf } from './run-files.ts';

/** The confusion matrix is here a part of its own, with links. */
const DRAWN = /^category, whole matrix/;
const NOTHING = 'nothing';

/** Everything that was replayed as one page that needs nothing else; `further` are sections of the whole run. */
export async function reportPage(
  reported: readonly ReportedRun[],
  options: ReplayCommandOptions,
  config: Config,
  further: readonly FigureSection[] = [],
): Promise<string> {
  const cases = await reportCases(reported, config);
  const settings = Object.entries(settingsOf(options, config)).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)] as const],
  );
  const sets = reported.map((one, at) => ({ ...setOf(one, config), cases: cases[at] ?? [] }));
  return renderReplayReport({ version: VERSION, madeAt: new Date().toISOString(), settings, sets, further: further.map(sectionOf) });
}

function setOf({ heading, run, sections, repeat }: ReportedRun, config: Config): Omit<ReportSet, 'cases'> {
  const threshold = config.triage.thresholds.autoNotify;
  const stated = [
    statedOf('category’s probability', run.cases, 'classification', threshold),
    statedOf('answer’s probability', run.cases, 'answer', threshold),
  ];
  return {
    name: repeat === 1 ? run.source.name : `${run.source.name}, repeat ${repeat}`,
    heading,
    stopped: run.stopped,
    sections: sections.filter(({ title }) => !DRAWN.test(title)).map(sectionOf),
    stated: stated.filter(({ judged }) => judged.length > 0),
    confusion: confusionOf(run.cases),
  };
}

/** By hundredths, rounded down, as the console's charts count them. */
function statedOf(name: string, cases: readonly ReplayedCase[], by: StatedBy, threshold: number): ReportStated {
  const groups = Map.groupBy(statementsOf(cases, by), ({ stated, right }) => `${Math.floor(stated * 100 + 1e-9)} ${right}`);
  const judged = [...groups.values()].map((group) => ({
    at: Math.floor((group[0]?.stated ?? 0) * 100 + 1e-9) / 100,
    right: group[0]?.right === true,
    count: group.length,
  }));
  return { name, judged, threshold };
}

function confusionOf(cases: readonly ReplayedCase[]): ReportSet['confusion'] {
  const judged = judgedCases(cases);
  if (!judged.some(({ said }) => said !== null)) return [];
  const truths = CATEGORIES.filter((category) => judged.some(({ truth }) => truth === category));
  const silent = judged.some(({ said }) => said === null);
  const saids: readonly string[] = silent ? [...CATEGORIES, NOTHING] : CATEGORIES;
  return truths.flatMap((truth) =>
    saids.map((said) => ({
      truth,
      said,
      ids: judged.filter((entry) => entry.truth === truth && (entry.said ?? NOTHING) === said).map(({ one }) => one.result.id),
    })),
  );
}

function sectionOf({ title, figures }: FigureSection): ReportSection {
  return { title, figures: figures.map(figureOf) };
}

function figureOf(figure: Figure): ReportFigure {
  return {
    name: figure.name,
    value: valueText(figure),
    interval: intervalText(figure),
    cases: figure.cases,
    share: figure.unit === undefined ? figure.value : null,
    cell: figure.cell ?? null,
    against: figure.against ?? [],
    isNotable: isNotable(figure),
    isJudged: figure.judged === true,
  };
}

/** Of a set with no more cases, all are told in full. */
const ALL_UP_TO = 100;
/** Of others, so many at most: those that failed, those that are wrong, and those that a figure names. */
const MOST_TOLD = 400;
/** Characters of excerpts that a case brings. */
const MOST_TEXT = 8_000;
const MOST_LISTED = 20;

/** The cases of each run, the most telling first. What is told in full comes from the results file, read once more; what people wrote is masked. */
export async function reportCases(reported: readonly ReportedRun[], config: Config): Promise<ReportCase[][]> {
  const masker = createMasker(maskingOf(config));
  const files = Map.groupBy(reported, ({ results }) => results?.path ?? '');
  const cases = new Map<ReportedRun, ReportCase[]>();
  for (const [path, runs] of files) {
    const lines = path === '' ? null : readResultLines(path);
    // One file holds its runs one after the other.
    for (const one of runs) cases.set(one, await casesOf(one, lines, masker));
  }
  return reported.map((one) => cases.get(one) ?? []);
}

async function casesOf({ run, sections }: ReportedRun, lines: AsyncGenerator<CaseResult> | null, masker: Masker): Promise<ReportCase[]> {
  const linked = new Set(sections.flatMap(({ figures }) => figures.flatMap(({ against }) => against ?? [])));
  const ranked = run.cases
    .map((one, at) => ({ one, at, rank: rankOf(one, linked) }))
    .sort((left, right) => left.rank - right.rank || left.at - right.at);
  const told = ranked.filter(({ rank }) => run.cases.length <= ALL_UP_TO || rank < UNTOLD).slice(0, MOST_TOLD);
  const chosen = new Set(told.map(({ at }) => at));
  const more = new Map<number, ReportCaseMore>();
  for (const [at, one] of run.cases.entries()) {
    const line = await lines?.next();
    if (chosen.has(at) && line !== undefined && line.done !== true) more.set(at, await moreOf(one.row, line.value, masker));
  }
  return await Promise.all(ranked.map(({ one, at }) => caseOf(one, more.get(at) ?? null, masker)));
}

const UNTOLD = 4;

/** 0: failed, 1: wrong and the surer the sooner, 3: named by a figure, 4: neither. */
function rankOf(one: ReplayedCase, linked: ReadonlySet<string>): number {
  if (one.result.error !== null) return 0;
  const [judged] = judgedCases([one]);
  if (judged !== undefined && judged.said !== null && !isRight(judged)) return 2 - (one.result.confidence ?? 0);
  return linked.has(one.result.id) ? 3 : UNTOLD;
}

async function caseOf(one: ReplayedCase, more: ReportCaseMore | null, masker: Masker): Promise<ReportCase> {
  const { result } = one;
  const [judged] = judgedCases([one]);
  return {
    id: result.id,
    truth: judged === undefined ? null : judged.accepted.join(' or '),
    said: result.category,
    probability: result.confidence,
    isRight: judged === undefined || judged.said === null ? null : isRight(judged),
    error: result.error === null ? null : (await masker.mask(result.error)).text,
    more,
  };
}

async function moreOf(row: DatasetRow | null, result: CaseResult, masker: Masker): Promise<ReportCaseMore> {
  const masked = async (text: string | null | undefined) => (text == null ? null : (await masker.mask(text)).text);
  const truth = new Set(row?.faulty_files ?? []);
  return {
    kind: result.kind,
    action: result.action,
    answerConfidence: result.answerConfidence,
    rootCause: result.rootCause,
    fixRecommendation: result.fixRecommendation,
    trueCause: await masked(row?.root_cause),
    trueFix: await masked(row?.fix),
    quotes: result.claims.flatMap(({ quotes }) => quotes).slice(0, MOST_LISTED),
    tools: result.tools,
    suspects: result.suspects
      .slice(0, MOST_LISTED)
      .map(({ path, line }) => ({ path, line, isTrue: truth.size === 0 ? null : truth.has(path) })),
    faultyFiles: (await masker.maskAll([...truth].slice(0, MOST_LISTED))).map(({ text }) => text),
    failingTests: result.failingTests.slice(0, MOST_LISTED).map(({ suite, name }) => (suite === null ? name : `${suite} › ${name}`)),
    ...excerptsOf(result),
    seconds: result.milliseconds / 1000,
    costUsd: result.usage.costUsd,
    iterations: result.iterations,
  };
}

function excerptsOf({ excerpts }: CaseResult): Pick<ReportCaseMore, 'excerpts' | 'moreExcerpts'> {
  let room = MOST_TEXT;
  const kept = excerpts.filter(({ text }) => {
    room -= text.length;
    return room >= 0;
  });
  return { excerpts: kept, moreExcerpts: excerpts.length - kept.length };
}

const VERDICTS: Readonly<Record<DifferenceVerdict, readonly [words: string, tone: ReportDifference['tone']]>> = {
  'b-better': ['B is better', 'better'],
  'a-better': ['B is worse', 'worse'],
  higher: ['B is higher', 'other'],
  lower: ['B is lower', 'other'],
  'within-noise': ['within noise', 'same'],
  same: ['same', 'same'],
};
const MOST_NAMED = 20;

/** Comparisons as one page that needs nothing else. */
export function comparePage(comparisons: readonly Comparison[]): string {
  return renderComparisonReport({ version: VERSION, madeAt: new Date().toISOString(), comparisons: comparisons.map(partOf) });
}

function partOf(comparison: Comparison): ReportComparison {
  const { dataset, sides, cases, resampling, won, lost, changed } = comparison;
  const drawn = resampling.by === 'project' ? `${resampling.units} projects` : `${resampling.units} cases`;
  return {
    heading: `${dataset}: A against B`,
    sides: [
      ['A', sides.a.files.join(', ')],
      ['B', sides.b.files.join(', ')],
    ],
    basis: `${amount(cases.compared, 'case', 'cases')} on both sides; intervals (95 %) from resampling ${drawn}, with both sides of a case kept together.`,
    summary: comparison.summary,
    differences: comparison.differences.map(differenceOf),
    costs: comparison.costs.map(costOf),
    lists: [
      listOf('Won: B is better', won, dataset),
      listOf('Lost: B is worse', lost, dataset),
      listOf('Changed, neither better nor worse', changed, dataset),
    ].filter((list) => list.cases.length > 0),
    notes: [
      ...spreadNotes('A', sides.a.spread),
      ...spreadNotes('B', sides.b.spread),
      ...leftOutLines(comparison, MOST_NAMED).map(capitalised),
    ],
  };
}

function differenceOf(one: Difference): ReportDifference {
  const [verdict, tone] = VERDICTS[one.verdict];
  return {
    name: one.name,
    a: one.a.toFixed(3),
    b: one.b.toFixed(3),
    difference: signed(one.difference),
    interval: one.interval === null ? '' : `${signed(one.interval[0])} to ${signed(one.interval[1])}`,
    wonLost: `${one.won}/${one.lost}`,
    p: one.mcNemar === null ? '' : probability(one.mcNemar.midP),
    verdict,
    tone,
    cases: one.cases,
    drawn: { value: one.difference, interval: one.interval },
  };
}

function costOf({ name, unit, a, b, difference, interval }: CostDifference): ReportComparison['costs'][number] {
  const say = (value: number) => (unit === 'dollars' ? dollars(value) : value.toFixed(unit === 'rounds' ? 1 : 0).replace('-', '−'));
  const range = interval === null ? '' : `${say(interval[0])} to ${say(interval[1])}`;
  return { name, a: say(a), b: say(b), difference: say(difference), interval: range };
}

function listOf(title: string, cases: readonly ChangedCase[], dataset: string): ReportCaseList {
  // In a folder the number is no line of anything.
  const place = (line: number) => (dataset.endsWith('.jsonl') ? `${dataset}:${line}` : '');
  return { title, cases: cases.map(({ id, line, url, truth, said }) => ({ id, place: place(line), url, truth, a: said.a, b: said.b })) };
}

function spreadNotes(side: string, spread: Spread | null): string[] {
  if (spread === null) return [];
  const figures = spread.figures.map(({ name, mean, deviation }) => `${name} ${mean.toFixed(3)} ± ${deviation.toFixed(3)}`);
  const flips = `${spread.flips.length} change category between repeats${namesOf(spread.flips, MOST_NAMED)}`;
  return [`${spread.repeats} repeats of ${side} (mean ± standard deviation): ${figures.join('; ')}; ${flips}`];
}

function capitalised(line: string): string {
  return line.charAt(0).toUpperCase() + line.slice(1);
}
