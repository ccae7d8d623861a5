-- Questions that a running triage puts to a person, and waits for. One per triage.

create table reviewer_questions (
  id text primary key,
  triage_id text not null unique references triages (id) on delete cascade,
  build_id text not null references builds (id) on delete cascade,
  repository text not null,
  title text not null,
  category text not null,
  question text not null,
  state text not null check (state in ('waiting', 'answered', 'expired')),
  answer text,
  answered_by text,
  answered_at timestamptz,
  opened_at timestamptz not null,
  -- the run goes on without an answer from then on
  expires_at timestamptz not null,
  check ((state = 'answered') = (answer is not null))
);
create index reviewer_questions_open on reviewer_questions (opened_at) where state = 'waiting';

alter table review_events drop constraint review_events_event_check;
alter table review_events add constraint review_events_event_check
  check (event in ('opened', 'claimed', 'released', 'decided', 'asked', 'answered', 'expired'));
