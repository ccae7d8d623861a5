-- Follow-up questions about analyses. A thread is stored with its first answer, and goes with the analysis it is about.

create table conversations (
  id text primary key,
  analysis_id text not null references analyses (id) on delete cascade,
  build_id text not null references builds (id) on delete cascade,
  title text not null,
  started_by text not null,
  started_at timestamptz not null,
  last_asked_at timestamptz not null
);
create index conversations_by_analysis on conversations (analysis_id, last_asked_at desc);
create index conversations_by_build on conversations (build_id, last_asked_at desc);
create index conversations_by_time on conversations (last_asked_at desc, id desc);

create table conversation_turns (
  conversation_id text not null references conversations (id) on delete cascade,
  -- 1-based; two questions at once cannot both take a place
  position integer not null check (position >= 1),
  asked_by text not null,
  asked_at timestamptz not null,
  -- question, answer, citations, what was looked up, usage
  body jsonb not null,
  primary key (conversation_id, position)
);
