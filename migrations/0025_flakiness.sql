-- Flaky tests. Only tests that failed at least once are followed, so that a build of ten thousand passing tests costs one look-up.

create table followed_tests (
  -- MD5 of repository, suite and name: names may be longer than an index takes
  key text primary key,
  repository text not null,
  name text not null,
  suite text,
  file text,
  -- what src/domain/flakiness.ts says of the newest runs
  runs integer not null default 0,
  failed integer not null default 0,
  flakes integer not null default 0,
  rerun integer not null default 0,
  recovered integer not null default 0,
  default_runs integer not null default 0,
  flips integer not null default 0,
  since timestamptz,
  last_flake_at timestamptz,
  last_failed_at timestamptz,
  recent jsonb not null default '[]',
  -- share of flakes among the runs, by which lists are ordered
  rate double precision generated always as (case when runs = 0 then 0 else flakes::float8 / runs end) stored
);
create index followed_tests_flaky on followed_tests (rate desc, flakes desc, key) where flakes > 0;
create index followed_tests_flaky_of on followed_tests (repository, rate desc, flakes desc, key) where flakes > 0;
create index followed_tests_by_name on followed_tests (repository, md5(name));

-- The newest runs of each, somewhat more than are counted.
create table test_runs (
  test_key text not null references followed_tests (key) on delete cascade,
  build_id text not null references builds (id) on delete cascade,
  outcome text not null check (outcome in ('passed', 'failed')),
  at timestamptz not null,
  primary key (test_key, build_id)
);
create index test_runs_by_time on test_runs (test_key, at desc, build_id desc);
create index test_runs_by_build on test_runs (build_id);

-- A test is forgotten with the last build that ran it.
create function forget_tests() returns trigger language plpgsql as $$
begin
  delete from followed_tests t
    where t.key in (select test_key from removed) and not exists (select from test_runs r where r.test_key = t.key);
  return null;
end
$$;
create trigger test_runs_forget_tests after delete on test_runs
  referencing old table as removed for each statement execute function forget_tests();
