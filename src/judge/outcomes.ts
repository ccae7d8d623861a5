import { z } from 'zod';
import { Route, type RouteOutcome } from '../domain/publish-bound.ts';
import stored from './outcomes.json' with { type: 'json' };

/**
 * The rows that had no part in the training by which an answer was judged: all of its source, or all of its
 * project.
 */
export const LeftOut = z.enum(['source', 'project']);
export type LeftOut = z.infer<typeof LeftOut>;

/**
 * An answer to a labeled failure that had no part in the training; `right`: the category is accepted and the
 * answer holds the cause.
 */
export interface HeldOutcome extends RouteOutcome {
  readonly leftOut: LeftOut;
  readonly source: string;
  /** A number of its own for each project. */
  readonly project: number;
}

/**
 * Per protocol and source: route, thousandths of sureness, right or not, and the project. No text of a
 * failure is kept.
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

/** Returns those by which publishing is decided: of sources that were left out. */
export function getSourceOutcomes(): readonly HeldOutcome[] {
  return getHeldOutcomes().filter(({ leftOut }) => leftOut === 'source');
}

/** Fewer measured answers say nothing of the next. */
const FEWEST = 8;
/** Answers of one route are counted together from each of these. */
const BANDS = [0.85, 0.65, 0] as const;

/**
 * Counts how answers of this route and about this sure did on sources that were left out; null if too few
 * were measured.
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
