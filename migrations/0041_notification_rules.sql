-- Whom to tell of which failures, where and when: rules that people write, and what each of them has found and has still to say.

create table notification_rules (
  id text primary key,
  name text not null,
  -- in the words of the search
  query text not null,
  -- what the query names, as owner/name or owner/*; null: every repository
  repository text,
  channel text not null,
  destination text not null,
  by_owner boolean not null,
  mention boolean not null,
  every_minutes integer not null,
  -- hours of the day in the rule's time zone
  digest_hour integer,
  quiet_from integer,
  quiet_to integer,
  time_zone text not null,
  enabled boolean not null,
  version integer not null default 1,
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp()
);

-- Who changed which rule, or whose destinations, and what it was then. It outlives the rule.
create table notification_events (
  id bigint generated always as identity primary key,
  -- of a rule, or null: of an owner
  rule_id text,
  at timestamptz not null default clock_timestamp(),
  by text not null,
  what text not null,
  detail jsonb not null
);
create index notification_events_by_rule on notification_events (rule_id, id desc);

-- Where the failures of an owner go, and by which id a channel mentions it: ids are written down by people, never read from logs.
create table notification_owners (
  -- as `ownerKey` makes it
  key text primary key,
  owner text not null,
  slack text,
  slack_mention text,
  teams text,
  teams_mention text,
  email text
);

-- What a rule has found; with a message once it is part of one.
create table notification_matches (
  rule_id text not null references notification_rules (id) on delete cascade,
  -- answer:<analysis>, or event:<cause event>
  occasion text not null,
  -- slack:C0123456789
  target text not null,
  analysis_id text not null references analyses (id) on delete cascade,
  -- what became of the cause; null: it was answered
  state text,
  matched_at timestamptz not null default clock_timestamp(),
  message_id text,
  primary key (rule_id, occasion, target)
);
create index notification_matches_open on notification_matches (rule_id, target, matched_at) where message_id is null;
create index notification_matches_by_message on notification_matches (message_id) where message_id is not null;
create index notification_matches_by_analysis on notification_matches (analysis_id);

-- In the transaction of what happened, so that no occasion is lost; costs next to nothing where there are no rules.
create function ask_rules_about_answer() returns trigger language plpgsql as $$
begin
  if exists (select from notification_rules where enabled) then
    insert into outbox (topic, key, build_id, payload)
      values ('match-rules', 'answer:' || new.analysis_id, new.build_id, jsonb_build_object('analysisId', new.analysis_id))
      on conflict (topic, key) do nothing;
  end if;
  return null;
end
$$;
create trigger answer_facts_ask_rules after insert on answer_facts for each row execute function ask_rules_about_answer();

create function ask_rules_about_cause() returns trigger language plpgsql as $$
begin
  if exists (select from notification_rules where enabled) then
    insert into outbox (topic, key, payload) values ('match-rules', 'event:' || new.id, jsonb_build_object('eventId', new.id))
      on conflict (topic, key) do nothing;
  end if;
  return null;
end
$$;
create trigger cause_events_ask_rules after insert on cause_events for each row
  when (new.what in ('acknowledged', 'assigned', 'fixed', 'regressed')) execute function ask_rules_about_cause();
