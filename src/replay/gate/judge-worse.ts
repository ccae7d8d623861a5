import type { Comparison, Difference } from '../compare/comparison.ts';
import type { Bar } from './bars.ts';
import type { BarOutcome, BarStatus } from './gate-result.ts';
import type { GatedRun } from './gated-run.ts';
import { barText, unjudged } from './judge-bar.ts';
import { nearestName } from './nearest-name.ts';

const ROUNDING = 1e-9;

/** Holds a figure against the baseline's on the same cases. */
export function judgeWorse(
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
    return unjudged(bar, label, `${label}: neither direction is worse for "${bar.figure}"; set atLeast or atMost.`);
  return outcomeOf(bar, worseBy, label, found, compared);
}

/** A baseline of other cases would let the worst cases be left out. */
function missingCases({ cases }: Comparison): string | null {
  const [first] = cases.onlyB;
  if (first === undefined) return null;
  return `the baseline lacks ${cases.onlyB.length} of the cases, for example ${first}: recreate it with --out.`;
}

function notComparable(figure: string, { differences }: Comparison): string {
  const near = nearestName(
    figure,
    differences.map(({ name }) => name),
  );
  const hint = near === null ? '; `faultline compare` lists the compared figures' : `; did you mean "${near}"?`;
  return `"${figure}" is not compared with a baseline${hint}`;
}

function outcomeOf(bar: Bar, worseBy: number, dataset: string, found: Difference, compared: Comparison): BarOutcome {
  const sign = found.better === 'higher' ? -1 : 1;
  const worse = sign * found.difference;
  const ends = found.interval?.map((end) => sign * end).sort((left, right) => left - right);
  const interval = ends === undefined ? null : ([ends[0] ?? worse, ends[1] ?? worse] as const);
  const status = statusOf(bar, worseBy, worse, interval, found);
  const range = interval === null || bar.noise === 'none' ? '' : ` (95 %: ${interval[0].toFixed(3)} to ${interval[1].toFixed(3)})`;
  const was = `${dataset}: ${bar.figure} is ${found.b.toFixed(3)}, was ${found.a.toFixed(3)}`;
  const by = worse > 0 ? `worse by ${worse.toFixed(3)}${range}` : 'no worse';
  const verdict = {
    ok: ` required: ${barText(bar)}.`,
    failed: ` more than ${worseBy}.`,
    'within-noise': ` more than ${worseBy}, within noise.`,
  };
  return {
    dataset,
    figure: bar.figure,
    bar: barText(bar),
    status,
    value: worse,
    interval,
    cases: found.cases,
    sentence: `${was}: ${by};${verdict[status]}`,
    why: bar.why ?? null,
    against: found.name === compared.wonBy ? compared.lost.map(({ id }) => id) : [],
  };
}

/** Beyond noise is what the comparison calls so, and by the whole interval more than allowed. */
function statusOf(
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
