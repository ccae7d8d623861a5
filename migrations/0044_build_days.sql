-- Builds that passed or failed, counted by pipeline and the UTC day on which they came: the health of all pipelines is read from few rows.

create table build_days (
  provider text not null,
  repository text not null,
  pipeline text not null,
  day date not null,
  builds integer not null,
  failed integer not null,
  primary key (repository, pipeline, provider, day) include (builds, failed)
);
create index build_days_by_day on build_days (day);
-- for how long a branch was red, and how long builds take, is read without the rows themselves
create index builds_in_time on builds (repository, pipeline, branch, received_at) include (provider, status, finished_at, id)
  where status in ('passed', 'failed');
create index builds_timed on builds (repository, pipeline, received_at desc) include (provider, started_at, finished_at)
  where status in ('passed', 'failed');

-- In one order, so that no two who delete many builds wait for each other in a circle. No pipeline is named here after its last build.
create function add_build_days(changed builds[], change integer) returns void language sql as $$
  insert into build_days as d (provider, repository, pipeline, day, builds, failed)
    select provider, repository, pipeline, (received_at at time zone 'UTC')::date, change * count(*), change * count(*) filter (where status = 'failed')
    from unnest(changed) where status in ('passed', 'failed') group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (repository, pipeline, provider, day) do update set builds = d.builds + excluded.builds, failed = d.failed + excluded.failed;
  delete from build_days d using unnest(changed) as b
    where change < 0 and d.builds = 0 and d.repository = b.repository and d.pipeline = b.pipeline and d.provider = b.provider
      and d.day = (b.received_at at time zone 'UTC')::date;
$$;

create function keep_build_days() returns trigger language plpgsql as $$
begin
  perform add_build_days(array[new], 1);
  if tg_op = 'UPDATE' then perform add_build_days(array[old], -1); end if;
  return null;
end
$$;
create trigger builds_keep_days after insert on builds for each row execute function keep_build_days();
create trigger builds_change_days after update on builds for each row
  when ((old.provider, old.repository, old.pipeline, old.status, old.received_at) is distinct from (new.provider, new.repository, new.pipeline, new.status, new.received_at))
  execute function keep_build_days();

create function forget_build_days() returns trigger language plpgsql as $$
begin
  perform add_build_days(array(select r::builds from removed r), -1);
  return null;
end
$$;
create trigger builds_forget_days after delete on builds referencing old table as removed for each statement execute function forget_build_days();

-- what there is already
insert into build_days
  select provider, repository, pipeline, (received_at at time zone 'UTC')::date, count(*), count(*) filter (where status = 'failed')
  from builds where status in ('passed', 'failed') group by 1, 2, 3, 4;
