import { z } from 'zod';
import { Analysis } from '../domain/analysis.ts';
import type { Database } from '../ports/database.ts';
import type { RecordingFilter, RecordingStore } from '../ports/measurements.ts';
import { scopeValue } from './scope.ts';

/** Most bytes of one recording, compressed: some thousand judgements of a model with all that the tools brought. */
const MAX_RECORDING_BYTES = 8 * 1024 * 1024;

const Head = z.object({
  triageId: z.string(),
  repository: z.string(),
  schema: z.int(),
  size: z.int(),
  parts: z.int(),
  capped: z.boolean(),
  createdAt: z.string(),
  analysis: z
    .object({ id: z.string(), category: z.string(), analyst: z.string(), model: z.string().nullable(), title: z.string() })
    .nullable(),
});

const Row = z.object({
  triageId: z.string(),
  schema: z.int(),
  bytes: z.instanceof(Uint8Array),
  capped: z.boolean(),
  analysis: Analysis.nullable(),
});

export function createRecordingStore(db: Database, maxBytes: number = MAX_RECORDING_BYTES): RecordingStore {
  return {
    append: async ({ triageId, schema, bytes }) => {
      await db.query(APPEND, [triageId, schema, Buffer.from(bytes), maxBytes]);
    },
    list: async (filter, { limit }) => (await db.query(LIST, [...valuesOf(filter), limit])).map((row) => Head.parse(row)),
    find: async (triageId) => {
      const [row] = await db.query(FIND, [triageId]);
      return row === undefined ? null : Row.parse(row);
    },
  };
}

function valuesOf({ runs, repository, repositories, after }: RecordingFilter): unknown[] {
  return [runs === undefined ? null : [...runs], repository ?? null, scopeValue(repositories), after ?? ''];
}

const APPEND = `
  insert into recordings (triage_id, schema, bytes, capped)
  values ($1, $2, case when octet_length($3::bytea) > $4 then ''::bytea else $3::bytea end, octet_length($3::bytea) > $4)
  on conflict (triage_id) do update set
    bytes = case when octet_length(recordings.bytes) + octet_length($3::bytea) > $4
      then recordings.bytes else recordings.bytes || $3::bytea end,
    capped = recordings.capped or octet_length(recordings.bytes) + octet_length($3::bytea) > $4,
    parts = recordings.parts + 1, updated_at = clock_timestamp()`;

const LIST = `
  select r.triage_id as "triageId", b.repository, r.schema, r.size, r.parts, r.capped, r.created_at as "createdAt",
    case when a.id is null then null else jsonb_build_object('id', a.id, 'category', a.category, 'analyst', a.analyst,
      'model', a.body -> 'model', 'title', a.body -> 'answer' ->> 'title') end as analysis
  from recordings r join triages t on t.id = r.triage_id join builds b on b.id = t.build_id
    left join analyses a on a.triage_id = r.triage_id
  where ($1::text[] is null or r.triage_id = any($1::text[]) or a.id = any($1::text[]))
    and ($2::text is null or b.repository = $2) and ($3::text[] is null or b.repository like any($3::text[])) and r.triage_id > $4
  order by r.triage_id limit $5`;

const FIND = `
  select r.triage_id as "triageId", r.schema, r.bytes, r.capped, a.body as analysis
  from recordings r left join analyses a on a.triage_id = r.triage_id where r.triage_id = $1`;
