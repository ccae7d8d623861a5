-- What passed builds say, as templates of their logs. The logs themselves are not kept.

-- The debt to a passed build: its logs are to become templates
create table green_jobs (
  build_id text primary key references builds (id) on delete cascade,
  state text not null check (state in ('queued', 'running', 'done', 'skipped', 'failed')),
  attempts integer not null default 0,
  -- fencing number: rises with each lease
  lease integer not null default 0,
  -- while queued: left alone until then; while running: held until then
  free_at timestamptz not null default clock_timestamp(),
  error text,
  owed_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index green_jobs_owed on green_jobs (owed_at desc) where state in ('queued', 'running');

create table green_templates (
  build_id text not null references builds (id) on delete cascade,
  log text not null,
  body jsonb not null,
  stored_at timestamptz not null default clock_timestamp(),
  primary key (build_id, log)
);

-- Which of them a failed build was compared with when it was first read, so that reading it again says the same. A log that
-- had none to be compared with has one row without a green build.
create table green_choices (
  build_id text not null references builds (id) on delete cascade,
  log text not null,
  position integer not null,
  green_build_id text references builds (id) on delete cascade,
  primary key (build_id, log, position)
);
create index green_choices_by_green on green_choices (green_build_id);

-- As far as the CI has said; elsewhere the usual names count.
create table default_branches (
  provider text not null,
  repository text not null,
  branch text not null,
  primary key (provider, repository)
);
