-- What is said of a commit asks for its builds.

create index builds_by_commit on builds (repository, commit) where commit is not null;
