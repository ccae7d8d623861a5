-- What is known of each run of a test, what its failures cost, and which tests are in quarantine.

alter table test_runs
  add column duration_ms double precision,
  -- the machine, where the report names it
  add column runner text,
  -- of a failed run: one of as many parts as tests failed in its build, and that part of the build's run time, in seconds
  add column share double precision,
  add column lost_seconds double precision;
create index test_runs_failed on test_runs (at) include (test_key, share, lost_seconds) where outcome = 'failed';
create index test_runs_failed_of on test_runs (test_key, at) include (share, lost_seconds) where outcome = 'failed';

alter table followed_tests
  add column quarantined_until timestamptz,
  add column quarantined_by text,
  add column quarantine_reason text,
  add column quarantine_events jsonb not null default '[]';
create index followed_tests_quarantined on followed_tests (quarantined_until) where quarantined_until is not null;
create index followed_tests_by_words on followed_tests using gin (name gin_trgm_ops);

-- what there is already
update test_runs r set share = s.share, lost_seconds = s.share * s.seconds
from (
  select f.build_id, 1.0 / count(*) as share, extract(epoch from max(b.finished_at) - max(b.started_at))::float8 as seconds
  from test_runs f join builds b on b.id = f.build_id where f.outcome = 'failed' group by 1
) as s
where r.build_id = s.build_id and r.outcome = 'failed';
update test_runs r set duration_ms = d.ms
from (
  select t.key, e.build_id, max(e.duration_ms) as ms
  from followed_tests t join test_results e on e.name = t.name and e.suite is not distinct from t.suite group by 1, 2
) as d
where r.test_key = d.key and r.build_id = d.build_id;
