-- Texts outside that are kept in step with what is known: one in one place (a comment of a pull request, a check of a build). The row says what is
-- wanted there and what was shown last; whatever changes what should be said raises `wanted` in its own transaction.

create table notices (
  -- the place: one notice each
  key text primary key,
  channel text not null,
  repository text not null,
  -- what the text is about: a build, a pull request, a branch
  about jsonb not null,
  -- the build that changed it last; the text outside outlives its row, and is found again by its marker
  build_id text not null references builds (id) on delete cascade,
  -- rises with each change of what should be said
  wanted integer not null default 1,
  -- how much of `wanted` is outside, or was given up
  shown integer not null default 0,
  -- a change is not shown before: what is taken back meanwhile is never seen
  due_at timestamptz not null,
  -- while held: held until then; else left alone until then
  free_at timestamptz not null default clock_timestamp(),
  held boolean not null default false,
  -- fencing number: rises with each lease
  lease integer not null default 0,
  -- since something was shown last: tries that did not end, and tries that failed with something that may pass
  attempts integer not null default 0,
  retries integer not null default 0,
  -- what the other side calls it; null: nothing is known to stand there
  reference text,
  -- of what was shown last
  hash text,
  error text,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp()
);
create index notices_due on notices (channel, due_at) where wanted > shown;
create index notices_by_build on notices (build_id);
create index notices_failed on notices (changed_at desc) where error is not null;
-- builds of one pull request
create index builds_by_pull_request on builds (repository, pull_request, received_at desc) where pull_request is not null;
-- how often people found answers right lately
create index decisions_lately on decisions (decided_at desc);
