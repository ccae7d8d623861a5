-- Answers and builds are counted from narrow indexes that hold what is counted: a period is read in few pages.

-- why a person was asked; null: nobody was
alter table answer_facts add column review_origin text;
update answer_facts f set review_origin = r.origin from reviews r where r.analysis_id = f.analysis_id;

alter table answer_facts
  add column day date generated always as ((created_at at time zone 'UTC')::date) stored,
  -- its Monday
  add column week date generated always as (date_trunc('week', created_at at time zone 'UTC')::date) stored,
  -- of the fingerprint: of a million, two are the same once in thirty million times
  add column cause_key bigint generated always as (hashtextextended(fingerprint, 0)) stored,
  -- of the seconds that the build ran
  add column build_share double precision generated always as (build_seconds / causes) stored,
  -- of the stated confidence; what a float lacks to 0.29 must not make it 28
  add column hundredth smallint generated always as (floor((confidence + 1e-9) * 100)::smallint) stored,
  add column shown_category text generated always as (coalesce(decided_category, category)) stored,
  -- whether the machine's category was right, as a person decided; null where that is unknown
  add column is_right boolean generated always as (case decision
    when 'accept' then true
    when 'correct' then coalesce(decided_category, category) = category
    when 'reject' then case reject_reason when 'right_category_wrong_cause' then true when 'cannot_be_told' then null else false end end) stored,
  -- a rejected answer leaves the cause open, unless only the cause within the category was wrong
  add column is_open boolean generated always as (case
    when decision is null then reviewed
    else decision = 'reject' and reject_reason is distinct from 'right_category_wrong_cause' end) stored;

create or replace function keep_review_facts() returns trigger language plpgsql as $$
begin
  update answer_facts set reviewed = true, review_origin = new.origin where analysis_id = new.analysis_id;
  return null;
end
$$;

drop index answer_facts_in_time;
drop index answer_facts_decided;
drop index answer_facts_by_repository;
-- how far the machine can be trusted is asked for on every item of the queue
create index answer_facts_decided on answer_facts (decided_at desc) include (repository, analyst, category, hundredth, is_right, blind)
  where decision is not null;
create index answer_facts_by_day on answer_facts (day, shown_category, is_open, repository);
create index answer_facts_by_day_and_cause on answer_facts (day, cause_key, build_share, repository);
create index answer_facts_by_cause on answer_facts (cause_key);
create index answer_facts_by_week on answer_facts (week, seconds) include (cost_usd, analyst, repository);
create index answer_facts_judged on answer_facts (created_at desc) include (repository, hundredth, is_right, review_origin) where analyst <> 'recall';
-- all that is counted of a few repositories
create index answer_facts_by_repository on answer_facts (repository, created_at desc) include (analyst, category, hundredth, decision, decided_at,
  is_right, blind, review_origin, day, shown_category, is_open, cause_key, build_share);

-- so are the builds of a period, of all repositories
drop index build_days_by_day;
create index build_days_by_day on build_days (day) include (repository, pipeline, provider, builds, failed);
