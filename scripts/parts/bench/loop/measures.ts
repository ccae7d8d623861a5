import { bootstrapWeights, type Interval, type Weights } from '../../../../src/lib/statistics.ts';
import { computeCalibrationError } from '../../../../src/replay/figures/calibration.ts';
import type { LoopCase, Spellings } from './case.ts';
import type { Answered } from './designs.ts';

/** A case with the answers of both designs. */
export interface PairedAnswer {
  readonly one: LoopCase;
  readonly linear: Answered;
  readonly loop: Answered;
}

type Side = 'linear' | 'loop';

/** A value of a case and an answer. Null if the truth of the case does not define it. */
interface CaseMeasure {
  readonly name: string;
  readonly better: 'higher' | 'lower' | 'neither';
  readonly value: (loopCase: LoopCase, answered: Answered) => number | null;
}

/** One row of the table. */
export interface Comparison {
  readonly name: string;
  readonly better: CaseMeasure['better'];
  readonly cases: number;
  readonly linear: number;
  readonly loop: number;
  /** The 95 % interval of loop minus linear. Null if no resample differs. */
  readonly interval: Interval | null;
  /** The numbers of cases in which the loop is better, equal, and worse. */
  readonly won: number;
  readonly tied: number;
  readonly lost: number;
}

export const CASE_MEASURES: readonly CaseMeasure[] = [
  {
    name: 'category',
    better: 'higher',
    value: (loopCase, { analysis }) => Number(isRight(loopCase, analysis)),
  },
  {
    name: 'cause names what is at fault',
    better: 'higher',
    value: (loopCase, answered) => holdAll(loopCase.truth.cause, tellCause(answered)),
  },
  {
    name: 'cause names what the log does not show',
    better: 'higher',
    value: ({ truth: { beyondLog } }, answered) =>
      beyondLog === undefined ? null : holdAll(beyondLog, tellCause(answered)),
  },
  {
    name: 'suspect: the commit at fault is first',
    better: 'higher',
    value: (loopCase, answered) => findSuspect(loopCase, answered, 'commit'),
  },
  {
    name: 'suspect: the file at fault is first',
    better: 'higher',
    value: (loopCase, answered) => findSuspect(loopCase, answered, 'path'),
  },
  {
    name: 'fix names its right source',
    better: 'higher',
    value: ({ truth: { fix } }, { analysis }) =>
      fix.length === 0 ? null : holdAll(fix, analysis.answer.fixRecommendation),
  },
  { name: 'published', better: 'neither', value: (_, answered) => Number(isPublished(answered)) },
  {
    name: 'published, wrong category',
    better: 'lower',
    value: (loopCase, answered) => Number(isPublished(answered) && !isRight(loopCase, answered.analysis)),
  },
  {
    name: 'published, cause not named',
    better: 'lower',
    value: (loopCase, answered) =>
      Number(isPublished(answered) && holdAll(loopCase.truth.cause, tellCause(answered)) === 0),
  },
  {
    name: 'Brier score of the confidence',
    better: 'lower',
    value: (loopCase, { analysis }) =>
      (analysis.verdict.confidence - Number(isRight(loopCase, analysis))) ** 2,
  },
];

/** Compares the designs by one value per case. Whole projects are resampled for the interval. */
export function compareMeans(
  { name, better, value }: CaseMeasure,
  pairs: readonly PairedAnswer[],
): Comparison | null {
  const rows = pairs.flatMap(({ one, linear, loop }) => {
    const [before, after] = [value(one, linear), value(one, loop)];
    return before === null || after === null ? [] : [{ one, linear: before, loop: after }];
  });
  if (rows.length === 0) return null;
  const sign = better === 'lower' ? -1 : 1;
  const count = (wanted: number) =>
    rows.filter(({ linear, loop }) => Math.sign(loop - linear) * sign === wanted).length;
  const mean = (side: Side, weights?: number[]) => {
    const total = rows.reduce((sum, row, at) => sum + row[side] * (weights?.[at] ?? 1), 0);
    return total / (weights?.reduce((sum, weight) => sum + weight, 0) ?? rows.length);
  };
  return {
    name,
    better,
    cases: rows.length,
    linear: mean('linear'),
    loop: mean('loop'),
    interval: drawProjects(rows, (weights) => mean('loop', weights) - mean('linear', weights)),
    won: count(1),
    tied: count(0),
    lost: count(-1),
  };
}

/** Compares the expected calibration errors of the stated confidence, over ten bins. */
export function compareCalibration(pairs: readonly PairedAnswer[]): Comparison {
  const state = (side: Side, weights?: number[]) =>
    pairs.map(({ one, [side]: { analysis } }, at) => {
      const right = isRight(one, analysis);
      return { stated: analysis.verdict.confidence, right, weight: weights?.[at] ?? 1 };
    });
  const error = (side: Side, weights?: number[]) => computeCalibrationError(state(side, weights));
  const gap = (side: Side, { one, [side]: { analysis } }: PairedAnswer) =>
    Math.abs(analysis.verdict.confidence - Number(isRight(one, analysis)));
  const signs = pairs.map((pair) => Math.sign(gap('linear', pair) - gap('loop', pair)));
  const count = (wanted: number) => signs.filter((sign) => sign === wanted).length;
  return {
    name: 'expected calibration error',
    better: 'lower',
    cases: pairs.length,
    linear: error('linear'),
    loop: error('loop'),
    interval: drawProjects(pairs, (weights) => error('loop', weights) - error('linear', weights)),
    won: count(1),
    tied: count(0),
    lost: count(-1),
  };
}

/** Compares tool calls and milliseconds as the ratio of their sums. */
export function compareCost(pairs: readonly PairedAnswer[]) {
  const compare = (cost: (answered: Answered) => number) => {
    const sum = (side: Side, weights?: number[]) =>
      pairs.reduce((total, pair, at) => total + cost(pair[side]) * (weights?.[at] ?? 1), 0);
    return {
      linear: sum('linear') / pairs.length,
      loop: sum('loop') / pairs.length,
      ratio: sum('loop') / sum('linear'),
      interval: drawProjects(pairs, (weights) => sum('loop', weights) / sum('linear', weights)),
    };
  };
  return {
    'tool calls': compare(({ heard }) => heard.length),
    milliseconds: compare(({ milliseconds }) => milliseconds),
  };
}

/** Resamples whole projects with replacement, because cases of the same project are correlated. */
function drawProjects(
  rows: readonly { readonly one: LoopCase }[],
  statistic: (weights: number[]) => number,
): Interval | null {
  const projects = [...new Set(rows.map(({ one }) => one.project))].sort();
  const places = rows.map(({ one }) => projects.indexOf(one.project));
  const draw = (drawn: Weights) => [statistic(places.map((place) => drawn[place] ?? 0))];
  return bootstrapWeights(projects.length, rows.length, draw)[0] ?? null;
}

function isRight({ truth }: LoopCase, { category }: Answered['analysis']): boolean {
  return truth.categories.includes(category);
}

function isPublished({ analysis }: Answered): boolean {
  return analysis.verdict.action === 'auto_notify';
}

function tellCause({ analysis: { answer } }: Answered): string {
  return [answer.rootCause].concat(answer.claims.map(({ text }) => text)).join('\n');
}

function holdAll(wanted: readonly Spellings[], text: string): number {
  const lower = text.toLowerCase();
  return Number(
    wanted.every((spellings) => spellings.some((spelling) => lower.includes(spelling.toLowerCase()))),
  );
}

function findSuspect(
  { truth: { suspect } }: LoopCase,
  { analysis }: Answered,
  by: 'commit' | 'path',
): number | null {
  if (suspect === null || suspect[by] === null) return null;
  const [first] = analysis.answer.suspects;
  if (first === undefined) return 0;
  return Number(by === 'commit' ? first.commit === suspect.commit : isSamePath(first.path, suspect.path));
}

/** Checks whether two paths name the same file: one ends with the other. */
function isSamePath(left: string, right: string): boolean {
  return left === right || left.endsWith(`/${right}`) || right.endsWith(`/${left}`);
}
