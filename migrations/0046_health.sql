-- How long a build waited before it started; null where nobody said.
alter table builds add column queued_seconds double precision;
drop index builds_timed;
create index builds_timed on builds (repository, pipeline, received_at desc) include (provider, started_at, finished_at, queued_seconds)
  where status in ('passed', 'failed');

-- In which jobs a build failed, as far as is known: as its CI named the job, and by the jobs' logs in which its failures were found.

create function failed_jobs(b builds) returns setof text language sql stable as $$
  select b.job where b.job is not null
  union
  select regexp_replace(regexp_replace(l.name, '\.log$', ''), case when b.provider = 'github' then '^-?\d+_' else '^$' end, '')
  from failures f join log_pages l on l.build_id = f.build_id and l.name <> 'console.log'
    and l.name = coalesce(f.body->'excerpt'->>'source', f.body->'test'->'at'->>'source')
  where f.build_id = b.id
$$;

-- What was deployed where: marks beside the figures of its repository.
create table deployments (
  repository text not null,
  at timestamptz not null,
  environment text not null,
  version text not null,
  url text,
  primary key (repository, at, environment, version)
);
