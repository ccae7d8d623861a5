-- What is to be forgotten. Rows of a build go in one transaction; what other stores have of it is owed here first, and deleted there later.

-- builds whose texts the archive is to delete
create table log_removals (
  build_id text primary key,
  owed_at timestamptz not null default clock_timestamp()
);
create index log_removals_by_time on log_removals (owed_at);

-- builds that stay, but whose texts are gone or owed to go
create table forgotten_logs (
  build_id text primary key references builds (id) on delete cascade,
  at timestamptz not null default clock_timestamp()
);

-- who looks after something that one process at a time is enough for
create table keepers (
  name text primary key,
  holder text not null,
  held_until timestamptz not null
);

-- a build's rows go fast
create index reviews_by_build on reviews (build_id);
create index reviewer_questions_by_build on reviewer_questions (build_id);

-- The audit trail says for ever who did what and when. What was said of a build may be forgotten once the build is.
create function refuse_change_but_forgetting() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
    and (new.id, new.review_id, new.event, new.actor, new.at) is not distinct from (old.id, old.review_id, old.event, old.actor, old.at)
    and new.details = '{"forgotten": true}'::jsonb
    and not exists (select from reviews r where r.id = old.review_id)
    and not exists (select from reviewer_questions q where q.id = old.review_id)
  then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name;
end
$$;
drop trigger review_events_append_only on review_events;
create trigger review_events_append_only before update or delete on review_events
  for each row execute function refuse_change_but_forgetting();
