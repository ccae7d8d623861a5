-- Finished steps of triages that are still running, for whoever watches one: an analysis has its own once it is concluded. Losing
-- any of it at any time costs a look only.

create table run_steps (
  build_id text not null references builds (id) on delete cascade,
  position integer generated always as identity,
  step jsonb not null,
  stored_at timestamptz not null default clock_timestamp(),
  primary key (build_id, position)
);
create index run_steps_by_time on run_steps (stored_at);
