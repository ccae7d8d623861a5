-- Whose a cause and the files of a failure are, as its newest answer found it: by CODEOWNERS, else by who changed the faulty lines last.
alter table answer_facts add column owner jsonb, add column file_owners jsonb;
alter table causes add column owner jsonb;

create function owner_keys(owner jsonb) returns text[] language sql immutable as $$
  select array(select lower(ltrim(name, '@')) from jsonb_array_elements_text(owner -> 'names') as names (name))
$$;
-- what an owner is looked for by: in lower case, without the mark of a mention
alter table causes add column owner_keys text[] generated always as (owner_keys(owner)) stored;
create index causes_by_owner on causes using gin (owner_keys);

create or replace function keep_answer_facts() returns trigger language plpgsql as $$
begin
  insert into answer_facts (analysis_id, build_id, repository, pull_request, fingerprint, title, category, confidence, analyst, cost_usd, seconds,
    build_seconds, created_at, owner, file_owners)
  select new.id, b.id, b.repository, b.pull_request, new.fingerprint, coalesce(new.body->'answer'->>'title', ''), new.category, new.confidence,
    new.analyst, coalesce((new.body->'usage'->>'costUsd')::float8, 0), coalesce((new.body->>'milliseconds')::float8, 0) / 1000,
    extract(epoch from b.finished_at - b.started_at), new.created_at, new.body->'owner', new.body->'fileOwners'
  from builds b where b.id = new.build_id
  on conflict (analysis_id) do nothing;
  update answer_facts set causes = n.causes from (select count(*) as causes from answer_facts where build_id = new.build_id) as n
    where build_id = new.build_id and answer_facts.causes <> n.causes;
  return null;
end
$$;

-- An answer that knows no owner leaves the one that is known.
create function keep_owners() returns trigger language plpgsql as $$
begin
  update causes set owner = new.owner where repository = new.repository and fingerprint = new.fingerprint;
  return null;
end
$$;
-- after answer_facts_keep_causes, by its name
create trigger answer_facts_keep_owners after insert on answer_facts for each row when (new.owner is not null) execute function keep_owners();
