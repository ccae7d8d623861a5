-- Builds whose logs showed a webhook secret or token of this installation before they were masked, by the secret's SHA-256 in hexadecimal.
create table shown_secrets (
  build_id text not null references builds (id) on delete cascade,
  digest text not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (build_id, digest)
);
create index shown_secrets_by_digest on shown_secrets (digest, seen_at desc);
