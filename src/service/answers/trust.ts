import {
  type AnsweredCount,
  type DecidedCount,
  type InsightsFilter,
  TOO_FEW,
} from '../../domain/insights.ts';
import { RELEASE, type Trust, type UnseenFigures } from '../../domain/trust.ts';
import { computeCoverageAt, sumCounts } from '../../lib/statistics.ts';
import type { Clock } from '../../lib/time.ts';
import type { ShownStores } from '../../stores/stores.ts';

export interface TrustDeps {
  readonly stores: {
    readonly insights: Pick<ShownStores['insights'], 'decided' | 'answered'>;
    /** The store of changes. If absent, changes are not looked up. */
    readonly trust?: Pick<ShownStores['trust'], 'changes'>;
  };
  readonly clock: Clock;
  readonly config: { readonly triage?: { readonly thresholds: { readonly autoNotify: number } } };
  /** The figures measured for this release; unknown if absent. */
  readonly unseen?: readonly UnseenFigures[];
}

/** The number of days whose decisions count. Older ones are about an older version of the system. */
export const TRUST_DAYS = 365;
const DAY_MS = 86_400_000;
/** The default threshold above which an answer is published without a review. */
export const USUAL_THRESHOLD = 0.85;
const THRESHOLDS = [0.5, 0.65, 0.75, 0.8, 0.85, 0.9, 0.95];

export interface TrustFacts {
  readonly trust: Trust;
  readonly decided: readonly DecidedCount[];
  readonly answered: readonly AnsweredCount[];
}

/** Measures how far the answers can be trusted, from the decisions of reviewers within a year. */
export async function readTrust(
  { stores, clock, config, unseen = [] }: TrustDeps,
  filter: InsightsFilter,
): Promise<TrustFacts> {
  const until = new Date((Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS - 1).toISOString();
  const period = { ...filter, until, days: TRUST_DAYS };
  const [decided, answered, changes] = await Promise.all([
    stores.insights.decided(period),
    stores.insights.answered(period),
    stores.trust?.changes(filter) ?? [],
  ]);
  const threshold = config.triage?.thresholds.autoNotify ?? USUAL_THRESHOLD;
  const thresholds = [...new Set([...THRESHOLDS, threshold])]
    .toSorted((left, right) => left - right)
    .map((at) => {
      const { published, coverage, of, hits, low, high } = computeCoverageAt(decided, answered, at);
      const isEnough = of >= TOO_FEW;
      return {
        threshold: at,
        published,
        coverage,
        decided: of,
        right: hits,
        low: isEnough ? low : null,
        high: isEnough ? high : null,
      };
    });
  const total = sumCounts(decided);
  const release = { version: RELEASE, unseen: [...unseen] };
  const trust = {
    threshold,
    answered: sumCounts(answered),
    decided: total,
    enough: total >= TOO_FEW,
    thresholds,
    changes,
    release,
  };
  return { trust, decided, answered };
}
