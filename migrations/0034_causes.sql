-- Whose a cause is and how it stands, in each repository: moved by people, and by builds that prove that it is gone or back.

create table causes (
  repository text not null,
  fingerprint text not null,
  title text not null,
  category text not null,
  state text not null default 'new' check (state in ('new', 'acknowledged', 'assigned', 'fixed', 'regressed')),
  assignee text,
  -- whatever its state is: nobody is asked to act before
  muted_until timestamptz,
  ticket text,
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- pipelines whose default branch failed with it and has not passed since
  red_pipelines text[] not null default '{}',
  version integer not null default 1,
  primary key (repository, fingerprint)
);
create index causes_by_state on causes (state, last_at desc);
create index causes_by_assignee on causes (assignee, last_at desc) where assignee is not null;
create index causes_red on causes (repository) where red_pipelines <> '{}';

create table cause_events (
  id bigint generated always as identity primary key,
  repository text not null,
  fingerprint text not null,
  at timestamptz not null,
  -- null: builds proved it
  by text,
  -- what it became: a state, or "muted", "unmuted", "linked"
  what text not null,
  detail text,
  build_id text references builds (id) on delete set null,
  foreign key (repository, fingerprint) references causes (repository, fingerprint) on delete cascade
);
create index cause_events_by_cause on cause_events (repository, fingerprint, id desc);

create function is_default_branch(b builds) returns boolean language sql stable as $$
  select coalesce(b.branch = (select d.branch from default_branches d where d.provider = b.provider and d.repository = b.repository),
    b.branch in ('main', 'master', 'trunk', 'default'), false)
$$;

create function keep_causes() returns trigger language plpgsql as $$
declare
  failed builds;
  before causes;
  gone builds;
  red boolean;
begin
  select * into failed from builds where id = new.build_id;
  red := is_default_branch(failed);
  -- an answer may come after the build that shows it gone, and builds of the past may come in any order
  if red then
    select * into gone from builds b where b.repository = failed.repository and b.pipeline = failed.pipeline and b.branch = failed.branch
      and b.status = 'passed' and b.received_at > failed.received_at order by b.received_at limit 1;
    red := gone.id is null;
  end if;
  insert into causes (repository, fingerprint, title, category, first_at, last_at)
    values (new.repository, new.fingerprint, new.title, new.category, failed.received_at, failed.received_at)
    on conflict do nothing;
  select * into before from causes where repository = new.repository and fingerprint = new.fingerprint for update;
  update causes set title = new.title, category = new.category, first_at = least(first_at, failed.received_at),
    last_at = greatest(last_at, failed.received_at),
    red_pipelines = case when red and not failed.pipeline = any (red_pipelines) then array_append(red_pipelines, failed.pipeline) else red_pipelines end,
    state = case when gone.id is not null and red_pipelines = '{}' then 'fixed' when red and state = 'fixed' and failed.received_at > before.last_at then 'regressed' else state end,
    version = version + 1
  where repository = new.repository and fingerprint = new.fingerprint;
  if gone.id is not null and before.red_pipelines = '{}' and before.state <> 'fixed' then
    insert into cause_events (repository, fingerprint, at, what, build_id)
      values (new.repository, new.fingerprint, gone.received_at, 'fixed', gone.id);
  end if;
  if red and before.state = 'fixed' and failed.received_at > before.last_at then
    insert into cause_events (repository, fingerprint, at, what, build_id)
      values (new.repository, new.fingerprint, failed.received_at, 'regressed', failed.id);
  end if;
  return null;
end
$$;
create trigger answer_facts_keep_causes after insert on answer_facts for each row execute function keep_causes();

create function keep_fixed_causes() returns trigger language plpgsql as $$
begin
  if not is_default_branch(new) then return null; end if;
  with green as (
    update causes set red_pipelines = array_remove(red_pipelines, new.pipeline),
      state = case when red_pipelines = array[new.pipeline] then 'fixed' else state end, version = version + 1
    where repository = new.repository and new.pipeline = any (red_pipelines) and last_at < new.received_at
    returning repository, fingerprint, state
  )
  insert into cause_events (repository, fingerprint, at, what, build_id)
    select repository, fingerprint, new.received_at, 'fixed', new.id from green where state = 'fixed';
  return null;
end
$$;
create trigger builds_fix_causes after insert or update of status on builds for each row when (new.status = 'passed') execute function keep_fixed_causes();

-- No cause outlives its last answer.
create function forget_causes() returns trigger language plpgsql as $$
begin
  delete from causes c where (c.repository, c.fingerprint) in (select repository, fingerprint from removed)
    and not exists (select from answer_facts f where f.repository = c.repository and f.fingerprint = c.fingerprint);
  return null;
end
$$;
create trigger answer_facts_forget_causes after delete on answer_facts
  referencing old table as removed for each statement execute function forget_causes();

-- what there is already; what is red now shows with the next builds
insert into causes (repository, fingerprint, title, category, first_at, last_at)
select repository, fingerprint, (array_agg(title order by created_at desc))[1], (array_agg(category order by created_at desc))[1], min(created_at),
  max(created_at)
from answer_facts group by 1, 2;
