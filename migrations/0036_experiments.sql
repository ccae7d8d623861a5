-- What came of running a failing command again, as a job or a developer reported it. The newest one about a cause is part of its answer.

create table experiments (
  id text primary key,
  build_id text not null references builds (id) on delete cascade,
  body jsonb not null,
  reported_by text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index experiments_by_build on experiments (build_id, id);

-- About this answer: every test it names failed for this cause; one that names none is about a cause without tests.
create function is_about(e experiments, a analyses) returns boolean language sql stable as $$
  select case jsonb_array_length(e.body -> 'tests')
    when 0 then not exists (select from failures f where f.build_id = a.build_id and f.fingerprint = a.fingerprint and f.test_name is not null)
    else not exists (
      select from jsonb_array_elements_text(e.body -> 'tests') as t(name) where not exists (
        select from failures f where f.build_id = a.build_id and f.fingerprint = a.fingerprint
          and (t.name = f.test_name or right(t.name, length(f.test_name) + 3) = ' › ' || f.test_name)))
  end
$$;
