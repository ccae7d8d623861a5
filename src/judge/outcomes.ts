import { z } from 'zod';
import { Route, type RouteOutcome } from '../domain/publish-bound.ts';
import stored from './outcomes.json' with { type: 'json' };

/**
 * The data that were excluded from the training for a measured answer: those of its source, or those of its
 * project.
 */
export const LeftOut = z.enum(['source', 'project']);
export type LeftOut = z.infer<typeof LeftOut>;

/**
 * The outcome of an answer to a labeled failure that was not used in the training. `right` is true if the
 * category is accepted and the answer contains the cause.
 */
export interface HeldOutcome extends RouteOutcome {
  readonly leftOut: LeftOut;
  readonly source: string;
  /** A number that identifies the project. */
  readonly project: number;
}

/**
 * The outcomes by protocol and source: route, sureness in thousandths, right or not, and project. Texts of
 * failures are not included.
 */
export const OutcomesFile = z.object({
  command: z.string(),
  leftOut: z.record(
    LeftOut,
    z.record(
      z.string(),
      z.array(z.tuple([Route, z.int().min(0).max(1000), z.union([z.literal(0), z.literal(1)]), z.int()])),
    ),
  ),
});
export type OutcomesFile = z.infer<typeof OutcomesFile>;

/** Returns the outcomes that this release ships. */
export function getHeldOutcomes(): readonly HeldOutcome[] {
  loaded ??= unpackOutcomes(OutcomesFile.parse(stored));
  return loaded;
}

let loaded: readonly HeldOutcome[] | undefined;

function unpackOutcomes({ leftOut }: OutcomesFile): HeldOutcome[] {
  return LeftOut.options.flatMap((protocol) =>
    Object.entries(leftOut[protocol]).flatMap(([source, rows]) =>
      rows.map(([route, thousandths, right, project]) => ({
        leftOut: protocol,
        source,
        project,
        route,
        stated: thousandths / 1000,
        right: right === 1,
      })),
    ),
  );
}

/** Returns the outcomes that decide about publishing: those of sources that were left out. */
export function getSourceOutcomes(): readonly HeldOutcome[] {
  return getHeldOutcomes().filter(({ leftOut }) => leftOut === 'source');
}

/** The minimum number of outcomes to be conclusive. */
const FEWEST = 8;
/** The lower bounds of sureness of the bands in which outcomes are counted together. */
const BANDS = [0.85, 0.65, 0] as const;

/**
 * Counts the outcomes of answers with this route and a similar sureness, for sources that were left out.
 * Returns null if there are too few.
 */
export function countOutcomes(
  route: Route,
  stated: number,
): { readonly right: number; readonly of: number } | null {
  const findBand = (sureness: number) => BANDS.find((from) => sureness >= from);
  const like = getSourceOutcomes().filter(
    (heldOutcome) => heldOutcome.route === route && findBand(heldOutcome.stated) === findBand(stated),
  );
  if (like.length < FEWEST) return null;
  return { right: like.filter(({ right }) => right).length, of: like.length };
}
