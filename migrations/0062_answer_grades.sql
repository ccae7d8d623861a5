-- Answers graded by what happened next: the change, or the further run, that made their failure go away.

create table answer_grades (
  analysis_id text primary key references analyses (id) on delete cascade,
  build_id text not null references builds (id) on delete cascade,
  repository text not null,
  fingerprint text not null,
  kind text not null,
  -- the grounds of the answer; null if it has none
  route text,
  failed_at timestamptz not null,
  -- how it went away
  mend text not null,
  -- what mended it; empty if that is doubtful, or if nothing was changed
  mended_files text[] not null default '{}',
  -- right, wrong or doubtful; null: the answer says nothing of it
  category_grade text,
  suspect_grade text,
  transient_grade text,
  excuse_grade text,
  advice_grade text,
  body jsonb not null,
  graded_at timestamptz not null default clock_timestamp()
);
create index answer_grades_by_build on answer_grades (build_id);
create index answer_grades_by_time on answer_grades (graded_at desc);
-- what mended failures like one, and whether it was answered rightly
create index answer_grades_by_fingerprint on answer_grades (repository, fingerprint, failed_at desc);
create index answer_grades_by_kind on answer_grades (repository, kind, failed_at desc) where mended_files <> '{}';
