-- Texts by meaning. Search is exact: thousands of items, not millions.

create extension if not exists vector;

create table vector_items (
  namespace text not null,
  id text not null,
  -- vectors of different embedders cannot be compared
  embedder text not null,
  text text not null,
  metadata jsonb not null,
  embedding vector(512) not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (namespace, id)
);
