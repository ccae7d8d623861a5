import type { Config } from '../config/schema.ts';
import { FALSE_RIGHT, WRONG_STANDS_FOR } from '../domain/outcome.ts';
import { choosePublished, isPublishedRoute, type PublishBound } from '../domain/publish-bound.ts';
import { getSourceOutcomes } from '../judge/outcomes.ts';
import type { Clock } from '../lib/time.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { CalibrationStore } from '../stores/measurements.ts';

/** The share from which on there is no bound on published answers. */
const NO_BOUND = 1;
/** The time for which the bound is kept, in milliseconds. A new decision counts after that. */
const KEPT_MS = 60_000;
const NEWEST = 20_000;

type Bounded = { readonly triage: Pick<Config['triage'], 'maxWrong' | 'thresholds'> };

/**
 * Chooses the kinds of answer to publish from the outcomes that this release ships; null if no bound is
 * configured.
 */
export function choosePublishBound(config: Bounded): PublishBound | null {
  return boundBy(config, []);
}

/** Counts how many of the shipped outcomes this bound publishes, and how many of these are wrong. */
export function countShippedShare(bound: PublishBound, floor: number) {
  const all = getSourceOutcomes();
  const published = all.filter(({ route, stated }) => stated >= floor && isPublishedRoute(bound, route));
  return {
    all: all.length,
    published: published.length,
    wrong: published.filter(({ right }) => !right).length,
  };
}

/**
 * Returns the bound from the shipped outcomes and those of this installation, which people or later builds
 * decided. Own outcomes count like shipped ones. Returns null if no bound is configured.
 */
export async function readBound(
  config: Bounded & { readonly review: Pick<Config['review'], 'auditEvery'> },
  store: Pick<CalibrationStore, 'outcomes'>,
): Promise<PublishBound | null> {
  if (config.triage.maxWrong >= NO_BOUND) return null;
  const known = await store.outcomes(NEWEST);
  return boundByKnown(config, known);
}

type KnownOutcomes = Awaited<ReturnType<CalibrationStore['outcomes']>>;

/**
 * Returns the bound with own outcomes: those of decided answers, and those that later builds graded. A
 * "right" of a later build counts for a little less, and a "wrong" also stands for the wrong answers that no
 * later build can grade.
 */
export function boundByKnown(
  config: Bounded & { readonly review: Pick<Config['review'], 'auditEvery'> },
  known: KnownOutcomes,
): PublishBound | null {
  const { auditEvery } = config.review;
  const outcomes = known.map(({ origin, ...outcome }) => {
    if (origin !== 'outcome') return { ...outcome, weight: origin === 'audit' ? Math.max(1, auditEvery) : 1 };
    return { ...outcome, weight: outcome.right ? 1 : WRONG_STANDS_FOR, doubt: FALSE_RIGHT };
  });
  return boundBy(config, outcomes);
}

/**
 * Creates a reader of the bound, which keeps it for a short time. If the database does not answer, the last
 * one stays in use.
 */
export function boundInForce(
  config: Parameters<typeof readBound>[0],
  store: Pick<CalibrationStore, 'outcomes'>,
  clock: Clock,
  logger: Logger,
) {
  let known: { readonly at: number; readonly bound: PublishBound | null } | null = null;
  return async (): Promise<PublishBound | null> => {
    if (known !== null && clock.now() - known.at < KEPT_MS) return known.bound;
    try {
      known = { at: clock.now(), bound: await readBound(config, store) };
    } catch (error) {
      if (known === null) throw error;
      logger.warn(
        { error },
        'the outcomes of decided answers could not be read; the previous bound stays in use',
      );
    }
    return known.bound;
  };
}

function boundBy({ triage }: Bounded, options: Parameters<typeof choosePublished>[0]): PublishBound | null {
  const { maxWrong, thresholds } = triage;
  if (maxWrong >= NO_BOUND) return null;
  return choosePublished([...getSourceOutcomes(), ...options], { maxWrong, floor: thresholds.autoNotify });
}
