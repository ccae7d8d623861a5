-- What failures say, each text once: failures come again and again, and a text that resembles another is found among the few, not the many.

alter table failures add column message_key text generated always as (md5(left(message, 1000))) stored;
create index failures_by_message_key on failures (message_key, seen_at desc, id desc);

create table failure_messages (
  key text primary key,
  -- its first thousand characters: as much as is ever asked for
  message text not null
);
insert into failure_messages (key, message) select message_key, min(left(message, 1000)) from failures group by message_key;
-- nearest first; with short signatures every page of the index would have to be looked at
create index failure_messages_by_likeness on failure_messages using gist (message gist_trgm_ops (siglen = 1024));

-- In one order, so that two that add the same texts wait for each other and do not meet crosswise.
create function keep_failure_messages() returns trigger language plpgsql as $$
begin
  insert into failure_messages (key, message) select message_key, min(left(message, 1000)) from added group by message_key order by message_key
    on conflict (key) do nothing;
  return null;
end
$$;
create trigger failures_keep_messages after insert on failures
  referencing new table as added for each statement execute function keep_failure_messages();

-- What no failure says any more is forgotten with the last that said it.
create function forget_failure_messages() returns trigger language plpgsql as $$
begin
  delete from failure_messages m
    where m.key in (select message_key from removed) and not exists (select from failures f where f.message_key = m.key);
  return null;
end
$$;
create trigger failures_forget_messages after delete on failures
  referencing old table as removed for each statement execute function forget_failure_messages();
