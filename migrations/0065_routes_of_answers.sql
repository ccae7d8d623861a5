-- On what an answer rested, so that answers can be counted by it without reading them.
alter table answer_facts add column route text;
update answer_facts f set route = a.body->'verdict'->>'route' from analyses a where a.id = f.analysis_id;

create or replace function keep_answer_facts() returns trigger language plpgsql as $$
begin
  insert into answer_facts (analysis_id, build_id, repository, pull_request, fingerprint, title, category, confidence, analyst, cost_usd, seconds,
    build_seconds, created_at, owner, file_owners, route)
  select new.id, b.id, b.repository, b.pull_request, new.fingerprint, coalesce(new.body->'answer'->>'title', ''), new.category, new.confidence,
    new.analyst, coalesce((new.body->'usage'->>'costUsd')::float8, 0), coalesce((new.body->>'milliseconds')::float8, 0) / 1000,
    extract(epoch from b.finished_at - b.started_at), new.created_at, new.body->'owner', new.body->'fileOwners', new.body->'verdict'->>'route'
  from builds b where b.id = new.build_id
  on conflict (analysis_id) do nothing;
  update answer_facts set causes = n.causes from (select count(*) as causes from answer_facts where build_id = new.build_id) as n
    where build_id = new.build_id and answer_facts.causes <> n.causes;
  return null;
end
$$;
