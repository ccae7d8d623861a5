import { maxOf } from '../../lib/lists.ts';
import { type Html, html } from '../html.ts';
import { type Bin, calibrationBins, FADED_BELOW, type Judged, NO_CURVE_BELOW } from './bins.ts';
import { at, grid, line, type Plot, percentOf, place, ticks, told } from './draw.ts';
import type { Chart, Drawing } from './figure.ts';

const PLOT: Plot = { left: 46, top: 10, width: 360, height: 260 };
const SMALL: Plot = { left: 46, top: 10, width: 200, height: 130 };
const BARS = 40;
const GAP = 22;
const SHARES = [0, 0.25, 0.5, 0.75, 1].map((share) => ({ share, words: percentOf(share) }));
const HEAD = ['Stated', 'Average stated', 'Decided', 'Right', 'Share right', 'From (95 %)', 'To (95 %)'];

/** What was stated against what turned out right, by people's decisions. `small` ones stand side by side. */
export function calibrationChart(of: {
  readonly id: string;
  readonly name: string;
  readonly judged: readonly Judged[];
  readonly csv: string | null;
  readonly small?: boolean;
}): Chart {
  const bins = calibrationBins(of.judged);
  const total = of.judged.reduce((sum, { count }) => sum + count, 0);
  const plot = of.small === true ? SMALL : PLOT;
  const chart: Chart = {
    id: of.id,
    name: of.name,
    finding: calibrationFinding(bins, total),
    description:
      'Each point is a group of answers: stated confidence on the horizontal axis, share that was right on the vertical axis, with its 95 % interval. On the diagonal, both are equal. The bars below count the answers.',
    drawing: bins.length === 0 ? null : drawing(bins, plot),
    table: { head: HEAD, rows: bins.map(rowOf) },
    csv: of.csv,
  };
  return bins.length === 0 ? { ...chart, table: countsOf(of.judged) } : chart;
}

/** What the bins say, in one sentence: the widest gap that chance does not explain. */
export function calibrationFinding(bins: readonly Bin[], total: number): string {
  if (bins.length === 0)
    return total === 0
      ? 'No decisions yet, so stated confidence cannot be compared with accuracy.'
      : `${total} decided. The comparison starts at ${NO_CURVE_BELOW} decisions.`;
  const off = bins.filter((bin) => bin.of >= FADED_BELOW && (bin.stated < bin.low || bin.stated > bin.high));
  const [worst] = off.toSorted((one, other) => Math.abs(other.share - other.stated) - Math.abs(one.share - one.stated));
  if (worst === undefined) return `Stated confidence matches accuracy, as far as ${total} decisions can show.`;
  const points = Math.round(Math.abs(worst.share - worst.stated) * 100);
  const manner = worst.share > worst.stated ? 'underconfident' : 'overconfident';
  return `States ${percentOf(worst.stated)}, is right ${percentOf(worst.share)}: ${manner} by ${points} ${points === 1 ? 'point' : 'points'} between ${Math.round(worst.from * 100)} and ${Math.round(worst.to * 100)}.`;
}

function drawing(bins: readonly Bin[], plot: Plot): Drawing {
  const most = maxOf(bins.map(({ of }) => of));
  const floor = plot.top + plot.height + GAP;
  const [from, to] = [place(plot, 0, 0), place(plot, 1, 1)];
  const marks = html`${grid(plot, SHARES)}<line class="diagonal" x1="${at(from.x)}" y1="${at(from.y)}" x2="${at(to.x)}" y2="${at(to.y)}"/>
${line(
  'curve',
  bins.map((bin) => place(plot, bin.stated, bin.share)),
)}${bins.map((bin) => point(bin, plot))}${bins.map((bin) => bar(bin, plot, floor, most))}${ticks(plot, SHARES, GAP + BARS + 16)}`;
  return { width: plot.left + plot.width + 24, height: floor + BARS + 24, marks };
}

function point(bin: Bin, plot: Plot): Html {
  const { x, y } = place(plot, bin.stated, bin.share);
  const [low, high] = [place(plot, 0, bin.low).y, place(plot, 0, bin.high).y];
  const faded = bin.of < FADED_BELOW ? ' faded' : '';
  return told(
    words(bin),
    html`<line class="whisker${faded}" x1="${at(x)}" x2="${at(x)}" y1="${at(low)}" y2="${at(high)}"/><circle class="point${faded}" cx="${at(x)}" cy="${at(y)}" r="5" data-mark="${bin.of}"/>`,
  );
}

function bar(bin: Bin, plot: Plot, top: number, most: number): Html {
  const [x, end] = [place(plot, bin.from, 0).x + 1, place(plot, bin.to, 0).x - 1];
  const height = Math.max(1, (bin.of / most) * BARS);
  return told(
    `${bin.of} decided`,
    html`<rect class="count-bar" x="${at(x)}" y="${at(top + BARS - height)}" width="${at(Math.max(2, end - x))}" height="${at(height)}"/>`,
  );
}

function words(bin: Bin): string {
  return `Stated ${range(bin)}: right ${bin.hits} of ${bin.of} (${percentOf(bin.share)}; ${percentOf(bin.low)} to ${percentOf(bin.high)} with 95 % confidence)`;
}

function range({ from, to }: Bin): string {
  return `${Math.round(from * 100)}–${Math.round(to * 100)} %`;
}

function rowOf(bin: Bin) {
  return [range(bin), percentOf(bin.stated), bin.of, bin.hits, percentOf(bin.share), percentOf(bin.low), percentOf(bin.high)];
}

/** Too little for a curve: how many were right and wrong. */
function countsOf(judged: readonly Judged[]) {
  const count = (right: boolean) => judged.filter((one) => one.right === right).reduce((sum, one) => sum + one.count, 0);
  return {
    head: ['Decided', 'Count'],
    rows: [
      ['right', count(true)],
      ['wrong', count(false)],
    ],
  };
}
