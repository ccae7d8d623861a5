-- Failures of which nothing was known but that they failed, or by which signal, once shared one fingerprint: unrelated builds were "the same".
-- Each becomes its build's own. What was taught of one is kept to be read, and recalled no more.

create temporary table no_identity on commit drop as
  select left(encode(sha256(convert_to(key, 'UTF8')), 'hex'), 32) as fingerprint from (
    select '' as key union all select repeat(chr(1), 3)
    union all select repeat(chr(1), 3) || '(' || ending || ')' from unnest(array['failed', 'timeout', 'exit 126', 'exit 127', 'SIGHUP', 'SIGINT',
      'SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGKILL', 'SIGSEGV', 'SIGPIPE', 'SIGTERM']) as ending
  ) as keys;

update failures set fingerprint = 'unknown-' || build_id,
  body = jsonb_set(body, '{fingerprint,value}', to_jsonb('unknown-' || build_id), false)
where fingerprint in (select fingerprint from no_identity);
update analyses set fingerprint = 'unknown-' || build_id, body = jsonb_set(body, '{fingerprint}', to_jsonb('unknown-' || build_id))
where fingerprint in (select fingerprint from no_identity);
update triages set fingerprint = 'unknown-' || build_id where fingerprint in (select fingerprint from no_identity);
update reviews set fingerprint = 'unknown-' || build_id where fingerprint in (select fingerprint from no_identity);
update answer_facts set fingerprint = 'unknown-' || build_id where fingerprint in (select fingerprint from no_identity);
update library_entries set fingerprint = 'unknown-' || analysis_id where fingerprint in (select fingerprint from no_identity);
