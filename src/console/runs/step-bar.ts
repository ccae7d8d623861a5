import type { StepTrace } from '../../publish/trace.ts';
import { type Html, html } from '../html.ts';

/** How long the whole run took and when it began, both in milliseconds: what the bars are drawn to. */
export interface RunScale {
  readonly startedAt: number;
  readonly milliseconds: number;
}

const WIDTH = 200;
/** A step of a millisecond is still to be seen. */
const MIN_WIDTH = 1;

/** When a step began and how long it took, drawn to the scale of the whole run. The same is said in words beside it. */
export function bar(step: Pick<StepTrace, 'startedAt' | 'milliseconds'>, scale: RunScale): Html {
  const total = Math.max(1, scale.milliseconds);
  const from = clamp(((Date.parse(step.startedAt) - scale.startedAt) / total) * WIDTH, WIDTH - MIN_WIDTH);
  const width = Math.max(MIN_WIDTH, clamp((step.milliseconds / total) * WIDTH, WIDTH - from));
  return html`<svg class="bar" viewBox="0 0 ${WIDTH} 8" aria-hidden="true"><rect class="track" width="${WIDTH}" height="8"/><rect x="${from.toFixed(1)}" width="${width.toFixed(1)}" height="8"/></svg>`;
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(0, value), most);
}
