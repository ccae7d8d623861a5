-- One table for all work that outlives the transaction which asks for it: answers to publish, notices to keep in step, entries for the vector
-- index, passed builds to learn from, logs to delete. What was waiting in the five tables before is carried over.

create table outbox (
  -- what is to be done: publish:webhook, notice:github-comment, index:error_library, passing-build, remove-logs
  topic text not null,
  -- what it is done to; for whoever is called outside it names this call for good
  key text not null,
  -- null: the work outlives its build
  build_id text references builds (id) on delete cascade,
  payload jsonb not null default '{}',
  -- rises with each change of what is to be done
  version integer not null default 1,
  -- how much of `version` was processed or given up; work is pending while version > settled
  settled integer not null default 0,
  -- how the last of it ended
  outcome text check (outcome in ('done', 'skipped', 'superseded', 'failed')),
  result jsonb,
  error text,
  -- not processed before
  due_at timestamptz not null default clock_timestamp(),
  -- while held: held until then; else left alone until then
  free_at timestamptz not null default clock_timestamp(),
  held boolean not null default false,
  -- fencing number: rises with each lease; above 1 a call may have been made before
  lease integer not null default 0,
  -- since it was settled last: attempts that did not end, and attempts that failed with something temporary
  attempts integer not null default 0,
  retries integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  primary key (topic, key)
);
create index outbox_pending on outbox (topic, due_at) where version > settled;
create index outbox_by_build on outbox (build_id) where build_id is not null;

insert into outbox (topic, key, build_id, payload, settled, outcome, result, error, free_at, lease, attempts, retries, created_at, changed_at, due_at)
  select 'publish:' || publisher, key, build_id, jsonb_build_object('analysisId', analysis_id),
    case when state in ('owed', 'started') then 0 else 1 end, case when state in ('owed', 'started') then null else state end,
    case when reference is not null then jsonb_build_object('reference', reference) end,
    error, free_at, lease, attempts, retries, owed_at, updated_at, owed_at
  from outward_acts;
insert into outbox (topic, key, build_id, payload, version, settled, outcome, result, error, due_at, free_at, lease, attempts, retries, created_at, changed_at)
  select 'notice:' || channel, key, build_id, jsonb_build_object('repository', repository, 'about', about), wanted, shown,
    case when shown = 0 then null when error is null then 'done' else 'failed' end,
    case when hash is not null or reference is not null then jsonb_build_object('reference', reference, 'hash', hash) end,
    error, due_at, free_at, lease, attempts, retries, created_at, changed_at
  from notices;
insert into outbox (topic, key, payload, version, error, free_at, lease, retries, created_at, changed_at, due_at)
  select 'index:' || namespace, id, jsonb_build_object('item', item), version, error, not_before, lease, attempts, owed_at, owed_at, owed_at
  from vector_debts;
insert into outbox (topic, key, build_id, settled, outcome, error, free_at, lease, retries, created_at, changed_at, due_at)
  select 'passing-build', build_id, build_id, case when state in ('queued', 'running') then 0 else 1 end,
    case when state in ('queued', 'running') then null else state end, error, free_at, lease, attempts, owed_at, updated_at, owed_at
  from green_jobs;
insert into outbox (topic, key, created_at, due_at)
  select 'remove-logs', build_id, owed_at, owed_at from log_removals;

drop table outward_acts, notices, vector_debts, green_jobs, log_removals;
