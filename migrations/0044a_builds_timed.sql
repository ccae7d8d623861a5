-- An older form of 0044_build_days lacked an index that 0046_health replaces.

create index if not exists builds_timed on builds (repository, pipeline, received_at desc) include (provider, started_at, finished_at)
  where status in ('passed', 'failed');
