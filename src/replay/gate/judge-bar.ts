import type { Figure, FigureSection } from '../figures/figure.ts';
import { intervalText, valueText } from '../report/figure-text.ts';
import type { Bar } from './bars.ts';
import type { BarOutcome, BarStatus } from './gate-result.ts';
import type { GatedRun } from './gated-run.ts';
import { nearestName } from './nearest-name.ts';

/** Sums in another order differ in their last digits. */
const ROUNDING = 1e-9;

/** Holds one figure against a bar that is a number. */
export function judgeBar(bar: Bar, { label, sections }: Pick<GatedRun, 'label' | 'sections'>): BarOutcome {
  const found = findFigure(bar, sections);
  if (typeof found === 'string') return unjudged(bar, label, `${label}: ${found}`);
  const { value, interval, cases, against } = found;
  const status = bar.noise === 'none' || interval === undefined ? pointStatus(bar, value) : rangeStatus(bar, value, interval);
  return {
    dataset: label,
    figure: bar.figure,
    bar: barText(bar),
    status,
    value,
    interval: interval ?? null,
    cases,
    sentence: sentenceOf(bar, label, found, status),
    why: bar.why ?? null,
    against: against ?? [],
  };
}

/** A bar that could not be held against anything is a bar that is missed. */
export function unjudged(bar: Bar, dataset: string, sentence: string): BarOutcome {
  const nothing = { value: null, interval: null, cases: null, against: [] };
  return { dataset, figure: bar.figure, bar: barText(bar), status: 'failed', sentence, why: bar.why ?? null, ...nothing };
}

export function barText({ atLeast, atMost, worseBy }: Bar): string {
  if (atLeast !== undefined) return `at least ${atLeast}`;
  return atMost === undefined ? `worse by at most ${worseBy}` : `at most ${atMost}`;
}

/** The figure that is meant, or why there is none. */
function findFigure({ figure, section }: Bar, sections: readonly FigureSection[]): Figure | string {
  const titles = sections.map(({ title }) => title);
  if (section !== undefined && !titles.includes(section)) return `there is no section "${section}"${meant(section, titles)}`;
  const among = sections.filter(({ title }) => section === undefined || title === section);
  const found = among.flatMap(({ title, figures }) => figures.filter(({ name }) => name === figure).map((one) => ({ title, one })));
  const [first, second] = found;
  const names = among.flatMap(({ figures }) => figures.map(({ name }) => name));
  if (first === undefined) return `there is no figure "${figure}"${meant(figure, names)}`;
  if (second !== undefined) return `"${figure}" is in several sections; choose one: ${found.map(({ title }) => `"${title}"`).join(', ')}.`;
  if (first.one.judged === true) return `"${figure}" is a model's opinion; a gate can only use measured figures.`;
  if (!Number.isFinite(first.one.value)) return `"${figure}" has no value.`;
  if (first.one.cases === 0) return `"${figure}" is based on no cases.`;
  return first.one;
}

function meant(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === null ? '; see the table for available figures, which depend on the labels.' : `; did you mean "${near}"?`;
}

function pointStatus({ atLeast, atMost }: Bar, value: number): BarStatus {
  const misses = atLeast !== undefined ? value < atLeast - ROUNDING : atMost !== undefined && value > atMost + ROUNDING;
  return misses ? 'failed' : 'ok';
}

function rangeStatus(bar: Bar, value: number, [low, high]: readonly [number, number]): BarStatus {
  if (pointStatus(bar, value) === 'ok') return 'ok';
  const best = bar.atLeast === undefined ? low : high;
  return pointStatus(bar, best) === 'ok' ? 'within-noise' : 'failed';
}

function sentenceOf(bar: Bar, dataset: string, figure: Figure, status: BarStatus): string {
  const range = figure.interval === undefined || bar.noise === 'none' ? '' : ` ${intervalText(figure)}`;
  const side = bar.atLeast === undefined ? 'above' : 'below';
  const lead = `${dataset}: ${bar.figure} is ${valueText(figure)}${range}, n=${figure.cases}`;
  if (status === 'ok') return `${lead}; required: ${barText(bar)}.`;
  const missed = `${side} its bar of ${bar.atLeast ?? bar.atMost}`;
  return status === 'failed' ? `${lead}: ${missed}.` : `${lead}: ${missed}, within noise.`;
}
