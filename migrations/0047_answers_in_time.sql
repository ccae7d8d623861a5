-- What answers cost, what they were and what caused them is counted over a period without the rows themselves.

create index answer_facts_in_time on answer_facts (created_at desc) include (repository, analyst, category, decided_category, decision,
  reject_reason, reviewed, confidence, fingerprint, build_seconds, causes, cost_usd, seconds);
drop index answer_facts_by_time;
