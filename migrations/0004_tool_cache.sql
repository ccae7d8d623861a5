-- Answers of tools that hold for a while: what stands in a file at a commit, what the web says of an error. Only masked text. All of it
-- may be deleted at any time.
create table tool_cache (
  -- SHA-256 of the tool, its arguments, the category, the repository and what makes the answer hold
  key text primary key,
  tool text not null,
  repository text not null,
  findings jsonb not null,
  summary text not null,
  -- size of findings and summary
  bytes integer not null,
  stored_at timestamptz not null default clock_timestamp(),
  used_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index tool_cache_by_use on tool_cache (used_at desc) include (bytes);
create index tool_cache_by_end on tool_cache (expires_at);
