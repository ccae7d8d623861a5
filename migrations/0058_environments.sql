-- What runs worked with: of every failed run, and of the newest green run of a job, branch and day. A record is cut into parts that runs share.

create table environment_parts (
  -- the beginning of the hash of the body
  id uuid primary key,
  -- a line each: kind, name and version
  body text not null
);

create table environments (
  build_id text not null references builds (id) on delete cascade,
  log text not null,
  -- names provider, repository, pipeline and log: the same in every run of the job
  job uuid not null,
  branch text not null,
  at timestamptz not null,
  passed boolean not null,
  parts uuid[] not null,
  -- a line each: seconds and the name of the step
  steps text not null,
  primary key (build_id, log)
);
create index environments_green on environments (job, branch, at desc) where passed;
