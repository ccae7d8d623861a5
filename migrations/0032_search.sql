-- What search looks at: one narrow row a failure with all that it is narrowed by, and each text once, so that words are looked for among
-- the few and not the many. Kept in step by triggers.

create table failure_texts (
  key text primary key,
  -- message, test, suite and file, one below the other
  text text not null
);
create index failure_texts_by_words on failure_texts using gin (text gin_trgm_ops);
create index answer_facts_by_words on answer_facts using gin (title gin_trgm_ops);
create index answer_facts_by_build_and_cause on answer_facts (build_id, fingerprint);
drop index answer_facts_by_build;

create table failure_facts (
  failure_id text primary key references failures (id) on delete cascade,
  build_id text not null,
  repository text not null,
  number text not null,
  branch text,
  commit text,
  author text,
  fingerprint text not null,
  test_name text,
  text_key text not null,
  seen_at timestamptz not null,
  -- a person's word before the machine's; null while nobody judged
  category text,
  -- a person was asked
  reviewed boolean not null default false,
  decided boolean not null default false
);
create index failure_facts_by_time on failure_facts (seen_at desc, failure_id desc);
create index failure_facts_by_repository on failure_facts (repository, seen_at desc);
create index failure_facts_by_category on failure_facts (category, seen_at desc);
create index failure_facts_by_fingerprint on failure_facts (fingerprint, seen_at desc);
create index failure_facts_by_test on failure_facts (test_name, seen_at desc) where test_name is not null;
create index failure_facts_by_text on failure_facts (text_key, seen_at desc);
create index failure_facts_by_commit on failure_facts (commit text_pattern_ops) where commit is not null;
create index failure_facts_by_build on failure_facts (build_id, fingerprint);
create index failure_facts_waiting on failure_facts (seen_at desc, failure_id desc) where reviewed and not decided;

-- A text longer than this is no message any more.
create function failure_text(message text, body jsonb) returns text language sql immutable as $$
  select left(message, 1000) || coalesce(E'\n' || left(body->'test'->>'name', 500), '') || coalesce(E'\n' || left(body->'test'->>'suite', 300), '')
    || coalesce(E'\n' || left(body->'test'->>'file', 300), '')
$$;

-- In one order, and locked until the end, for the reasons of keep_failure_messages.
create function keep_failure_facts() returns trigger language plpgsql as $$
begin
  insert into failure_texts (key, text) select distinct md5(t.text), t.text from added cross join lateral failure_text(message, body) as t (text) order by 1
    on conflict (key) do nothing;
  perform from failure_texts where key in (select md5(failure_text(message, body)) from added) order by key for key share;
  insert into failure_texts (key, text) select distinct md5(t.text), t.text from added cross join lateral failure_text(message, body) as t (text) order by 1
    on conflict (key) do nothing;
  insert into failure_facts (failure_id, build_id, repository, number, branch, commit, author, fingerprint, test_name, text_key, seen_at, category,
    reviewed, decided)
  select f.id, f.build_id, f.repository, b.number, b.branch, b.commit, b.author, f.fingerprint, f.test_name, md5(failure_text(f.message, f.body)), f.seen_at,
    coalesce(a.decided_category, case when a.analyst <> 'none' then a.category end), coalesce(a.reviewed, false), coalesce(a.decision is not null, false)
  from added f join builds b on b.id = f.build_id
    left join answer_facts a on a.build_id = f.build_id and a.fingerprint = f.fingerprint;
  return null;
end
$$;
create trigger failures_keep_facts after insert on failures
  referencing new table as added for each statement execute function keep_failure_facts();

create function forget_failure_texts() returns trigger language plpgsql as $$
begin
  perform from failure_texts where key in (select text_key from removed) order by key for update;
  delete from failure_texts t
    where t.key in (select text_key from removed) and not exists (select from failure_facts f where f.text_key = t.key);
  return null;
end
$$;
create trigger failure_facts_forget_texts after delete on failure_facts
  referencing old table as removed for each statement execute function forget_failure_texts();

create function keep_answered_failures() returns trigger language plpgsql as $$
begin
  update failure_facts set category = coalesce(new.decided_category, case when new.analyst <> 'none' then new.category end), reviewed = new.reviewed,
    decided = new.decision is not null
  where build_id = new.build_id and fingerprint = new.fingerprint;
  return null;
end
$$;
create trigger answer_facts_keep_failures after insert on answer_facts for each row execute function keep_answered_failures();
create trigger answer_facts_change_failures after update on answer_facts for each row
  when (old.decision is distinct from new.decision or old.decided_category is distinct from new.decided_category or old.reviewed <> new.reviewed
    or old.fingerprint <> new.fingerprint)
  execute function keep_answered_failures();

create function keep_failed_builds() returns trigger language plpgsql as $$
begin
  update failure_facts set branch = new.branch, commit = new.commit, author = new.author where build_id = new.id;
  return null;
end
$$;
create trigger builds_keep_failures after update on builds for each row
  when (old.branch is distinct from new.branch or old.commit is distinct from new.commit or old.author is distinct from new.author)
  execute function keep_failed_builds();

-- what there is already
insert into failure_texts (key, text)
  select md5(t.text), min(t.text) from failures cross join lateral failure_text(message, body) as t (text) group by 1;
insert into failure_facts (failure_id, build_id, repository, number, branch, commit, author, fingerprint, test_name, text_key, seen_at, category, reviewed,
  decided)
select f.id, f.build_id, f.repository, b.number, b.branch, b.commit, b.author, f.fingerprint, f.test_name, md5(failure_text(f.message, f.body)), f.seen_at,
  coalesce(a.decided_category, case when a.analyst <> 'none' then a.category end), coalesce(a.reviewed, false), coalesce(a.decision is not null, false)
from failures f join builds b on b.id = f.build_id
  left join answer_facts a on a.build_id = f.build_id and a.fingerprint = f.fingerprint;

-- words are looked for in failure_texts
drop index failures_by_message;
