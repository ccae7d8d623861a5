import { Build } from '../domain/build.ts';

/** A build's columns and how `Build` calls them. */
export const BUILD_COLUMNS = [
  ['id', 'id'],
  ['provider', 'provider'],
  ['repository', 'repository'],
  ['pipeline', 'pipeline'],
  ['number', 'number'],
  ['attempt', 'attempt'],
  ['external_id', 'externalId'],
  ['job', 'job'],
  ['branch', 'branch'],
  ['commit', 'commit'],
  ['author', 'author'],
  ['pull_request', 'pullRequest'],
  ['url', 'url'],
  ['status', 'status'],
  ['started_at', 'startedAt'],
  ['finished_at', 'finishedAt'],
  ['received_at', 'receivedAt'],
] as const;

/** A select list that `readBuild` reads; `table` is the alias the columns come from. */
export function buildColumns(table: string): string {
  return BUILD_COLUMNS.map(([column, field]) => `${table}.${column} as "${field}"`).join(', ');
}

export function readBuild(row: unknown): Build {
  return Build.parse(row);
}

/** A row that orders the builds of one pipeline, the oldest first; `table` is the alias the columns come from. */
export function buildOrder(table: string): string {
  return `(coalesce(${table}.number_order, -1), coalesce(${table}.started_at, ${table}.received_at), ${table}.id)`;
}
