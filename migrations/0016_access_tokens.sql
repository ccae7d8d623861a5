-- Bearer tokens, of which only the SHA-256 is kept.

create table access_tokens (
  id text primary key,
  name text not null,
  digest text not null unique,
  roles text[] not null check (cardinality(roles) > 0),
  -- 'owner/name' or 'owner/*'; null: all of them
  repositories text[] check (repositories is null or cardinality(repositories) > 0),
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revoked_by text
);
-- a name can be used again once its token is revoked
create unique index access_tokens_by_name on access_tokens (name) where revoked_at is null;
create index access_tokens_by_time on access_tokens (created_at desc, id desc);
