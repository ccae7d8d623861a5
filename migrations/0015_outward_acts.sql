-- What is told to the world outside. The row is there before the call, in the transaction that saves what is told.

create table outward_acts (
  -- who is told of what; the other side gets it too, so that it knows a second call for what it is
  key text primary key,
  publisher text not null,
  build_id text not null references builds (id) on delete cascade,
  analysis_id text not null references analyses (id) on delete cascade,
  state text not null check (state in ('owed', 'started', 'done', 'failed', 'superseded')),
  -- tries that did not give it back, and tries that did because of something that may pass
  attempts integer not null default 0,
  retries integer not null default 0,
  -- while owed: left alone until then; while started: held until then
  free_at timestamptz not null default clock_timestamp(),
  -- fencing number: rises with each lease; above 1 the call may have been made before
  lease integer not null default 0,
  -- what the other side calls it: an address or an id
  reference text,
  error text,
  owed_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index outward_acts_owed on outward_acts (free_at) where state in ('owed', 'started');
create index outward_acts_by_analysis on outward_acts (analysis_id);
create index outward_acts_by_build on outward_acts (build_id);
create index outward_acts_failed on outward_acts (updated_at desc) where state = 'failed';
