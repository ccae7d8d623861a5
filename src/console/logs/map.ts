import { type Html, html } from '../html.ts';
import type { LogFacts } from './log-view.ts';
import type { Outline } from './outline.ts';
import type { Range } from './rows.ts';

const WIDTH = 72;
const HEIGHT = 800;
/** The length in characters of a line that spans the whole width of the map. */
const FULL = 120;
/** The number of lines that fill the map. A shorter log is drawn to the same scale and leaves a rest. */
const MIN_LINES = 200;
/** The minimum height of a mark, so that even one line of a long log is visible. */
const MIN_HEIGHT = 3;

/** Draws the whole log from top to bottom, with its lines, the proof of the answer, and the part in view. */
export function mapPart(
  { source, evidence }: LogFacts,
  outline: Outline | null,
  visible: readonly Range[],
): Html {
  const place = (line: number) => ((line - 1) / Math.max(MIN_LINES, source.lines)) * HEIGHT;
  const bar = (look: string, { from, to }: Range) =>
    html`<rect class="${look}" y="${place(from).toFixed(1)}" width="${WIDTH}" height="${Math.max(
      MIN_HEIGHT,
      place(to + 1) - place(from),
    ).toFixed(1)}"/>`;
  const widths = outline?.widths ?? [];
  const step = (place(source.lines + 1) - place(1)) / Math.max(1, widths.length);
  // All lines share one path, because a log has hundreds.
  const ink = widths
    .map((width, row) => [Math.min(1, width / FULL) * (WIDTH - 8), row * step] as const)
    .filter(([width]) => width >= 1)
    .map(
      ([width, y]) =>
        `M4 ${y.toFixed(1)}h${width.toFixed(0)}v${(step * 0.6).toFixed(1)}h-${width.toFixed(0)}z`,
    )
    .join('');
  const proof = [...new Set(evidence.flatMap(({ cited }) => cited))].slice(0, 100);
  return html`<svg class="map" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"
    aria-label="Map of the log: ${proof.length} of ${source.lines} lines prove the answer">${
      ink !== '' && html`<path class="ink" d="${ink}"/>`
    }${visible.slice(0, 50).map((range) => bar('here', range))}${proof.map((line) =>
      bar('proof', { from: line, to: line }),
    )}</svg>`;
}
