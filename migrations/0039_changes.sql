-- What changed in the last minute, for whoever has a page open: each process reads it again and again, no page does. Losing any of it at any
-- time costs a look only.

create table changes (
  id bigint generated always as identity primary key,
  repository text not null,
  -- null: of no one build, as where a person assigns a cause
  build_id text,
  at timestamptz not null default clock_timestamp()
);
create index changes_by_time on changes (at);

-- Each change takes a few old ones away, so that nobody has to. Their age is that at the statement: by clock_timestamp(), which may change from
-- row to row, the index could not find them.
create function keep_changes() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'builds' then
    insert into changes (repository, build_id) values (new.repository, new.id);
  elsif tg_table_name = 'causes' then
    insert into changes (repository) values (new.repository);
  else
    insert into changes (repository, build_id) select b.repository, b.id from builds b where b.id = new.build_id;
  end if;
  delete from changes where id in (
    select id from changes where at < statement_timestamp() - interval '1 minute' order by at limit 5 for update skip locked
  );
  return null;
end
$$;
create trigger builds_keep_changes after insert or update on builds for each row execute function keep_changes();
create trigger triage_jobs_keep_changes after insert or update of state on triage_jobs for each row execute function keep_changes();
create trigger run_steps_keep_changes after insert on run_steps for each row execute function keep_changes();
create trigger analyses_keep_changes after insert or update on analyses for each row execute function keep_changes();
create trigger reviews_keep_changes after insert or update on reviews for each row execute function keep_changes();
create trigger reviewer_questions_keep_changes after insert or update on reviewer_questions for each row execute function keep_changes();
create trigger causes_keep_changes after insert or update on causes for each row execute function keep_changes();
