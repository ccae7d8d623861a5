-- A webhook's delivery lands in one statement, before its sender is answered; a relay makes a build of it a moment later.

alter table deliveries
  -- landed: durable, and owed to the relay; recorded: its build is kept; refused: set aside after too many tries
  add column state text not null default 'recorded' check (state in ('landed', 'recorded', 'refused')),
  -- what the event says, in our own shape; forgotten once it is recorded
  add column intake jsonb,
  -- tries of the relay that failed with something that does not pass by itself
  add column attempts integer not null default 0,
  -- the relay leaves it alone until then
  add column not_before timestamptz,
  add column error text;

create index deliveries_landed on deliveries (received_at) where state = 'landed';
create index deliveries_refused on deliveries (received_at) where state = 'refused';

-- only recorded ones have a build
drop index deliveries_by_build;
create index deliveries_by_build on deliveries (build_id) where build_id is not null;
