import pg from 'pg';

const { INT8, TIMESTAMPTZ } = pg.types.builtins;

/**
 * Makes rows read as our own queries expect them: int8 (counts) as numbers, timestamptz as ISO 8601 in UTC with
 * milliseconds. Done per result rather than by parsers set on the driver: pg-boss and the checkpointer share the pool and
 * expect pg's own rules. (Parsers given with a query do not work either: PGlite's connection takes them for parameter types.)
 */
export function readColumns(fields: readonly pg.FieldDef[], rows: readonly pg.QueryResultRow[]): void {
  for (const { name, dataTypeID } of fields) {
    if (dataTypeID === INT8) for (const row of rows) row[name] = toNumber(row[name]);
    else if (dataTypeID === TIMESTAMPTZ) for (const row of rows) row[name] = toIsoTime(row[name]);
  }
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' ? Number(value) : value;
}

function toIsoTime(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
