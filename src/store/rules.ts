import { TriageError } from '../domain/errors.ts';
import { Rule } from '../domain/library.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { RuleStore } from '../ports/library.ts';
import { pageValues } from './page.ts';
import { scopeValue } from './scope.ts';

export function createRuleStore(db: Database): RuleStore {
  const all = async (sql: Sql, text: string, values: readonly unknown[]) => (await sql.query(text, values)).map((row) => Rule.parse(row));

  return {
    add: async (rule, sql = db) => {
      await sql.query(ADD, addValues(rule));
    },
    find: async (id, sql = db) => (await all(sql, FIND, [id]))[0] ?? null,
    list: async (page, { repositories, withdrawn } = {}) =>
      await all(db, LIST, [...pageValues(page), scopeValue(repositories), withdrawn ?? false]),
    active: async (repository, limit) => await all(db, ACTIVE, [repository, limit]),
    countActive: async (sql = db) => {
      const [row] = await sql.query<{ count: number }>('select count(*)::int as count from rules where withdrawn_at is null');
      return row?.count ?? 0;
    },
    withdraw: async (id, by, reason, sql = db) => (await all(sql, WITHDRAW, [id, by, reason]))[0] ?? null,
    used: async ({ id, version }, at, sql = db) => {
      const [row] = await sql.query<{ timesUsed: number }>(USED, [id, version, at]);
      if (row === undefined) throw new TriageError('not-found', `There is no rule ${id}`);
      return row.timesUsed;
    },
  };
}

function addValues(rule: Rule): unknown[] {
  return [
    ...[rule.id, rule.version, rule.repository, rule.pattern, rule.sample, rule.category, rule.kind, rule.title],
    ...[rule.rootCause, rule.fixRecommendation, rule.author, rule.createdAt],
  ];
}

const RULE = `id, version, repository, pattern, sample, category, kind, title, root_cause as "rootCause",
  fix_recommendation as "fixRecommendation", author, created_at as "createdAt", times_used as "timesUsed", last_used_at as "lastUsedAt",
  case when withdrawn_at is not null then jsonb_build_object('by', withdrawn_by,
    'at', to_char(withdrawn_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'reason', withdrawn_reason) end as withdrawn`;

const ADD = `
  insert into rules (id, version, repository, pattern, sample, category, kind, title, root_cause, fix_recommendation, author, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

const FIND = `select ${RULE} from rules where id = $1 order by version desc limit 1`;

const LIST = `
  select ${RULE} from rules
  where ($4::boolean or withdrawn_at is null) and ($3::text[] is null or repository is null or repository like any($3))
  order by created_at desc, id desc, version desc limit $1 offset $2`;

const ACTIVE = `
  select ${RULE} from rules where withdrawn_at is null and (repository = $1 or repository is null)
  order by repository is null, created_at desc, id desc limit $2::int`;

const WITHDRAW = `
  update rules set withdrawn_at = clock_timestamp(), withdrawn_by = $2, withdrawn_reason = $3
  where id = $1 and withdrawn_at is null returning ${RULE}`;

const USED = `
  update rules set times_used = times_used + 1, last_used_at = greatest(last_used_at, $3::timestamptz)
  where id = $1 and version = $2 returning times_used as "timesUsed"`;
