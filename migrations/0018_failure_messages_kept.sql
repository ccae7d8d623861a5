-- A text that one transaction says again while another deletes the last failure that said it must stay: either the deletion waits and sees
-- the new failure, or the text is kept anew once it is gone.

create or replace function keep_failure_messages() returns trigger language plpgsql as $$
begin
  insert into failure_messages (key, message) select message_key, min(left(message, 1000)) from added group by message_key order by message_key
    on conflict (key) do nothing;
  -- nobody deletes from here on what is there; beside each other these locks wait for nobody
  perform from failure_messages where key in (select message_key from added) order by key for key share;
  insert into failure_messages (key, message) select message_key, min(left(message, 1000)) from added group by message_key order by message_key
    on conflict (key) do nothing;
  return null;
end
$$;

create or replace function forget_failure_messages() returns trigger language plpgsql as $$
begin
  perform from failure_messages where key in (select message_key from removed) order by key for update;
  -- a statement of its own, which sees what was stored while the one before waited
  delete from failure_messages m
    where m.key in (select message_key from removed) and not exists (select from failures f where f.message_key = m.key);
  return null;
end
$$;
