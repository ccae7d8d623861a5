-- The host that a failure could not reach: where many repositories meet the same one within minutes, the incident is elsewhere.

create table refused_hosts (
  build_id text not null references builds (id) on delete cascade,
  fingerprint text not null,
  host text not null,
  at timestamptz not null,
  primary key (build_id, fingerprint)
);
create index refused_hosts_by_host on refused_hosts (host, at);
