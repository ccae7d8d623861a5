-- Decisions that can be taken back, lessons that can be withdrawn or contradicted by green builds, and the order of the queue.

alter table reviews
  add column fingerprint text,
  add column kind text,
  add column pull_request integer,
  -- what a wrong answer would cost whom, without age; the queue's order multiplies it by how long the item has waited
  add column risk double precision not null default 1 check (risk in (1, 2, 3, 4, 6, 12)),
  -- since when whoever holds it holds it without a break
  add column claimed_at timestamptz,
  -- why it is here: the machine was unsure, somebody asked for a look at a published answer, or it was drawn as a sample of those
  add column origin text not null default 'unsure' check (origin in ('unsure', 'asked', 'audit'));
update reviews r set fingerprint = a.fingerprint, kind = a.kind, pull_request = b.pull_request,
  risk = (case when b.pull_request is null then 1 else 3 end) * (case when r.category = 'INFRA_ERROR' or a.kind = 'flaky_timing' then 2 else 1 end)
from analyses a, builds b where a.id = r.analysis_id and b.id = r.build_id;
alter table reviews alter column fingerprint set not null, alter column kind set not null;

-- Whoever opens a review need not repeat what its analysis says, a process of the release before included.
create function fill_review() returns trigger language plpgsql as $$
begin
  if new.fingerprint is null then
    select a.fingerprint, a.kind, b.pull_request into new.fingerprint, new.kind, new.pull_request
    from analyses a join builds b on b.id = a.build_id where a.id = new.analysis_id;
  end if;
  return new;
end
$$;
create trigger reviews_fill before insert on reviews for each row execute function fill_review();

create index reviews_open_by_risk on reviews (risk, opened_at, id) where state <> 'decided';
create index reviews_open_by_age on reviews (opened_at, id) where state <> 'decided';
create index reviews_open_by_confidence on reviews (confidence, opened_at, id) where state <> 'decided';
create index reviews_open_by_fingerprint on reviews (repository, fingerprint, opened_at, id) where state <> 'decided';
create index reviews_held on reviews (claimed_by) where state = 'claimed';

-- `decisions` holds those that stand. What was taken back moves here, so that nothing that reads decisions takes it for one.
create table decisions_undone (
  id text primary key,
  review_id text not null references reviews (id) on delete cascade,
  analysis_id text not null references analyses (id) on delete cascade,
  type text not null,
  category text,
  reviewer text not null,
  body jsonb not null,
  decided_at timestamptz not null,
  undone_by text not null,
  undone_at timestamptz not null default clock_timestamp()
);
create index decisions_undone_by_review on decisions_undone (review_id, undone_at);
create index decisions_undone_by_analysis on decisions_undone (analysis_id);

create index decisions_by_reviewer on decisions (reviewer, decided_at desc, id desc);
create index decisions_by_time on decisions (decided_at);
create index decisions_by_batch on decisions ((body ->> 'batchId')) where body ? 'batchId';

alter table review_events drop constraint review_events_event_check;
alter table review_events add constraint review_events_event_check
  check (event in ('opened', 'claimed', 'released', 'decided', 'asked', 'answered', 'expired', 'undone', 'skipped', 'guessed'));

-- What a reviewer said of an item before the machine's verdict was shown
create table review_guesses (
  review_id text not null references reviews (id) on delete cascade,
  reviewer text not null,
  category text not null,
  guessed_at timestamptz not null default clock_timestamp(),
  primary key (review_id, reviewer)
);

-- Items that a reviewer put aside: not offered to the same person again for a while
create table review_skips (
  review_id text not null references reviews (id) on delete cascade,
  reviewer text not null,
  skipped_at timestamptz not null default clock_timestamp(),
  primary key (review_id, reviewer)
);

alter table library_entries
  -- the decision that it came from; null where it is older than this column
  add column decision_id text,
  -- the lines of the log that say what it is about: what green builds are searched for
  add column telling text[] not null default '{}',
  add column withdrawn_at timestamptz,
  add column withdrawn_by text,
  add column withdrawn_reason text,
  -- green builds in which all telling lines stand too: how many, since when, the newest one
  add column green_builds integer not null default 0,
  add column green_since timestamptz,
  add column green_last text,
  -- a person has seen that and lets the entry answer all the same
  add column stays_by text,
  add column stays_at timestamptz;
update library_entries set telling = array[split_part(message, E'\n', 1)] where message <> '';
create index library_entries_by_decision on library_entries (decision_id) where decision_id is not null;
create index library_entries_by_repository on library_entries (repository, confirmed_at desc) where withdrawn_at is null;
