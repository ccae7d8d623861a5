import { z } from 'zod';
import { CauseState, toOwnerKey } from '../domain/cause.ts';
import { createId } from '../domain/ids.ts';
import {
  GATHER,
  MAX_RULES,
  NotificationRule,
  type NotificationRuleInput,
  Occasion,
  OwnerChannels,
  RuleEvent,
  SentMessage,
} from '../domain/notification-rule.ts';
import type { WorkEnd, WorkItem } from '../domain/work.ts';
import type { Database, Sql } from '../ports/database.ts';
import { escapeLike, insert, listColumns, queryAll, queryFirst, scopeValue, toColumn } from './sql.ts';
import type { WorkStore } from './work.ts';

/** A match of a rule with one cause, and the targets of its message. */
export interface NewMatch {
  readonly ruleId: string;
  readonly occasion: Occasion;
  readonly targets: readonly string[];
}

const Match = z.object({
  analysisId: z.string(),
  buildId: z.string(),
  repository: z.string(),
  fingerprint: z.string(),
  state: CauseState.nullable(),
});
/** The part of a message that is about one answer. */
export type Match = z.infer<typeof Match>;

const MAX_OWNERS = 1000;

/** Creates the store of notification rules and of their matches that have not been sent yet. */
export function createNotificationRuleStore(db: Database, work: Pick<WorkStore, 'add' | 'finish'>) {
  return { ...createRuleMethods(db), ...createOwnerMethods(db), ...createFindingMethods(db, work) };
}

function createRuleMethods(db: Database) {
  return {
    /** Lists rules by name. With `repositories`, lists only rules that are about these alone. */
    list: async ({
      repositories,
      enabled,
    }: {
      readonly repositories?: readonly string[];
      readonly enabled?: true;
    } = {}) => await queryAll(db, NotificationRule, LIST, [scopeValue(repositories), enabled ?? null]),
    find: async (id: string) =>
      await queryFirst(db, NotificationRule, `select ${RULE} from notification_rules where id = $1`, [id]),
    /** Adds a rule. Returns null if there are already as many as allowed. */
    add: async (rule: NotificationRuleInput, repository: string | null, by: string) =>
      await db.transaction(async (sql) => {
        const { count = 0 } =
          (await sql.query<{ count: number }>('select count(*)::int as count from notification_rules'))[0] ??
          {};
        if (count >= MAX_RULES) return null;
        const id = createId('ntr');
        await insert(sql, 'notification_rules', { id, ...rule, repository, changedBy: by });
        return await recordRuleEvent(sql, id, by, 'created');
      }),
    /**
     * Changes a rule. Returns null if there is no such rule, or if its version has changed. Waiting matches
     * are evaluated again.
     */
    change: async (
      id: string,
      version: number,
      rule: NotificationRuleInput,
      repository: string | null,
      by: string,
    ) =>
      await db.transaction(async (sql) => {
        const row = { ...rule, repository, changedBy: by };
        const columns = Object.keys(row).map((field, at) => `${toColumn(field)} = $${at + 3}`);
        const changed = await sql.query(
          `update notification_rules set version = version + 1, changed_at = clock_timestamp(),
              ${columns.join(', ')}
            where id = $1 and version = $2 returning id`,
          [id, version, ...Object.values(row)],
        );
        if (changed.length === 0) return null;
        await sql.query(HURRY, [GATHER, `${escapeLike(id)} %`]);
        return await recordRuleEvent(sql, id, by, rule.enabled ? 'changed' : 'turned off');
      }),
    /** Removes a rule with its unsent matches. Returns `false` if there is no such rule. */
    remove: async (id: string, by: string) =>
      await db.transaction(async (sql) => {
        if ((await recordRuleEvent(sql, id, by, 'deleted')) === null) return false;
        await sql.query('delete from work where topic = $1 and key like $2', [GATHER, `${escapeLike(id)} %`]);
        return (
          (await sql.query('delete from notification_rules where id = $1 returning id', [id])).length > 0
        );
      }),
    /** Lists the changes of a rule, newest first. A null `id` lists the changes of owners. */
    events: async (id: string | null, limit: number) => await queryAll(db, RuleEvent, EVENTS, [id, limit]),
    /** Lists the messages of a rule, newest first. */
    messages: async (id: string, limit: number) => await queryAll(db, SentMessage, MESSAGES, [id, limit]),
  };
}

function createOwnerMethods(db: Database) {
  return {
    owners: async () =>
      await queryAll(
        db,
        OwnerChannels,
        `select ${listColumns(OwnerChannels)} from notification_owners order by key limit ${MAX_OWNERS}`,
      ),
    /** Replaces the addresses of this owner; without any address, removes the owner. */
    setOwner: async (channels: OwnerChannels, by: string) =>
      await db.transaction(async (sql) => {
        const key = toOwnerKey(channels.owner);
        const { owner, ...addresses } = channels;
        const isEmpty = Object.values(addresses).every((value) => value === null);
        await sql.query('delete from notification_owners where key = $1', [key]);
        if (!isEmpty) await insert(sql, 'notification_owners', { key, ...channels });
        await note(sql, null, by, isEmpty ? 'removed' : 'set', { ...channels, owner });
      }),
  };
}

function createFindingMethods(db: Database, work: Pick<WorkStore, 'add' | 'finish'>) {
  return {
    /**
     * Finds the occasion that rules are asked about: an answer of a build that was not imported, or a change
     * of a cause. Returns null if it is gone.
     */
    occasion: async (of: { readonly analysisId: string } | { readonly eventId: number }) =>
      'analysisId' in of
        ? await queryFirst(db, Occasion, `${ANSWERS} where f.analysis_id = $1 and b.imported_at is null`, [
            of.analysisId,
          ])
        : await queryFirst(db, Occasion, `${EVENTS_OF_CAUSES} where e.id = $1 and b.imported_at is null`, [
            of.eventId,
          ]),
    /** Lists answers by their ids, including imported ones. */
    answers: async (analysisIds: readonly string[]) =>
      await queryAll(db, Occasion, `${ANSWERS} where f.analysis_id = any($1::text[])`, [analysisIds]),
    /** Lists changes of causes to one of these states, newest first, including imported ones. */
    changes: async (
      states: readonly CauseState[],
      since: string,
      limit: number,
      repositories?: readonly string[],
    ) => await queryAll(db, Occasion, CHANGES, [states, since, scopeValue(repositories), limit]),

    /** Stores the matches of rules and requests that they are sent. Storing them again changes nothing. */
    keep: async (matches: readonly NewMatch[]) => {
      const rows = matches.flatMap(({ ruleId, occasion: { key, analysisId, state }, targets }) =>
        targets.map((target) => ({ ruleId, occasion: key, analysisId, state, target })),
      );
      if (rows.length === 0) return;
      await db.transaction(async (sql) => {
        const kept = await sql.query<{ ruleId: string; target: string }>(KEEP, [JSON.stringify(rows)]);
        await work.add(
          kept.map(({ ruleId, target }) => ({
            topic: GATHER,
            key: `${ruleId} ${target}`,
            payload: { ruleId, target },
          })),
          sql,
        );
      });
    },
    /**
     * Returns the time since which the oldest unsent match for this target has waited; null if nothing waits.
     */
    oldest: async (ruleId: string, target: string) =>
      (await db.query<{ at: string | null }>(OLDEST, [ruleId, target]))[0]?.at ?? null,
    discard: async (ruleId: string) =>
      void (await db.query('delete from notification_matches where rule_id = $1 and message_id is null', [
        ruleId,
      ])),
    /**
     * Combines all waiting matches into one message, which `topic` sends, and ends the work item that
     * requested it, in one transaction.
     */
    seal: async (
      entry: WorkItem,
      { ruleId, target, topic }: { readonly ruleId: string; readonly target: string; readonly topic: string },
      end: WorkEnd,
    ) =>
      await db.transaction(async (sql) => {
        const key = createId('ntm');
        const sealed = await sql.query<{ buildId: string }>(SEAL, [ruleId, target, key]);
        const [newest] = sealed;
        if (!(await work.finish(entry, end, sql))) throw new Error('the lease was lost');
        if (newest !== undefined)
          await work.add([{ topic, key, buildId: newest.buildId, payload: { ruleId, target } }], sql);
      }),
    /** Lists the matches that a message is about, oldest first. */
    matches: async (messageId: string) => await queryAll(db, Match, MATCHES, [messageId]),
  };
}

const RULE = listColumns(NotificationRule);
const LIST = `
  select ${RULE} from notification_rules
  where ($1::text[] is null or repository like any ($1)) and ($2::boolean is null or enabled)
  order by lower(name), id limit ${MAX_RULES}`;

async function recordRuleEvent(
  sql: Pick<Sql, 'query'>,
  id: string,
  by: string,
  what: string,
): Promise<NotificationRule | null> {
  const rule = await queryFirst(
    sql,
    NotificationRule,
    `select ${RULE} from notification_rules where id = $1`,
    [id],
  );
  if (rule !== null) await note(sql, id, by, what, rule);
  return rule;
}

async function note(
  sql: Pick<Sql, 'query'>,
  ruleId: string | null,
  by: string,
  what: string,
  detail: object,
): Promise<void> {
  await insert(sql, 'notification_events', { ruleId, by, what, detail: JSON.stringify(detail) });
}

const EVENTS = `select ${listColumns(RuleEvent)} from notification_events
  where rule_id is not distinct from $1
  order by id desc limit $2`;

// When a rule changes, waiting matches may be due now.
const HURRY = `
  update work set free_at = clock_timestamp(), due_at = clock_timestamp()
  where topic = $1 and key like $2 and version > settled and not held`;

const OCCASION =
  'f.analysis_id as "analysisId", f.build_id as "buildId", c.repository, c.fingerprint, c.owner';
const ANSWERS = `
  select 'answer:' || f.analysis_id as key, true as "isAnswer",
    case when c.first_at >= b.received_at then 'new' end as state,
    b.received_at as at, ${OCCASION}
  from answer_facts f join builds b on b.id = f.build_id join causes c on c.repository = f.repository
    and c.fingerprint = f.fingerprint`;
const EVENTS_OF_CAUSES = `
  select 'event:' || e.id as key, false as "isAnswer", e.what as state, e.at, ${OCCASION}
  from cause_events e join causes c on c.repository = e.repository and c.fingerprint = e.fingerprint
    cross join lateral (
      select a.analysis_id, a.build_id from answer_facts a
      where a.fingerprint = e.fingerprint and a.repository = e.repository
      order by a.created_at desc, a.analysis_id desc limit 1
    ) as f
    join builds b on b.id = coalesce(e.build_id, f.build_id)`;
const CHANGES = `
  select * from (
    (${EVENTS_OF_CAUSES} where e.what = any($1::text[]) and e.at >= $2::timestamptz
      and ($3::text[] is null or e.repository like any ($3))
      order by e.at desc limit $4)
    union all
    (${ANSWERS} where 'new' = any($1) and c.first_at >= $2 and c.first_at >= b.received_at
      and ($3 is null or c.repository like any ($3))
      order by b.received_at desc limit $4)
  ) as changes order by at desc limit $4`;

const KEEP = `
  insert into notification_matches (rule_id, occasion, target, analysis_id, state)
  select r.id, m->>'occasion', m->>'target', a.id, m->>'state'
  from jsonb_array_elements($1::jsonb) as m join notification_rules r on r.id = m->>'ruleId'
  join analyses a on a.id = m->>'analysisId'
  on conflict do nothing
  returning rule_id as "ruleId", target`;

const OLDEST = `
  select min(matched_at) as at from notification_matches where rule_id = $1 and target = $2
    and message_id is null`;

const SEAL = `
  with sealed as (
    update notification_matches set message_id = $3 where rule_id = $1 and target = $2 and message_id is null
    returning analysis_id
  )
  select a.build_id as "buildId" from sealed join analyses a on a.id = sealed.analysis_id
  order by a.created_at desc limit 1`;

const MATCHES = `
  select m.analysis_id as "analysisId", b.id as "buildId", b.repository, a.fingerprint, m.state
  from notification_matches m join analyses a on a.id = m.analysis_id join builds b on b.id = a.build_id
  where m.message_id = $1 order by m.matched_at, m.occasion`;

// This reads only the newest matches.
const MESSAGES = `
  select o.key, o.payload->>'target' as target, case when o.version = o.settled then o.outcome end as outcome,
    o.error,
    (select count(distinct n.analysis_id)::int from notification_matches n
      where n.message_id = m.message_id) as answers, o.changed_at as at
  from (
    select distinct message_id from (
      select message_id from notification_matches where rule_id = $1 and message_id is not null
      order by matched_at desc limit 5000
    ) as newest
  ) as m join work o on o.key = m.message_id and o.topic like 'message:%'
  order by o.created_at desc limit $2`;
