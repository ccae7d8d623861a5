import type { RunMark } from '../../domain/flakiness.ts';
import { maxOf } from '../../lib/lists.ts';
import { type Html, html } from '../html.ts';

const WIDTH = 5;
const HEIGHT = 20;
/** Shape and colour both say it: short passed, middle flake, tall failed. */
const TALL = { passed: 6, flake: 13, failed: HEIGHT } as const;
const WORDS = { passed: 'passed', flake: 'failed, and passed without a change', failed: 'failed' } as const;

/** The newest runs of a test, oldest on the left, as bars of three heights. */
export function runStrip(test: string, runs: readonly RunMark[]): Html {
  const count = (mark: RunMark['mark']) => runs.filter((run) => run.mark === mark).length;
  const words = `${test}, last ${runs.length} runs: ${count('passed')} passed, ${count('failed')} failed, ${count('flake')} flakes`;
  const bars = runs.map(({ mark, at }, index) => {
    const height = TALL[mark];
    return html`<rect class="run ${mark}" x="${index * (WIDTH + 1)}" y="${HEIGHT - height}" width="${WIDTH}" height="${height}"><title>${at.slice(0, 16).replace('T', ' ')}: ${WORDS[mark]}</title></rect>`;
  });
  const width = Math.max(1, runs.length * (WIDTH + 1));
  return html`<svg class="strip" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" role="img" aria-label="${words}">${bars}</svg>`;
}

/** Counts of the newest days, oldest on the left, as small bars. */
export function sparkline(of: string, perDay: readonly number[]): Html {
  const most = maxOf(perDay, 1);
  const total = perDay.reduce((sum, one) => sum + one, 0);
  const bars = perDay.map((count, index) => {
    const height = count === 0 ? 1 : Math.max(3, Math.round((count / most) * HEIGHT));
    return html`<rect class="day${count === 0 ? ' none' : ''}" x="${index * 4}" y="${HEIGHT - height}" width="3" height="${height}"/>`;
  });
  const width = Math.max(1, perDay.length * 4);
  return html`<svg class="spark" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" role="img" aria-label="${`${of}: ${total} in ${perDay.length} days, at most ${most === 1 && total === 0 ? 0 : most} a day`}">${bars}</svg>`;
}
