import { z } from 'zod';
import { Action, Analysis } from '../domain/analysis.ts';
import { Category } from '../domain/category.ts';
import { TriageError } from '../domain/errors.ts';
import type { Database } from '../ports/database.ts';
import type { AnalysisStore } from '../ports/stores.ts';
import { JUDGED_CATEGORY } from './failure-rows.ts';

export function createAnalysisStore(db: Database): AnalysisStore {
  return {
    insertOnce: async (analysis, sql = db) => {
      const created = await sql.query<{ body: unknown }>(INSERT, [
        analysis.id,
        analysis.triageId,
        analysis.buildId,
        analysis.fingerprint,
        analysis.category,
        analysis.kind,
        analysis.verdict.confidence,
        analysis.verdict.action,
        analysis.analyst,
        analysis,
        analysis.createdAt,
      ]);
      if (created[0] !== undefined) return { analysis: Analysis.parse(created[0].body), created: true };
      const [stored] = await sql.query<{ body: unknown }>('select body from analyses where triage_id = $1', [analysis.triageId]);
      if (stored === undefined) throw new TriageError('conflict', `The ID ${analysis.id} belongs to the analysis of another triage`);
      return { analysis: Analysis.parse(stored.body), created: false };
    },

    find: async (id) => {
      const [row] = await db.query<{ body: unknown }>('select body from analyses where id = $1', [id]);
      return row === undefined ? null : Analysis.parse(row.body);
    },

    listByBuild: async (buildId) => {
      const rows = await db.query<{ body: unknown }>('select body from analyses where build_id = $1 order by created_at, id', [buildId]);
      return rows.map((row) => Analysis.parse(row.body));
    },

    heads: async (buildIds) => (await db.query(HEADS, [buildIds])).map((row) => AnalysisHead.parse(row)),
  };
}

const AnalysisHead = z.object({
  id: z.string(),
  buildId: z.string(),
  category: Category.nullable(),
  title: z.string(),
  confidence: z.number(),
  action: Action,
  failures: z.int(),
  decided: z.boolean(),
});

const HEADS = `
  select a.id, a.build_id as "buildId", coalesce(d.category, ${JUDGED_CATEGORY}) as category, a.body -> 'answer' ->> 'title' as title, a.confidence,
    a.action, jsonb_array_length(a.body -> 'failureIds') as failures,
    coalesce(d.type in ('accept', 'correct'), a.body -> 'recalled' <> 'null'::jsonb) as decided
  from analyses a left join decisions d on d.analysis_id = a.id
  where a.build_id = any ($1::text[]) order by a.created_at, a.id`;

const INSERT = `
  insert into analyses (id, triage_id, build_id, fingerprint, category, kind, confidence, action, analyst, body, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  on conflict do nothing
  returning body`;
