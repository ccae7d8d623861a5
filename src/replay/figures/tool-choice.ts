import { describeTools } from '../../tools/all-tools.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { createShareFigure, type Figure } from './figure.ts';

/**
 * The tools that run for every failure of their categories in the first round, so that they are not chosen.
 */
const LOOKUPS: readonly string[] = describeTools()
  .filter(({ always }) => always)
  .map(({ name }) => name);

/** A case whose row names the tools that settle it, and the position of the first one that did. */
interface Settled {
  readonly one: ReplayedCase;
  /** True if a lookup that every failure gets settles the case. */
  readonly isByLookup: boolean;
  /**
   * The position among the different chosen tools, 1-based; 0 for a lookup, null if no call settled the case.
   */
  readonly place: number | null;
}

/**
 * Scores the choice of tools for rows that name the tools that settle the case (`settled_by`): whether the
 * first chosen tool is one of them, or one of the first two. Lookups that every failure gets are not chosen
 * and have no position; rows that one of them settles are counted separately. A tool settles a case only if
 * it found something. Returns none if no row names such tools, or nothing was answered.
 */
export function scoreToolChoice(cases: readonly ReplayedCase[]): Figure[] {
  const settled = cases.flatMap(findSettled);
  if (settled.length === 0) return [];
  const [byLookup, byChoice] = [
    settled.filter(({ isByLookup }) => isByLookup),
    settled.filter(({ isByLookup }) => !isByLookup),
  ];
  const within = (name: string, among: readonly Settled[], most: number) =>
    createShareFigure(name, among, ({ place }) => place !== null && place <= most);
  return [
    ...(byLookup.length === 0 ? [] : [within('settled by a look-up that every failure gets', byLookup, 0)]),
    ...(byChoice.length === 0
      ? []
      : [
          within('tool choice: settled by the first', byChoice, 1),
          within('tool choice: settled by the first two', byChoice, 2),
          within('tool choice: settled by any', byChoice, Number.POSITIVE_INFINITY),
        ]),
    within('settled by a look-up or the first two', settled, 2),
  ];
}

function findSettled(replayedCase: ReplayedCase): Settled[] {
  const settling = replayedCase.row?.settled_by ?? [];
  if (settling.length === 0 || replayedCase.result.iterations === null) return [];
  const isByLookup = settling.some((tool) => LOOKUPS.includes(tool));
  return [{ one: replayedCase, isByLookup, place: findPlace(replayedCase.result.tools, settling) }];
}

function findPlace(tools: ReplayedCase['result']['tools'], settling: readonly string[]): number | null {
  const made = tools.filter(({ status }) => status !== 'refused');
  const first = made.find(({ tool, status }) => settling.includes(tool) && status === 'ok');
  if (first === undefined) return null;
  if (LOOKUPS.includes(first.tool)) return 0;
  const chosen = [...new Set(made.map(({ tool }) => tool))].filter((tool) => !LOOKUPS.includes(tool));
  return chosen.indexOf(first.tool) + 1;
}
