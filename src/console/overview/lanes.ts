import type { Lane } from '../../domain/lane.ts';
import { formatSpan } from '../controls.ts';
import { type Html, html } from '../html.ts';

/** The number of minutes in a day, which is the width of all lanes. */
const WIDTH = 1440;
const MINUTE_MS = 60_000;
const HOURS_APART = 4;
/** Green parts are thin, and red parts are thick. */
const SHAPES = { ok: { y: 10, height: 6 }, bad: { y: 5, height: 16 } } as const;

/** Renders red branches as lanes on a common time axis, each with the time for which it has been red. */
export function laneList(lanes: readonly Lane[], now: number): Html {
  return html`<ul class="lanes">${lanes.map(
    (lane) =>
      html`<li><span title="${lane.repository}, ${lane.pipeline} on ${lane.branch}">${lane.repository}</span>${drawLane(
        lane,
        now,
      )}<span class="num is-red">${lane.redSince !== null && formatSpan(now - Date.parse(lane.redSince))}</span></li>`,
  )}</ul>`;
}

/** Renders the hours of the axis. */
export function laneHours(now: number): Html {
  const steps = Array.from({ length: 24 / HOURS_APART }, (_, at) => (24 / HOURS_APART - at) * HOURS_APART);
  const words = steps.map((hours) => new Date(now - hours * 3_600_000).toISOString().slice(11, 16));
  return html`<ul class="lanes" aria-hidden="true"><li><span></span><span class="hours">${words.map(
    (hour) => html`<span>${hour}</span>`,
  )}<span>now</span></span><span></span></li></ul>`;
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly failed: boolean;
}

/** Draws the results of a day's builds. Each build is a cut, and its color continues to the next one. */
function drawLane({ builds, redSince }: Lane, now: number): Html {
  const start = now - WIDTH * MINUTE_MS;
  const place = (at: string) =>
    Math.round(Math.min(WIDTH, Math.max(0, (Date.parse(at) - start) / MINUTE_MS)));
  const stretches = builds.map(({ at, failed }, index): Stretch => {
    const next = builds[index + 1];
    return { from: place(at), to: next === undefined ? WIDTH : place(next.at), failed };
  });
  const bars = stretches
    .filter(({ from, to, failed }) => to > from || failed)
    .map(({ from, to, failed }) => {
      const look = failed ? 'bad' : 'ok';
      const { y, height } = SHAPES[look];
      return html`<rect class="${look}" x="${Math.min(from, WIDTH - 6)}" y="${y}" width="${Math.max(6, to - from)}" height="${height}"/>`;
    });
  const cuts = stretches
    .filter(({ from }) => from > 0)
    .map(({ from, failed }) => {
      const { y, height } = SHAPES[failed ? 'bad' : 'ok'];
      return html`<rect class="tick" x="${from}" y="${y}" width="3" height="${height}"/>`;
    });
  const lines = [1, 2, 3, 4, 5].map((at) => html`<rect class="none" x="${at * 240}" width="2" height="26"/>`);
  const since = redSince === null ? '' : `, red since ${redSince.slice(11, 16)}`;
  const failures = builds.filter(({ failed }) => failed).length;
  return html`<svg class="lane" viewBox="0 0 ${WIDTH} 26" preserveAspectRatio="none" role="img"
    aria-label="${failures} of ${builds.length} builds failed${since}">${lines}${bars}${cuts}</svg>`;
}
