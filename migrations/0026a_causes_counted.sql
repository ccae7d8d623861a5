-- An older form of 0026_insights did not count the answers of a build, which 0047_answers_in_time needs.

do $$
begin
  if not exists (select from pg_attribute where attrelid = 'answer_facts'::regclass and attname = 'causes' and not attisdropped) then
    alter table answer_facts add column causes integer not null default 1;
    update answer_facts f set causes = n.causes
    from (select build_id, count(*) as causes from answer_facts group by build_id) as n where n.build_id = f.build_id and n.causes > 1;
  end if;
end
$$;
