import { type GreenTemplates, greenOf } from '../log/green/green-diff.ts';
import type { GreenLogs } from '../ports/stores.ts';
import { type BesideDeps, diffAgainstPassing } from './diff-against-passing.ts';

/** The green builds that the store chose, or now chooses, for a log; the same ones that its build is read beside. */
export function storedGreens(deps: BesideDeps): GreenLogs {
  return {
    of: async (build, sources, log) => {
      const beside = await diffAgainstPassing(build, sources, deps, log);
      const green = beside?.green.logs?.get(log);
      return green === undefined ? null : { ...green, build: beside?.builds.get(log) ?? null };
    },
  };
}

/** One green log at hand, which stands for every log of the failed build; null: there is none. */
export function greenAtHand(green: GreenTemplates | null): GreenLogs {
  return {
    of: async (_build, sources, log) => {
      const isLog = sources.some(({ name, kind }) => name === log && kind === 'log');
      const found = green === null || !isLog ? undefined : greenOf(green, log);
      return found === undefined ? null : { ...found, build: null };
    },
  };
}
