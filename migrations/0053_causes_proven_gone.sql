-- A cause that comes and goes is fixed once as many builds passed as its rate needs. What is red now is derived from the builds there are.

-- pipelines whose default branch failed with it and has not passed often enough since
alter table causes add column unproven_pipelines text[] not null default '{}';
create index causes_unproven on causes (repository) where unproven_pipelines <> '{}';

-- So many builds in a row pass by chance in at most one of 20 cases while the cause is still there.
create function passes_needed(rate double precision) returns integer language sql immutable as $$
  select case when rate >= 1 then 1 else greatest(1, ceil(ln(0.05::float8) / ln(1 - rate)))::integer end
$$;

-- The passed build that proves a cause gone from a branch; null: none does yet. The rate is the share of builds that failed with it, from the
-- first of the newest 100 builds that did to the last. What always failed has rate 1; what failed once, or comes and goes, has at most the rate
-- of its flaky test. 100 builds and the 299 passes that the lowest rate needs are read.
create function cause_proof(of_repository text, of_fingerprint text, of_pipeline text, of_branch text) returns text language sql stable as $$
  with newest as materialized (
    select b.id, b.status, b.received_at, exists (
      select from answer_facts f where f.build_id = b.id and f.fingerprint = of_fingerprint
    ) as has_it
    from builds b
    where b.repository = of_repository and b.pipeline = of_pipeline and b.branch = of_branch and b.status in ('passed', 'failed')
    order by b.received_at desc limit 400
  ), last_failed as (
    select id, received_at from newest where has_it order by received_at desc limit 1
  ), until_then as (
    select n.has_it, n.received_at from newest n join last_failed l on n.received_at <= l.received_at order by n.received_at desc limit 100
  ), counted as (
    select count(*) filter (where has_it) as failed, count(*) as runs from until_then
    where received_at >= (select min(received_at) from until_then where has_it)
  ), flaky as (
    select max(t.rate) as rate
    from last_failed l join failure_facts x on x.build_id = l.id and x.fingerprint = of_fingerprint
      join followed_tests t on t.repository = of_repository and md5(t.name) = md5(x.test_name) and t.name = x.test_name
    where t.flakes > 0
  ), needed as (
    select passes_needed(case when failed = runs and failed > 1 then 1 else least(failed::float8 / runs, flaky.rate) end) as passes
    from counted, flaky where failed > 0
  )
  select n.id from newest n
  where n.status = 'passed' and n.received_at > coalesce((select received_at from last_failed), '-infinity')
  order by n.received_at offset coalesce((select passes from needed), 1) - 1 limit 1
$$;

create or replace function keep_causes() returns trigger language plpgsql as $$
declare
  failed builds;
  before causes;
  proof builds;
  on_default boolean;
  red boolean := false;
  rest text[];
begin
  select * into failed from builds where id = new.build_id;
  on_default := is_default_branch(failed);
  -- an answer may come after the builds that show it gone, and builds of the past may come in any order
  if on_default then
    red := not exists (select from builds b where b.repository = failed.repository and b.pipeline = failed.pipeline and b.branch = failed.branch
      and b.status = 'passed' and b.received_at > failed.received_at);
    if not red then
      select * into proof from builds where id = cause_proof(failed.repository, new.fingerprint, failed.pipeline, failed.branch);
    end if;
  end if;
  insert into causes (repository, fingerprint, title, category, first_at, last_at)
    values (new.repository, new.fingerprint, new.title, new.category, failed.received_at, failed.received_at)
    on conflict do nothing;
  select * into before from causes where repository = new.repository and fingerprint = new.fingerprint for update;
  rest := array_remove(before.unproven_pipelines, failed.pipeline);
  update causes set title = new.title, category = new.category, first_at = least(first_at, failed.received_at),
    last_at = greatest(last_at, failed.received_at),
    red_pipelines = case when red and not failed.pipeline = any (red_pipelines) then array_append(red_pipelines, failed.pipeline) else red_pipelines end,
    unproven_pipelines = case when not on_default then unproven_pipelines when proof.id is null then array_append(rest, failed.pipeline) else rest end,
    state = case when proof.id is not null and rest = '{}' then 'fixed'
      when on_default and proof.id is null and state = 'fixed' and failed.received_at > before.last_at then 'regressed' else state end,
    version = version + 1
  where repository = new.repository and fingerprint = new.fingerprint;
  if proof.id is not null and rest = '{}' and before.state <> 'fixed' then
    insert into cause_events (repository, fingerprint, at, what, build_id)
      values (new.repository, new.fingerprint, proof.received_at, 'fixed', proof.id);
  end if;
  if on_default and proof.id is null and before.state = 'fixed' and failed.received_at > before.last_at then
    insert into cause_events (repository, fingerprint, at, what, build_id)
      values (new.repository, new.fingerprint, failed.received_at, 'regressed', failed.id);
  end if;
  return null;
end
$$;

create or replace function keep_fixed_causes() returns trigger language plpgsql as $$
begin
  if not is_default_branch(new) then return null; end if;
  with seen as materialized (
    select repository, fingerprint, cause_proof(repository, fingerprint, new.pipeline, new.branch) is not null as is_gone from causes
    where repository = new.repository and new.pipeline = any (unproven_pipelines) and last_at < new.received_at
  ), green as (
    update causes c set red_pipelines = array_remove(red_pipelines, new.pipeline),
      unproven_pipelines = case when is_gone then array_remove(unproven_pipelines, new.pipeline) else unproven_pipelines end,
      state = case when is_gone and unproven_pipelines = array[new.pipeline] then 'fixed' else state end, version = version + 1
    from seen s
    where c.repository = s.repository and c.fingerprint = s.fingerprint and new.pipeline = any (c.unproven_pipelines)
      and (s.is_gone or new.pipeline = any (c.red_pipelines))
    returning c.repository, c.fingerprint, c.unproven_pipelines, c.state
  )
  insert into cause_events (repository, fingerprint, at, what, build_id)
    select repository, fingerprint, new.received_at, 'fixed', new.id from green where state = 'fixed' and unproven_pipelines = '{}';
  return null;
end
$$;

-- what there is already, without a word to anybody: what people took on stays theirs
with failing as (
  select f.repository, f.fingerprint, b.pipeline, b.branch, max(b.received_at) as last_at
  from answer_facts f join builds b on b.id = f.build_id where is_default_branch(b) group by 1, 2, 3, 4
), standing as (
  select f.*, not exists (
      select from builds b where b.repository = f.repository and b.pipeline = f.pipeline and b.branch = f.branch and b.status = 'passed'
        and b.received_at > f.last_at
    ) as red
  from failing f
), derived as (
  select s.repository, s.fingerprint, coalesce(array_agg(distinct s.pipeline) filter (where s.red), '{}') as red,
    coalesce(array_agg(distinct s.pipeline) filter (where s.red
      or (c.state <> 'fixed' and cause_proof(s.repository, s.fingerprint, s.pipeline, s.branch) is null)), '{}') as unproven
  from standing s join causes c on c.repository = s.repository and c.fingerprint = s.fingerprint group by 1, 2
)
update causes c set red_pipelines = d.red, unproven_pipelines = d.unproven,
  state = case when c.state = 'new' and d.unproven = '{}' then 'fixed' else c.state end, version = c.version + 1
from derived d where d.repository = c.repository and d.fingerprint = c.fingerprint
  and (c.red_pipelines <> d.red or d.unproven <> '{}' or c.state = 'new');
