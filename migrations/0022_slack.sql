-- Buttons pressed in Slack: each once. A signed request that is sent again within its five minutes is known by its row.

create table slack_presses (
  -- Slack's id of the press
  id text primary key,
  pressed_at timestamptz not null default clock_timestamp()
);
create index slack_presses_by_time on slack_presses (pressed_at);
