-- One trace from the door to the answer, across processes: the W3C traceparent of the request that owed the work goes with it.

alter table triage_jobs
  add column traceparent text,
  -- when the newest news came: how long it waited is counted from then
  add column owed_at timestamptz not null default clock_timestamp();
