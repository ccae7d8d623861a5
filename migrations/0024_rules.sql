-- What reviewers wrote down as a pattern: a failure that says this has that cause. A changed rule is a new version; old ones stay.

create table rules (
  id text not null,
  version integer not null check (version >= 1),
  -- null: every repository
  repository text,
  pattern text not null,
  -- an excerpt that it must match, by whoever wrote it
  sample text not null,
  category text not null,
  kind text not null,
  title text not null,
  root_cause text not null,
  fix_recommendation text not null,
  author text not null,
  created_at timestamptz not null,
  times_used integer not null default 0,
  last_used_at timestamptz,
  withdrawn_at timestamptz,
  withdrawn_by text,
  withdrawn_reason text,
  primary key (id, version)
);
create unique index rules_one_active on rules (id) where withdrawn_at is null;
create index rules_active on rules (repository, created_at desc) where withdrawn_at is null;
create index rules_by_time on rules (created_at desc, id desc, version desc);
