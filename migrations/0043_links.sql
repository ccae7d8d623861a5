-- What leads to the CI that ran a build, and what was asked of it.

create table log_pages (
  build_id text not null references builds (id) on delete cascade,
  -- of the log
  name text not null,
  -- the page of its job at its CI; `{line}` stands for a line where the page can be opened at one
  url text not null,
  primary key (build_id, name)
);

create table reruns (
  id bigint generated always as identity primary key,
  -- who asked, and when, stays after the build is gone
  build_id text references builds (id) on delete set null,
  by text not null,
  at timestamptz not null default clock_timestamp(),
  outcome text not null default 'asked' check (outcome in ('asked', 'done', 'failed')),
  error text
);
create index reruns_by_build on reruns (build_id, id desc);
create unique index reruns_one_at_a_time on reruns (build_id) where outcome = 'asked';
create trigger reruns_keep_changes after insert or update on reruns for each row execute function keep_changes();
