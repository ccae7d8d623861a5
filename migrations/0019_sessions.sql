-- Sessions of the console: made by showing a token or by signing in elsewhere, held by a cookie of which only the SHA-256 is kept.

create table sessions (
  digest text primary key,
  -- the token it was made with, by its digest: what the token may do, and whether it still may, is asked each time
  token_digest text,
  -- or whoever signed in elsewhere: { name, roles, repositories }
  principal jsonb,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  check ((token_digest is null) <> (principal is null))
);
create index sessions_by_expiry on sessions (expires_at);

-- What somebody set for the pages: keys, theme, wrapping, time stamps.
create table preferences (
  holder text primary key,
  body jsonb not null,
  updated_at timestamptz not null default clock_timestamp()
);
