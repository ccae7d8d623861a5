-- A text that MongoDB does not accept stays in this database: nothing waits to be moved anymore. Each text names the driver that has it.
alter table build_sources add column driver text not null default 'postgres' check (driver in ('postgres', 'mongodb'));
update build_sources set driver = 'mongodb' where place = 'mongodb';
drop index build_sources_here;
alter table build_sources drop column place;
-- the texts that stayed here are counted for who runs the service
create index build_sources_in_postgres on build_sources (stored_at) where driver = 'postgres';

-- Pending deletions in MongoDB are work of the outbox, like those in the archive.
insert into outbox (topic, key, created_at, due_at) select 'remove-logs:mongodb', build_id, owed_at, owed_at from archive_removals;
drop table archive_removals;
