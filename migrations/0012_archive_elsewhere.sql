-- Texts of builds may be kept outside this database. Which texts a build has stands here in any case, so that it is known while the other
-- store is away.

alter table build_sources add column place text not null default 'database' check (place in ('database', 'mongodb'));
-- what is to be brought to the other store, where there is one
create index build_sources_here on build_sources (stored_at) where place = 'database';

-- Builds whose texts are still to be deleted there. A text that comes meanwhile is kept here until that is done.
create table archive_removals (
  build_id text primary key,
  owed_at timestamptz not null default clock_timestamp()
);
