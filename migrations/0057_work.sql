-- One table for all work: the triages of builds join what the outbox holds, under one kind of lease. A triage is the item of the topic
-- `triage` whose key is the build's id.

alter table outbox rename to work;
alter index outbox_pkey rename to work_pkey;
alter index outbox_pending rename to work_pending;
alter index outbox_by_build rename to work_by_build;
alter table work rename constraint outbox_outcome_check to work_outcome_check;
alter table work rename constraint outbox_build_id_fkey to work_build_id_fkey;

alter table work
  -- items of one group take turns with those of others; of a triage, the repository
  add column group_key text,
  -- the lowest is processed first
  add column priority smallint not null default 1;
create index work_pending_by_group on work (topic, group_key) where version > settled and group_key is not null;
create index work_failed on work (changed_at) where outcome = 'failed';

-- News that came to a running triage starts its counts again; so does a request from now on.
insert into work (topic, key, build_id, group_key, priority, payload, version, settled, outcome, result, error, due_at, free_at, held, lease,
    attempts, retries, created_at, changed_at)
  select 'triage', b.id, b.id, b.repository, case when b.imported_at is not null then 2 else 1 end,
    jsonb_strip_nulls(jsonb_build_object('provider', b.provider, 'traceparent', j.traceparent)),
    j.owed, case when j.state in ('queued', 'running') then j.owed - 1 else j.owed end,
    case when j.state in ('done', 'failed') then j.state end,
    case when j.fetched > 0 then jsonb_build_object('fetched', j.fetched) end, j.error, j.owed_at,
    case when j.state = 'running' then coalesce(j.lease_expires_at, clock_timestamp()) else coalesce(j.not_before, j.owed_at) end,
    j.state = 'running', j.lease, case when j.state = 'running' and j.owed > j.taken then 0 else j.attempts end, j.retries,
    j.created_at, j.updated_at
  from triage_jobs j join builds b on b.id = j.build_id;
drop table triage_jobs;

create trigger work_keep_changes after insert or update of held, version, settled on work
  for each row when (new.topic = 'triage') execute function keep_changes();

create or replace function ask_rules_about_answer() returns trigger language plpgsql as $$
begin
  if exists (select from notification_rules where enabled) then
    insert into work (topic, key, build_id, payload)
      values ('match-rules', 'answer:' || new.analysis_id, new.build_id, jsonb_build_object('analysisId', new.analysis_id))
      on conflict (topic, key) do nothing;
  end if;
  return null;
end
$$;

create or replace function ask_rules_about_cause() returns trigger language plpgsql as $$
begin
  if exists (select from notification_rules where enabled) then
    insert into work (topic, key, payload) values ('match-rules', 'event:' || new.id, jsonb_build_object('eventId', new.id))
      on conflict (topic, key) do nothing;
  end if;
  return null;
end
$$;
