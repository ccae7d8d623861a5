-- Three roles for Faultline in a PostgreSQL database: run this in that database as a superuser, before `faultline migrate` and once more
-- after it. It may be run again at any time. Give each role a password of its own afterwards (\password faultline_app).
--
--   faultline_owner   owns the tables; FAULTLINE_DATABASE_OWNER_URL, used by `faultline migrate` only
--   faultline_app     reads and writes rows; FAULTLINE_DATABASE_URL
--   faultline_reader  reads what tools ask of history, and no more; FAULTLINE_DATABASE_READER_URL

create extension if not exists pg_trgm;
create extension if not exists vector;

do $$
declare
  name text;
begin
  foreach name in array array['faultline_owner', 'faultline_app', 'faultline_reader'] loop
    if not exists (select from pg_roles where rolname = name) then
      execute format('create role %I login', name);
    end if;
    execute format('grant connect on database %I to %I', current_database(), name);
  end loop;
  -- the graph's checkpoints keep a schema of their own
  execute format('grant create on database %I to faultline_app', current_database());
  -- a schema without checksums is once compared with one that is rolled back
  execute format('grant create on database %I to faultline_owner', current_database());
end
$$;

revoke create on schema public from public;
grant usage, create on schema public to faultline_owner;
grant usage on schema public to faultline_app, faultline_reader;
alter default privileges for role faultline_owner in schema public grant select, insert, update, delete on tables to faultline_app;
alter default privileges for role faultline_owner in schema public grant usage, select on sequences to faultline_app;
-- so that a migration may still change the one table that is the app's
grant faultline_app to faultline_owner;

do $$
declare
  name text;
begin
  foreach name in array array['builds', 'test_results', 'failures', 'failure_messages', 'triages', 'analyses', 'decisions'] loop
    if to_regclass(name) is not null then
      execute format('grant select on %I to faultline_reader', name);
    end if;
  end loop;
  -- the app makes an index for a namespace that has grown large
  if to_regclass('vector_items') is not null then
    grant create on schema public to faultline_app;
    alter table vector_items owner to faultline_app;
  end if;
end
$$;
