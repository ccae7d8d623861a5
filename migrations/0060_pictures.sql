-- Pictures of failed tests from a build's artifacts, as we drew them anew.

create table pictures (
  build_id text not null references builds (id) on delete cascade,
  name text not null,
  width integer not null,
  height integer not null,
  png bytea not null,
  primary key (build_id, name)
);
