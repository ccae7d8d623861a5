-- The latest graded answers are counted by repository and route from the index alone.
drop index answer_facts_judged;
create index answer_facts_judged on answer_facts (created_at desc)
  include (repository, hundredth, is_right, review_origin, analysis_id, route) where analyst <> 'recall';
