-- Everything Faultline keeps, except what the queue (schema pgboss) and the graph's checkpoints (schema checkpoints)
-- keep for themselves. Times are stored in UTC; leases and claims are judged by the database's clock.

create extension if not exists pg_trgm;

-- What arrived

create table builds (
  id text primary key,
  provider text not null,
  repository text not null,
  pipeline text not null,
  number text not null,
  attempt integer not null check (attempt >= 1),
  external_id text,
  job text,
  branch text,
  commit text,
  author text,
  pull_request integer,
  url text,
  status text not null check (status in ('failed', 'passed', 'cancelled', 'unknown')),
  started_at timestamptz,
  finished_at timestamptz,
  received_at timestamptz not null,
  -- the order of builds within a pipeline; null where the CI's numbers are not numbers
  number_order bigint generated always as (case when number ~ '^[0-9]{1,18}$' then number::bigint end) stored,
  unique (provider, repository, pipeline, number, attempt)
);
-- the provider's own run id names a build too
create unique index builds_by_external_id on builds (provider, repository, external_id, attempt) where external_id is not null;
create index builds_by_number on builds (provider, number);
create index builds_by_branch on builds (repository, pipeline, branch, number_order desc);
create index builds_by_time on builds (received_at desc, id desc);
create index builds_by_repository on builds (repository, received_at desc);

create table deliveries (
  source text not null,
  delivery_id text not null,
  event text not null,
  body_sha256 text not null,
  build_id text references builds (id) on delete set null deferrable initially deferred,
  received_at timestamptz not null default clock_timestamp(),
  primary key (source, delivery_id)
);
create index deliveries_by_build on deliveries (build_id);

-- what of a build its CI has said failed: one of its jobs, or the whole of it
create table failed_parts (
  build_id text not null references builds (id) on delete cascade,
  part text not null,
  told_at timestamptz not null default clock_timestamp(),
  primary key (build_id, part)
);

create table test_results (
  build_id text not null references builds (id) on delete cascade,
  position integer not null,
  name text not null,
  suite text,
  file text,
  status text not null check (status in ('passed', 'failed', 'skipped')),
  duration_ms double precision,
  primary key (build_id, position)
);
create index test_results_by_name on test_results (name, build_id);

-- Full logs and reports: gzip chunks of 1,000 lines, so that a window is read without the rest

create table build_sources (
  build_id text not null,
  name text not null,
  kind text not null check (kind in ('log', 'report')),
  lines integer not null,
  bytes bigint not null,
  notes text[] not null,
  stored_at timestamptz not null default clock_timestamp(),
  primary key (build_id, name)
);

create table build_source_chunks (
  build_id text not null,
  name text not null,
  chunk integer not null,
  first_line integer not null,
  bytes bytea not null,
  primary key (build_id, name, chunk),
  foreign key (build_id, name) references build_sources (build_id, name) on delete cascade
);
-- the chunks are compressed already
alter table build_source_chunks alter column bytes set storage external;

-- What is owed and what was found

create table triage_jobs (
  id text primary key,
  build_id text not null unique references builds (id) on delete cascade,
  state text not null check (state in ('queued', 'running', 'done', 'failed')),
  -- since it was owed last: tries that did not give it back, and tries that did because of something that may pass
  attempts integer not null default 0,
  retries integer not null default 0,
  -- it is left alone until then
  not_before timestamptz,
  -- rises with each piece of news about the build
  owed integer not null default 1,
  -- how much of `owed` the newest lease began with; what came later makes it run once more
  taken integer not null default 0,
  -- how much of `owed` the stored logs cover
  fetched integer not null default 0,
  -- fencing number: rises with each lease
  lease integer not null default 0,
  lease_expires_at timestamptz,
  error text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index triage_jobs_owed on triage_jobs (created_at) where state in ('queued', 'running');

create table failures (
  id text primary key,
  build_id text not null references builds (id) on delete cascade,
  repository text not null,
  group_number integer not null,
  position integer not null,
  fingerprint_algorithm text not null,
  fingerprint_version integer not null,
  fingerprint text not null,
  generic boolean not null,
  test_name text,
  message text not null,
  body jsonb not null,
  seen_at timestamptz not null,
  unique (build_id, group_number, position)
);
create index failures_by_time on failures (seen_at desc, id desc);
create index failures_by_repository on failures (repository, seen_at desc);
create index failures_by_fingerprint on failures (fingerprint, seen_at desc);
create index failures_by_test on failures (test_name, seen_at desc) where test_name is not null;
create index failures_by_message on failures using gin (message gin_trgm_ops);

create table triages (
  id text primary key,
  build_id text not null references builds (id) on delete cascade,
  fingerprint text not null,
  state text not null check (state in ('open', 'concluded')),
  analysis_id text,
  opened_at timestamptz not null default clock_timestamp(),
  unique (build_id, fingerprint)
);

create table analyses (
  id text primary key,
  triage_id text not null unique references triages (id) on delete cascade,
  build_id text not null references builds (id) on delete cascade,
  fingerprint text not null,
  category text not null,
  kind text not null,
  confidence double precision not null,
  action text not null,
  analyst text not null,
  body jsonb not null,
  created_at timestamptz not null
);
create index analyses_by_build on analyses (build_id, created_at);
create index analyses_by_category on analyses (category, created_at desc);

-- What people said

create table reviews (
  id text primary key,
  analysis_id text not null unique references analyses (id) on delete cascade,
  build_id text not null references builds (id) on delete cascade,
  repository text not null,
  title text not null,
  category text not null,
  confidence double precision not null,
  why text[] not null,
  state text not null check (state in ('waiting', 'claimed', 'decided')),
  claimed_by text,
  claim_expires_at timestamptz,
  version integer not null default 1,
  opened_at timestamptz not null
);
create index reviews_by_state on reviews (state, opened_at);

create table decisions (
  id text primary key,
  review_id text not null unique references reviews (id) on delete cascade,
  analysis_id text not null references analyses (id) on delete cascade,
  type text not null check (type in ('accept', 'correct', 'reject')),
  category text,
  reviewer text not null,
  body jsonb not null,
  decided_at timestamptz not null
);
create index decisions_by_analysis on decisions (analysis_id);

-- The audit trail outlives what it tells of, so it refers to reviews by name only.
create table review_events (
  id bigint generated always as identity primary key,
  review_id text not null,
  event text not null check (event in ('opened', 'claimed', 'released', 'decided')),
  actor text not null,
  at timestamptz not null default clock_timestamp(),
  details jsonb not null
);
create index review_events_by_review on review_events (review_id, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end
$$;
create trigger review_events_append_only before update or delete on review_events
  for each row execute function refuse_change();

create table library_entries (
  id text primary key,
  fingerprint_algorithm text not null,
  fingerprint_version integer not null,
  fingerprint text not null,
  message text not null,
  repository text not null,
  category text not null,
  kind text not null,
  title text not null,
  root_cause text not null,
  fix_recommendation text not null,
  analysis_id text not null,
  confirmed_by text not null,
  confirmed_at timestamptz not null,
  times_seen integer not null,
  last_seen_at timestamptz not null
);
create index library_entries_by_fingerprint on library_entries (repository, fingerprint, confirmed_at desc, id desc);
create index library_entries_by_time on library_entries (confirmed_at desc, id desc);
