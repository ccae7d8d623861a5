import { TriageError } from '../domain/errors.ts';
import { LibraryEntry } from '../domain/library.ts';
import type { Database } from '../ports/database.ts';
import type { LibraryStore } from '../ports/stores.ts';
import { pageValues } from './page.ts';
import { scopeValue } from './scope.ts';

export function createLibraryStore(db: Database): LibraryStore {
  const first = async (text: string, values: readonly unknown[]) => {
    const [row] = await db.query(text, values);
    return row === undefined ? null : LibraryEntry.parse(row);
  };

  return {
    insert: async (entry, sql = db) => {
      await sql.query(INSERT, insertValues(entry));
    },
    find: async (id) => await first(`select ${ENTRY} from library_entries where id = $1`, [id]),
    recall: async ({ fingerprint, repository }) => await first(RECALL, [fingerprint, repository]),
    seen: async (id, at, sql = db) => {
      const [row] = await sql.query<{ timesSeen: number }>(SEEN, [id, at]);
      if (row === undefined) throw new TriageError('not-found', `There is no library entry ${id}`);
      return row.timesSeen;
    },
    list: async (page, { repositories } = {}) => {
      const rows = await db.query(LIST, [...pageValues(page), scopeValue(repositories)]);
      return rows.map((row) => LibraryEntry.parse(row));
    },
  };
}

function insertValues(entry: LibraryEntry): unknown[] {
  const { algorithm, version, value } = entry.fingerprint;
  return [
    ...[entry.id, algorithm, version, value, entry.message, entry.repository, entry.category, entry.kind, entry.title],
    ...[entry.rootCause, entry.fixRecommendation, entry.analysisId, entry.confirmedBy, entry.confirmedAt, entry.timesSeen],
    entry.lastSeenAt,
  ];
}

const ENTRY = `id,
  jsonb_build_object('algorithm', fingerprint_algorithm, 'version', fingerprint_version, 'value', fingerprint) as fingerprint,
  message, repository, category, kind, title, root_cause as "rootCause", fix_recommendation as "fixRecommendation",
  analysis_id as "analysisId", confirmed_by as "confirmedBy", confirmed_at as "confirmedAt", times_seen as "timesSeen",
  last_seen_at as "lastSeenAt"`;

const INSERT = `
  insert into library_entries (id, fingerprint_algorithm, fingerprint_version, fingerprint, message, repository, category, kind, title,
    root_cause, fix_recommendation, analysis_id, confirmed_by, confirmed_at, times_seen, last_seen_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`;

const RECALL = `
  select ${ENTRY} from library_entries where fingerprint = $1 and repository = $2
  order by confirmed_at desc, id desc limit 1`;

const SEEN = `
  update library_entries set times_seen = times_seen + 1, last_seen_at = greatest(last_seen_at, $2::timestamptz)
  where id = $1 returning times_seen as "timesSeen"`;

const LIST = `
  select ${ENTRY} from library_entries where $3::text[] is null or repository like any($3)
  order by confirmed_at desc, id desc limit $1 offset $2`;
