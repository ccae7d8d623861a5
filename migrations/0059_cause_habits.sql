-- What people make of causes besides: mute one until it was seen so often, call it fixed from the next build on, merge two that are one, and
-- take back what they did.

alter table causes
  -- further answers with it until it is muted no more
  add column muted_left integer check (muted_left > 0),
  -- builds that began before then do not bring it back
  add column fixed_from timestamptz,
  -- the fingerprint, in the same repository, of the cause that its failures count as; that one is merged into none
  add column merged_into text;
create index causes_merged on causes (merged_into, repository) where merged_into is not null;

-- what a person changed, as it was before, and the version that the change made
alter table cause_events add column before jsonb, add column version integer;
create index cause_events_to_undo on cause_events (by, at) where before is not null;

-- The fingerprints whose failures count as a cause, its own first.
create function list_merged(of_repository text, of_fingerprint text) returns text[] language sql stable as $$
  select array[of_fingerprint] || coalesce((
    select array_agg(fingerprint) from causes where repository = of_repository and merged_into = of_fingerprint
  ), '{}')
$$;

-- As in 0053, over all that is merged into the cause.
create or replace function cause_proof(of_repository text, of_fingerprint text, of_pipeline text, of_branch text) returns text language sql stable as $$
  with newest as materialized (
    select b.id, b.status, b.received_at, exists (
      select from answer_facts f where f.build_id = b.id and f.fingerprint = any ((select list_merged(of_repository, of_fingerprint))::text[])
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
    from last_failed l join failure_facts x on x.build_id = l.id
        and x.fingerprint = any ((select list_merged(of_repository, of_fingerprint))::text[])
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

-- As in 0053; an answer counts for the cause that its own is merged into.
create or replace function keep_causes() returns trigger language plpgsql as $$
declare
  failed builds;
  before causes;
  proof builds;
  counted text;
  on_default boolean;
  red boolean := false;
  is_back boolean;
  rest text[];
begin
  select * into failed from builds where id = new.build_id;
  select coalesce(merged_into, fingerprint) into counted from causes where repository = new.repository and fingerprint = new.fingerprint;
  counted := coalesce(counted, new.fingerprint);
  on_default := is_default_branch(failed);
  -- an answer may come after the builds that show it gone, and builds of the past may come in any order
  if on_default then
    red := not exists (select from builds b where b.repository = failed.repository and b.pipeline = failed.pipeline and b.branch = failed.branch
      and b.status = 'passed' and b.received_at > failed.received_at);
    if not red then
      select * into proof from builds where id = cause_proof(failed.repository, counted, failed.pipeline, failed.branch);
    end if;
  end if;
  insert into causes (repository, fingerprint, title, category, first_at, last_at)
    values (new.repository, new.fingerprint, new.title, new.category, failed.received_at, failed.received_at)
    on conflict do nothing;
  select * into before from causes where repository = new.repository and fingerprint = counted for update;
  rest := array_remove(before.unproven_pipelines, failed.pipeline);
  is_back := on_default and proof.id is null and before.state = 'fixed' and failed.received_at > before.last_at
    and (before.fixed_from is null or coalesce(failed.started_at, failed.received_at) > before.fixed_from);
  update causes set title = case when counted = new.fingerprint then new.title else title end,
    category = case when counted = new.fingerprint then new.category else category end,
    first_at = least(first_at, failed.received_at), last_at = greatest(last_at, failed.received_at),
    red_pipelines = case when red and not failed.pipeline = any (red_pipelines) then array_append(red_pipelines, failed.pipeline) else red_pipelines end,
    unproven_pipelines = case when not on_default then unproven_pipelines when proof.id is null then array_append(rest, failed.pipeline) else rest end,
    state = case when proof.id is not null and rest = '{}' then 'fixed' when is_back then 'regressed' else state end,
    fixed_from = case when is_back then null else fixed_from end,
    muted_left = case when muted_left > 1 then muted_left - 1 end,
    version = version + 1
  where repository = new.repository and fingerprint = counted;
  if proof.id is not null and rest = '{}' and before.state <> 'fixed' then
    insert into cause_events (repository, fingerprint, at, what, build_id) values (new.repository, counted, proof.received_at, 'fixed', proof.id);
  end if;
  if is_back then
    insert into cause_events (repository, fingerprint, at, what, build_id) values (new.repository, counted, failed.received_at, 'regressed', failed.id);
  end if;
  if before.muted_left = 1 then
    insert into cause_events (repository, fingerprint, at, what, build_id) values (new.repository, counted, failed.received_at, 'unmuted', failed.id);
  end if;
  return null;
end
$$;

-- After causes were merged or parted: when it was seen, and where it is red, of all that counts as the cause now.
create function recount_cause(of_repository text, of_fingerprint text) returns void language sql as $$
  with failing as (
    select b.pipeline, b.branch, is_default_branch(b) as on_default, min(b.received_at) as first_at, max(b.received_at) as last_at
    from answer_facts f join builds b on b.id = f.build_id
    where f.repository = of_repository and f.fingerprint = any (list_merged(of_repository, of_fingerprint)) group by 1, 2, 3
  ), standing as (
    select f.*, not exists (
        select from builds b where b.repository = of_repository and b.pipeline = f.pipeline and b.branch = f.branch and b.status = 'passed'
          and b.received_at > f.last_at
      ) as red, cause_proof(of_repository, of_fingerprint, f.pipeline, f.branch) is null as unproven
    from failing f where f.on_default
  ), known as (
    select state from causes where repository = of_repository and fingerprint = of_fingerprint
  ), derived as (
    select coalesce(array_agg(distinct pipeline) filter (where red), '{}') as red,
      coalesce(array_agg(distinct pipeline) filter (where red or (unproven and state <> 'fixed')), '{}') as unproven
    from standing cross join known
  ), seen as (select min(first_at) as first_at, max(last_at) as last_at from failing)
  update causes c set red_pipelines = d.red, unproven_pipelines = d.unproven, first_at = coalesce(s.first_at, c.first_at),
    last_at = coalesce(s.last_at, c.last_at)
  from derived d, seen s where c.repository = of_repository and c.fingerprint = of_fingerprint
$$;

-- No cause outlives its last answer, and none stays merged into one that is gone.
create or replace function forget_causes() returns trigger language plpgsql as $$
begin
  with gone as (
    delete from causes c where (c.repository, c.fingerprint) in (select repository, fingerprint from removed)
      and not exists (select from answer_facts f where f.repository = c.repository and f.fingerprint = any (list_merged(c.repository, c.fingerprint)))
    returning repository, fingerprint
  )
  update causes c set merged_into = null from gone g where c.repository = g.repository and c.merged_into = g.fingerprint;
  return null;
end
$$;

-- What people last said of it, so that lists need not look it up for every cause.
alter table causes add column decided_category text;

create function keep_decided_category() returns trigger language plpgsql as $$
begin
  update causes set decided_category = (
    select coalesce(f.decided_category, f.category) from answer_facts f
    where f.repository = new.repository and f.fingerprint = new.fingerprint and f.decision in ('accept', 'correct')
    order by f.decided_at desc limit 1
  ) where repository = new.repository and fingerprint = new.fingerprint;
  return null;
end
$$;
create trigger answer_facts_decide_causes after update on answer_facts for each row
  when (old.decision is distinct from new.decision or old.decided_category is distinct from new.decided_category)
  execute function keep_decided_category();

-- what there is already
update causes c set decided_category = said.category
from (
  select distinct on (repository, fingerprint) repository, fingerprint, coalesce(decided_category, category) as category
  from answer_facts where decision in ('accept', 'correct') order by repository, fingerprint, decided_at desc
) as said
where said.repository = c.repository and said.fingerprint = c.fingerprint;

create index causes_by_words on causes using gin (title gin_trgm_ops);
