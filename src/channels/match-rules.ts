import { z } from 'zod';
import { isInScope } from '../domain/access.ts';
import { isRetryable } from '../domain/errors.ts';
import {
  computePauseAfter,
  computeSendingTime,
  GATHER,
  MATCH_RULES,
  type NotificationRule,
  type Occasion,
  parseCondition,
  resolveTargets,
} from '../domain/notification-rule.ts';
import type { Clock } from '../lib/time.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { WorkHandler } from '../ports/work.ts';
import type { NewMatch } from '../stores/notification-rules.ts';
import type { Stores } from '../stores/stores.ts';

export interface RuleHandlerDeps {
  readonly stores: Pick<Stores, 'notificationRules' | 'failures' | 'work'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The limits of handlers that only read and write the database. */
const OWN = { leaseMs: 30_000, limits: null, longestDelayMs: 60_000 };

/**
 * Creates the handlers that decide what rules send. They match each occasion with the rules and gather the
 * matches until they may be sent. Each step is an entry of the work table, and so is the message.
 */
export function createRuleHandlers(deps: RuleHandlerDeps): WorkHandler[] {
  return [matchHandler(deps), gatherHandler(deps)];
}

const OccasionPayload = z.union([z.object({ analysisId: z.string() }), z.object({ eventId: z.int() })]);

function matchHandler({ stores, logger }: RuleHandlerDeps): WorkHandler {
  return {
    topic: MATCH_RULES,
    ...OWN,
    handle: async ([entry]) => {
      const occasion = await stores.notificationRules.occasion(OccasionPayload.parse(entry?.payload));
      if (occasion === null) return { outcome: 'skipped', forget: true };
      const [rules, owners] = await Promise.all([
        stores.notificationRules.list({ enabled: true }),
        stores.notificationRules.owners(),
      ]);
      const found: NewMatch[] = [];
      for (const rule of rules) {
        const isMet = await matchesOccasion(rule, occasion, stores.failures).catch((error: unknown) => {
          if (isRetryable(error)) throw error;
          logger.warn({ ruleId: rule.id, error }, 'a notification rule could not be evaluated');
          return false;
        });
        if (isMet)
          found.push({ ruleId: rule.id, occasion, targets: resolveTargets(rule, occasion.owner, owners) });
      }
      await stores.notificationRules.keep(found);
      return { outcome: 'done', forget: true };
    },
  };
}

/**
 * Checks whether a rule matches this occasion. Muted causes and tests in quarantine never match. Throws the
 * errors of the search.
 */
export async function matchesOccasion(
  { query }: Pick<NotificationRule, 'query'>,
  { isAnswer, state, repository, fingerprint, buildId }: Occasion,
  failures: Pick<Stores['failures'], 'search'>,
): Promise<boolean> {
  const { filter, states } = parseCondition(query);
  if (states.length === 0 ? !isAnswer : state === null || !states.includes(state)) return false;
  if (filter.repository !== undefined && !isInScope([filter.repository], repository)) return false;
  if (filter.fingerprint !== undefined && filter.fingerprint !== fingerprint) return false;
  const about = { ...filter, repository, fingerprint, alerting: true as const, ...(isAnswer && { buildId }) };
  return (await failures.search(about, { limit: 1, offset: 0 })).length > 0;
}

/** The rule and the target of one message. */
export const TargetPayload = z.object({ ruleId: z.string(), target: z.string() });

function gatherHandler({ stores, clock }: RuleHandlerDeps): WorkHandler {
  const { notificationRules, work } = stores;
  return {
    topic: GATHER,
    ...OWN,
    handle: async ([entry]) => {
      if (entry === undefined) return null;
      const { ruleId, target } = TargetPayload.parse(entry.payload);
      const rule = await notificationRules.find(ruleId);
      if (rule === null || !rule.enabled) {
        await notificationRules.discard(ruleId);
        return { outcome: 'skipped', forget: true };
      }
      const oldest = await notificationRules.oldest(ruleId, target);
      if (oldest === null) return { outcome: 'done' };
      const wait = computeSendingTime(rule, Date.parse(oldest), clock.now()) - clock.now();
      if (wait > 0) await work.release(entry, null, wait);
      else
        await notificationRules.seal(
          entry,
          { ruleId, target, topic: `message:${parseChannel(target)}` },
          { outcome: 'done', pauseMs: computePauseAfter(rule) },
        );
      return null;
    },
  };
}

function parseChannel(target: string): string {
  return target.slice(0, target.indexOf(':'));
}
