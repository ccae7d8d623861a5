import { z } from 'zod';
import { isInScope } from '../../domain/access.ts';
import { isRetryable, TriageError } from '../../domain/errors.ts';
import {
  GATHER,
  MATCH_RULES,
  NewsChannel,
  type NotificationRule,
  type Occasion,
  parseCondition,
  pauseAfter,
  resolveTargets,
  sendingTime,
} from '../../domain/notification-rule.ts';
import type { Clock } from '../../lib/time.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { WorkHandler } from '../../ports/work.ts';
import type { NewMatch } from '../../stores/notification-rules.ts';
import type { Stores } from '../../stores/stores.ts';
import { inTime, OUTWARD } from '../publications.ts';
import { CHANNEL_NAMES, type Messengers, readNews } from './news.ts';

export interface RuleHandlerDeps {
  readonly stores: Pick<Stores, 'notificationRules' | 'failures' | 'work' | 'notices'>;
  readonly messengers: Messengers;
  readonly publicUrl: string | null;
  /** Time limit of one call to the other service, in milliseconds. */
  readonly timeLimitMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Reading and writing of the database only. */
const OWN = { leaseMs: 30_000, limits: null, longestDelayMs: 60_000 };
/** A lease covers the reading, the look for what is there, the sending, and as much again. */
const LEASE_PER_LIMIT = 4;

/**
 * Creates the handlers of rules. An occasion is matched with rules, the matches are gathered until they may
 * be sent, and then they are sent. Each step is an entry of the work table.
 */
export function ruleHandlers(deps: RuleHandlerDeps): WorkHandler[] {
  return [
    matchHandler(deps),
    gatherHandler(deps),
    ...NewsChannel.options.map((channel) => sendHandler(channel, deps)),
  ];
}

const OccasionPayload = z.union([z.object({ analysisId: z.string() }), z.object({ eventId: z.int() })]);

function matchHandler({ stores, logger }: RuleHandlerDeps): WorkHandler {
  return {
    ...{ topic: MATCH_RULES, ...OWN },
    handle: async ([entry]) => {
      const occasion = await stores.notificationRules.occasion(OccasionPayload.parse(entry?.payload));
      if (occasion === null) return { outcome: 'skipped', forget: true };
      const [rules, owners] = await Promise.all([
        stores.notificationRules.list({ enabled: true }),
        stores.notificationRules.owners(),
      ]);
      const found: NewMatch[] = [];
      for (const rule of rules) {
        const isMet = await meets(rule, occasion, stores.failures).catch((error: unknown) => {
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
 * Checks whether a rule matches this occasion. Muted causes and tests in quarantine never match. Throws what
 * the search throws.
 */
export async function meets(
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

const TargetPayload = z.object({ ruleId: z.string(), target: z.string() });

function gatherHandler({ stores, clock }: RuleHandlerDeps): WorkHandler {
  const { notificationRules, work } = stores;
  return {
    ...{ topic: GATHER, ...OWN },
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
      const wait = sendingTime(rule, Date.parse(oldest), clock.now()) - clock.now();
      if (wait > 0) await work.release(entry, null, wait);
      else
        await notificationRules.seal(
          entry,
          { ruleId, target, topic: `message:${parseChannel(target)}` },
          { outcome: 'done', pauseMs: pauseAfter(rule) },
        );
      return null;
    },
  };
}

function parseChannel(target: string): string {
  return target.slice(0, target.indexOf(':'));
}

function sendHandler(
  channel: NewsChannel,
  { stores, messengers, publicUrl, timeLimitMs }: RuleHandlerDeps,
): WorkHandler {
  return {
    ...{ topic: `message:${channel}`, leaseMs: timeLimitMs * LEASE_PER_LIMIT, ...OUTWARD },
    handle: async ([entry], lease) => {
      if (entry === undefined) return null;
      const { ruleId, target } = TargetPayload.parse(entry.payload);
      const { notificationRules, notices } = stores;
      const messenger = messengers[channel];
      if (messenger === undefined)
        throw new TriageError('invalid-config', `${CHANNEL_NAMES[channel]} is not configured.`);
      const [rule, owners, matches] = await Promise.all([
        notificationRules.find(ruleId),
        notificationRules.owners(),
        notificationRules.matches(entry.key),
      ]);
      const news =
        rule === null
          ? null
          : await readNews({ rule, matches, owners, isTest: false }, { notices, publicUrl });
      if (news === null) return { outcome: 'skipped' };
      const isRetry = entry.attempts > 1 || entry.retries > 0;
      const destination = target.slice(channel.length + 1);
      const sent = await inTime({ ...lease, timeLimitMs }, (signal) =>
        messenger.send(news, destination, { key: entry.key, signal, isRetry }),
      );
      return { outcome: 'done', result: { ...sent } };
    },
  };
}
