-- Eight migrations were changed after some databases had applied them. What differs is made as in a new database: from each older form, from any
-- mixture of them, and where somebody has mended a part by hand. Where nothing differs, nothing is rewritten. What an older form keeps other
-- migrations from being applied for is in 0001a, 0026a and 0044a.

-- 0001: late jobs and waits; what was done is not owed again
alter table builds drop column if exists failures_saved_at;
create table if not exists failed_parts (
  build_id text not null references builds (id) on delete cascade,
  part text not null,
  told_at timestamptz not null default clock_timestamp(),
  primary key (build_id, part)
);
alter table triage_jobs
  add column if not exists retries integer not null default 0,
  add column if not exists not_before timestamptz;
do $$
begin
  if not exists (select from pg_attribute where attrelid = 'triage_jobs'::regclass and attname = 'taken' and not attisdropped) then
    alter table triage_jobs
      add column if not exists owed integer not null default 1,
      add column taken integer not null default 0,
      add column if not exists fetched integer not null default 0;
    update triage_jobs set taken = owed, fetched = owed where state in ('done', 'failed');
  end if;
  if to_regclass('vector_items_before') is not null then
    insert into vector_items (namespace, id, embedder, text, metadata, embedding, updated_at)
      select namespace, id, embedder, text, metadata, embedding, updated_at from vector_items_before on conflict do nothing;
    drop table vector_items_before;
  end if;
end
$$;

-- 0017: the trace of a delivery is kept with what is owed
alter table deliveries drop column if exists traceparent;

-- 0023: whoever opens a review need not repeat what its analysis says
create or replace function fill_review() returns trigger language plpgsql as $$
begin
  if new.fingerprint is null then
    select a.fingerprint, a.kind, b.pull_request into new.fingerprint, new.kind, new.pull_request
    from analyses a join builds b on b.id = a.build_id where a.id = new.analysis_id;
  end if;
  return new;
end
$$;
drop trigger if exists reviews_fill on reviews;
create trigger reviews_fill before insert on reviews for each row execute function fill_review();

-- 0039: old changes are found by their index
create or replace function keep_changes() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'builds' then
    insert into changes (repository, build_id) values (new.repository, new.id);
  elsif tg_table_name = 'causes' then
    insert into changes (repository) values (new.repository);
  else
    insert into changes (repository, build_id) select b.repository, b.id from builds b where b.id = new.build_id;
  end if;
  delete from changes where id in (
    select id from changes where at < statement_timestamp() - interval '1 minute' order by at limit 5 for update skip locked
  );
  return null;
end
$$;

-- 0044: builds per day are read from the index alone
do $$
begin
  if pg_get_indexdef(to_regclass('build_days_pkey')) not like '%INCLUDE (builds, failed)%' then
    alter table build_days drop constraint build_days_pkey;
    alter table build_days add primary key (repository, pipeline, provider, day) include (builds, failed);
  end if;
end
$$;

-- 0046: waits, jobs and deployments
alter table builds add column if not exists queued_seconds double precision;
create table if not exists deployments (
  repository text not null,
  at timestamptz not null,
  environment text not null,
  version text not null,
  url text,
  primary key (repository, at, environment, version)
);

-- 0048: causes by a short key
alter table answer_facts add column if not exists cause_key bigint generated always as (hashtextextended(fingerprint, 0)) stored;
drop index if exists answer_facts_by_cause_and_day;

-- the indexes of all of them: one that lacks the words is of an older form
do $$
declare
  wanted record;
begin
  for wanted in select * from (values
    ('builds_by_external_id', 'builds_by_external_id', 'create unique index builds_by_external_id on builds (provider, repository, external_id, attempt)
      where external_id is not null'),
    ('library_entries_by_fingerprint', '(repository, fingerprint,', 'create index library_entries_by_fingerprint
      on library_entries (repository, fingerprint, confirmed_at desc, id desc)'),
    ('builds_timed', 'queued_seconds', 'create index builds_timed on builds (repository, pipeline, received_at desc)
      include (provider, started_at, finished_at, queued_seconds) where status in (''passed'', ''failed'')'),
    ('answer_facts_by_day_and_cause', 'cause_key', 'create index answer_facts_by_day_and_cause
      on answer_facts (day, cause_key, build_share, repository)'),
    ('answer_facts_by_cause', 'cause_key', 'create index answer_facts_by_cause on answer_facts (cause_key)'),
    ('answer_facts_by_repository', 'cause_key', 'create index answer_facts_by_repository on answer_facts (repository, created_at desc)
      include (analyst, category, hundredth, decision, decided_at, is_right, blind, review_origin, day, shown_category, is_open, cause_key,
      build_share)'),
    ('build_days_by_day', 'INCLUDE (repository, pipeline, provider, builds, failed)', 'create index build_days_by_day on build_days (day)
      include (repository, pipeline, provider, builds, failed)')
  ) as indexes (name, words, definition)
  loop
    if strpos(coalesce(pg_get_indexdef(to_regclass(wanted.name)), ''), wanted.words) = 0 then
      execute format('drop index if exists %I', wanted.name);
      execute wanted.definition;
    end if;
  end loop;
end
$$;
