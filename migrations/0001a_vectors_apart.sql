-- An older form of 0001_foundation made the table that 0002_vectors makes. Its rows go back in 0049_older_forms.

do $$
begin
  if to_regclass('vector_items') is not null and not exists (select from schema_migrations where name = '0002_vectors') then
    alter table vector_items rename to vector_items_before;
    alter table vector_items_before rename constraint vector_items_pkey to vector_items_before_pkey;
  end if;
end
$$;
