-- What a browser began at another host and has yet to return from: a sign-in, a new App, a grant. It is taken once.
create table pending_returns (
  -- the SHA-256 of the cookie that the browser brings back
  digest text primary key,
  body jsonb not null,
  expires_at timestamptz not null
);
create index pending_returns_by_expiry on pending_returns (expires_at);
