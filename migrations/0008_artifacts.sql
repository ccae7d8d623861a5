-- Artifacts are kept beside logs and reports.

alter table build_sources drop constraint build_sources_kind_check;
alter table build_sources add constraint build_sources_kind_check check (kind in ('log', 'report', 'artifact'));
