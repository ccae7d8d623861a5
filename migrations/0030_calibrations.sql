-- What stated confidence has turned out to mean. Calibrations are never changed; which one counts is told by the newest act of its analyst.

create table calibrations (
  -- rises; part of the body too
  version integer primary key,
  -- whose answers it is for
  analyst text not null,
  body jsonb not null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp()
);

-- who put which one in force, and when
create table calibration_acts (
  id bigint generated always as identity primary key,
  analyst text not null,
  -- null: none from then on
  version integer references calibrations (version),
  -- what it replaced; null: there was none
  replaced integer references calibrations (version),
  actor text not null,
  at timestamptz not null default clock_timestamp()
);
create index calibration_acts_by_analyst on calibration_acts (analyst, id desc);
create trigger calibrations_stay before update or delete on calibrations for each row execute function refuse_change();
create trigger calibration_acts_stay before update or delete on calibration_acts for each row execute function refuse_change();
