-- What the vector index is owed: written with the decision that teaches it, gone when the index has it.

create table vector_debts (
  namespace text not null,
  id text not null,
  -- the text and metadata to be put in; null: the item is to be taken out
  item jsonb,
  -- rises when something else is owed under the id, so that who paid the old debt does not settle the new one
  version integer not null default 1,
  attempts integer not null default 0,
  -- left alone until then, or held until then
  not_before timestamptz not null default clock_timestamp(),
  -- fencing number: rises with each lease
  lease integer not null default 0,
  held boolean not null default false,
  error text,
  owed_at timestamptz not null default clock_timestamp(),
  primary key (namespace, id)
);
create index vector_debts_waiting on vector_debts (not_before);
