-- The latest messages of a rule are read without all that it has ever found.

create index notification_matches_sent on notification_matches (rule_id, matched_at desc) where message_id is not null;
