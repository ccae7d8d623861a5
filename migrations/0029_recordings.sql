-- How each run came to its answer: its judgements and tool calls, masked, as gzip members of JSON lines that are appended while it runs.
-- One row a triage. Losing any of it costs a replay, never an answer.

create table recordings (
  triage_id text primary key references triages (id) on delete cascade,
  schema integer not null,
  bytes bytea not null,
  size integer generated always as (octet_length(bytes)) stored,
  parts integer not null default 1,
  -- something was left out because there was too much
  capped boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
-- It comes compressed: trying again costs time only.
alter table recordings alter column bytes set storage external;
