-- Builds are looked up by their address and by their CI's id of the run. Hash indexes hold texts of any length.
create index builds_by_url on builds using hash (url);
create index builds_by_run on builds using hash (external_id);
