import { findMax, sumNumbers } from '../../lib/collections.ts';
import { formatDay } from '../controls.ts';
import { type Html, html } from '../html.ts';

const SLOT = 24;
const TOP = 14;
const HEIGHT = 119;
/** The number of days between two labels if there is no room for a label per day. */
const WEEK = 7;
const MAX_LABELS = 8;

/**
 * Draws counts per day as columns over the width of the page, oldest on the left. The last column is today,
 * and is red if `isAlarm`.
 */
export function dayBars(
  what: string,
  days: readonly string[],
  counts: readonly number[],
  isAlarm: boolean,
): Html {
  const most = Math.max(1, findMax(counts));
  const width = days.length * SLOT;
  const bars = counts.map((count, at) => {
    if (count === 0) return null;
    const height = Math.round((count / most) * (HEIGHT - TOP));
    const look = isAlarm && at === counts.length - 1 ? 'f' : 'o';
    return html`<rect class="${look}" x="${at * SLOT + 3}" y="${HEIGHT - height}" width="18"
      height="${height}" rx="2"><title>${formatDay(days[at] ?? '')}: ${count}</title></rect>`;
  });
  const busy = counts.filter((count) => count > 0).length;
  const spread = `${sumNumbers(counts)} on ${busy} of ${days.length} days`;
  const label = `${what}: ${spread}, at most ${findMax(counts)} a day`;
  return html`<svg class="plot flat" viewBox="0 0 ${width} 120" preserveAspectRatio="none" role="img"
    aria-label="${label}"><path class="axis" d="M0 119.5h${width}"/>${bars}</svg><p class="hours meta"
    aria-hidden="true">${labelDays(days).map((day) => html`<span>${day}</span>`)}</p>`;
}

/** Returns the labels: today, and earlier days at equal distances, as many as fit. */
function labelDays(days: readonly string[]): string[] {
  const step = days.length > MAX_LABELS ? WEEK : 1;
  const last = days.length - 1;
  return days.flatMap((day, at) => {
    if ((last - at) % step !== 0) return [];
    return [at === last ? 'today' : formatDay(day)];
  });
}
