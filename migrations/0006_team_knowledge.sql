-- Runbooks and post-mortems that a team brings along, cut into passages. Masked before they are stored.

create table knowledge_documents (
  id text primary key,
  -- the name under which people know it and bring it again: a path or an address
  source text not null unique,
  title text not null,
  format text not null,
  category text,
  -- of the file, and of what was asked with it: what has the same hash need not be read again
  hash text not null,
  bytes integer not null,
  passages integer not null,
  notes text[] not null,
  imported_by text not null,
  imported_at timestamptz not null
);

create table knowledge_passages (
  document_id text not null references knowledge_documents (id) on delete cascade,
  position integer not null,
  -- where it stands in the document: "page 3", "Disk full › Fix"
  place text not null,
  text text not null,
  -- the text as the words that search compares: names of several words fall apart
  words text not null,
  terms tsvector generated always as (to_tsvector('simple', words)) stored,
  primary key (document_id, position)
);
create index knowledge_passages_by_term on knowledge_passages using gin (terms);
create index knowledge_passages_by_likeness on knowledge_passages using gin (words gin_trgm_ops);

-- A text may be embedded by several embedders, whose vectors have lengths of their own.
do $$
begin
  if to_regclass('vector_items') is not null then
    alter table vector_items alter column embedding type vector;
    alter table vector_items drop constraint vector_items_pkey;
    alter table vector_items add primary key (namespace, id, embedder);
  end if;
end
$$;
