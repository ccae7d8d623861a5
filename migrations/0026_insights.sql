-- What dashboards count: one narrow row an answer, kept in step with its analysis, its review and its decision by triggers, so that no
-- dashboard reads the answers themselves.

create table answer_facts (
  analysis_id text primary key references analyses (id) on delete cascade,
  build_id text not null,
  repository text not null,
  pull_request integer,
  fingerprint text not null,
  title text not null,
  -- the machine's
  category text not null,
  confidence double precision not null,
  analyst text not null,
  cost_usd double precision not null,
  seconds double precision not null,
  -- how long the build ran; null while that is not known
  build_seconds double precision,
  -- answers of the same build: its time is shared among them
  causes integer not null default 1,
  created_at timestamptz not null,
  -- a person was asked
  reviewed boolean not null default false,
  -- the decision that stands; all null while there is none
  decision text,
  decided_category text,
  reject_reason text,
  reviewer text,
  decided_at timestamptz,
  -- what the reviewer took it for before the verdict was shown
  blind text,
  seconds_open double precision
);
create index answer_facts_by_time on answer_facts (created_at desc);
create index answer_facts_by_repository on answer_facts (repository, created_at desc);
create index answer_facts_by_fingerprint on answer_facts (fingerprint, created_at desc);
create index answer_facts_by_build on answer_facts (build_id);
-- how far the machine can be trusted is asked for on every item of the queue: answered without the rows themselves
create index answer_facts_decided on answer_facts (decided_at desc)
  include (repository, analyst, category, confidence, decision, decided_category, reject_reason, blind) where decision is not null;

create function keep_answer_facts() returns trigger language plpgsql as $$
begin
  insert into answer_facts (analysis_id, build_id, repository, pull_request, fingerprint, title, category, confidence, analyst, cost_usd, seconds,
    build_seconds, created_at)
  select new.id, b.id, b.repository, b.pull_request, new.fingerprint, coalesce(new.body->'answer'->>'title', ''), new.category, new.confidence,
    new.analyst, coalesce((new.body->'usage'->>'costUsd')::float8, 0), coalesce((new.body->>'milliseconds')::float8, 0) / 1000,
    extract(epoch from b.finished_at - b.started_at), new.created_at
  from builds b where b.id = new.build_id
  on conflict (analysis_id) do nothing;
  update answer_facts set causes = n.causes from (select count(*) as causes from answer_facts where build_id = new.build_id) as n
    where build_id = new.build_id and answer_facts.causes <> n.causes;
  return null;
end
$$;
create trigger analyses_keep_facts after insert on analyses for each row execute function keep_answer_facts();

create function keep_build_seconds() returns trigger language plpgsql as $$
begin
  update answer_facts set build_seconds = extract(epoch from new.finished_at - new.started_at) where build_id = new.id;
  return null;
end
$$;
create trigger builds_keep_seconds after update on builds for each row
  when (old.finished_at is distinct from new.finished_at or old.started_at is distinct from new.started_at)
  execute function keep_build_seconds();

create function keep_review_facts() returns trigger language plpgsql as $$
begin
  update answer_facts set reviewed = true where analysis_id = new.analysis_id;
  return null;
end
$$;
create trigger reviews_keep_facts after insert on reviews for each row execute function keep_review_facts();

create function keep_decision_facts() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    update answer_facts set decision = null, decided_category = null, reject_reason = null, reviewer = null, decided_at = null, blind = null,
      seconds_open = null
    where analysis_id = old.analysis_id;
  else
    update answer_facts set decision = new.type, decided_category = new.category, reject_reason = new.body->>'reasonCode', reviewer = new.reviewer,
      decided_at = new.decided_at, blind = new.body->>'blind', seconds_open = (new.body->>'secondsOpen')::float8
    where analysis_id = new.analysis_id;
  end if;
  return null;
end
$$;
create trigger decisions_keep_facts after insert or delete on decisions for each row execute function keep_decision_facts();

-- what there is already
insert into answer_facts (analysis_id, build_id, repository, pull_request, fingerprint, title, category, confidence, analyst, cost_usd, seconds,
  build_seconds, causes, created_at, reviewed, decision, decided_category, reject_reason, reviewer, decided_at, blind, seconds_open)
select a.id, b.id, b.repository, b.pull_request, a.fingerprint, coalesce(a.body->'answer'->>'title', ''), a.category, a.confidence, a.analyst,
  coalesce((a.body->'usage'->>'costUsd')::float8, 0), coalesce((a.body->>'milliseconds')::float8, 0) / 1000,
  extract(epoch from b.finished_at - b.started_at), count(*) over (partition by b.id), a.created_at, r.id is not null, d.type, d.category, d.body->>'reasonCode', d.reviewer,
  d.decided_at, d.body->>'blind', (d.body->>'secondsOpen')::float8
from analyses a join builds b on b.id = a.build_id left join reviews r on r.analysis_id = a.id left join decisions d on d.analysis_id = a.id;
