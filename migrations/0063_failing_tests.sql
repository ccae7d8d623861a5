-- The tests whose newest run failed, the newest failure first.
create index followed_tests_failing on followed_tests (last_failed_at desc, key) where recent->-1->>'mark' = 'failed';
