-- With what answers are made and published, since when: what a change did is counted from its row on.

create table setups (
  id bigint generated always as identity primary key,
  release text not null,
  -- "rules", or "llm" with the model's name
  analyst text not null,
  -- from this confidence on, an answer is published without a person
  auto_notify double precision not null,
  at timestamptz not null default clock_timestamp()
);
