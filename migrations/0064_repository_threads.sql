-- Questions about repositories without a failure. A thread is stored with its first answer.

create table repository_threads (
  id text primary key,
  repository text not null,
  title text not null,
  started_by text not null,
  started_at timestamptz not null,
  last_asked_at timestamptz not null,
  -- lines of what was learned, and of the technology stack
  learned jsonb not null,
  stack jsonb not null
);
create index repository_threads_by_repository on repository_threads (repository, last_asked_at desc);

create table repository_turns (
  thread_id text not null references repository_threads (id) on delete cascade,
  -- 1-based; two questions at once cannot both take a place
  position integer not null check (position >= 1),
  asked_by text not null,
  asked_at timestamptz not null,
  -- question, answer, citations, what was looked up, usage
  body jsonb not null,
  primary key (thread_id, position)
);
