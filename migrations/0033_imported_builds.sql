-- Builds that were read from a CI's past, not sent by it: nobody is told of them, and they wait behind those that were.
alter table builds add column imported_at timestamptz;
