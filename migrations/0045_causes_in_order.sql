-- The order in which causes are listed.

create index causes_in_order on causes ((red_pipelines <> '{}') desc, last_at desc, repository, fingerprint) where state <> 'fixed';
