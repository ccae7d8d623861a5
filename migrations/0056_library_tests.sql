-- The test whose failure a person decided, by the name it has in every build: a bare assertion is recognized by it.

alter table library_entries add column test text;
