import type pg from 'pg';
import { z } from 'zod';

const SchemaObject = z.object({
  kind: z.enum(['column', 'function', 'constraint', 'index', 'trigger']),
  /** The table of the object; null for a function. */
  table: z.string().nullable(),
  name: z.string(),
  definition: z.string(),
  /**
   * The statement that creates the object without losing a row. A column that exists in another form is left
   * as it is.
   */
  sql: z.string(),
});
export type SchemaObject = z.infer<typeof SchemaObject>;

/**
 * Reads the objects of the first schema in the search path, without that schema's name, so that two schemas
 * of one server can be compared. The server writes the definitions; two releases may write the same one in
 * different ways. The objects are in an order in which they can be created.
 */
export async function readSchemaObjects(client: pg.ClientBase): Promise<readonly SchemaObject[]> {
  const { rows } = await client.query<{ schema: string }>('select quote_ident(current_schema()) as schema');
  const prefix = `${rows[0]?.schema}.`;
  const objects = z.array(SchemaObject).parse((await client.query(OBJECTS)).rows);
  return objects.map((each) => ({
    ...each,
    definition: each.definition.replaceAll(prefix, ''),
    sql: each.sql.replaceAll(prefix, ''),
  }));
}

/** Finds the expected objects that are missing or different. Additional objects of a team are ignored. */
export function findDifferences(
  expected: readonly SchemaObject[],
  actual: readonly SchemaObject[],
): readonly SchemaObject[] {
  const there = new Set(actual.map(({ kind, definition }) => `${kind} ${definition}`));
  return expected.filter(({ kind, definition }) => !there.has(`${kind} ${definition}`));
}

/**
 * Constraints with an index are compared as constraints. Not null is part of the column, although PostgreSQL
 * 18 also has a constraint for it.
 */
const OBJECTS = `
  with tables as (
    select oid, relname from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and relname <> 'schema_migrations'
  ), columns as (
    select t.relname, a.attname, format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
      || case
        when a.attgenerated <> '' then format(' generated always as (%s) stored',
          pg_get_expr(d.adbin, d.adrelid))
        when a.attidentity <> '' then ' generated always as identity'
        when d.adbin is not null then format(' default %s', pg_get_expr(d.adbin, d.adrelid))
        else '' end
      || case when a.attnotnull then ' not null' else '' end as definition
    from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  ), objects as (
    select 1 as step, 'column' as kind, relname as "table", attname as name,
      format('%I: %s', relname, definition) as definition,
      format('create table if not exists %I (); alter table %I add column if not exists %s', relname, relname,
        definition) as sql
    from columns
    union all
    select 2, 'function', null, p.proname, pg_get_functiondef(p.oid), pg_get_functiondef(p.oid)
    from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.prokind = 'f'
      and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid
        and deptype = 'e')
    union all
    select case when c.contype = 'f' then 4 else 3 end, 'constraint', t.relname, c.conname,
      format('%I on %I: %s', c.conname, t.relname, pg_get_constraintdef(c.oid)),
      format('alter table %I drop constraint if exists %I; alter table %I add constraint %I %s', t.relname,
        c.conname, t.relname, c.conname,
        pg_get_constraintdef(c.oid))
    from tables t join pg_constraint c on c.conrelid = t.oid and c.contype in ('p', 'u', 'f', 'c', 'x')
    union all
    select 5, 'index', t.relname, x.relname, pg_get_indexdef(x.oid),
      format('drop index if exists %I; %s', x.relname, pg_get_indexdef(x.oid))
    from tables t join pg_index i on i.indrelid = t.oid join pg_class x on x.oid = i.indexrelid
    where not exists (select from pg_constraint c where c.conindid = i.indexrelid
      and c.contype in ('p', 'u', 'x'))
    union all
    select 6, 'trigger', t.relname, g.tgname, pg_get_triggerdef(g.oid),
      format('drop trigger if exists %I on %I; %s', g.tgname, t.relname, pg_get_triggerdef(g.oid))
    from tables t join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
  )
  select kind, "table"::text, name::text, definition, sql from objects order by step, "table", name`;
