-- What is asked often takes as long with a hundred thousand failures as with a hundred.

-- the review queue, oldest first: the few that are open, and all of one state, of one repository, or at all
create index reviews_open on reviews (opened_at, id) where state in ('waiting', 'claimed');
drop index reviews_by_state;
create index reviews_by_state on reviews (state, opened_at, id);
create index reviews_by_time on reviews (opened_at, id);
create index reviews_by_repository on reviews (repository, opened_at, id);
