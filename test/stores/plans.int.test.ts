import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fillIndex, fillStore } from '../../scripts/parts/bench/store-data.ts';
import { listQuestions, type Question } from '../../scripts/parts/bench/store-questions.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createHashingEmbedder } from '../../src/models/embedder/hashing.ts';
import type { Database, Sql } from '../../src/ports/database.ts';
import { createStores } from '../../src/stores/stores.ts';
import { createPgvectorIndex } from '../../src/stores/vectors/pgvector.ts';
import { openMigrated, startPostgres, type TestServer, withoutPostgres } from '../support/postgres.ts';

// Builds are few here: a page of a hundred failures may well look at all of them.
const LARGE = [
  'failures',
  'failure_messages',
  'triages',
  'analyses',
  'reviews',
  'decisions',
  'library_entries',
  'vector_items',
];
const SIZE = { failures: 20_000, library: 3_000 };

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string | undefined;
  readonly Plans?: readonly Plan[] | undefined;
}
const Plan: z.ZodType<Plan> = z.lazy(() =>
  z.object({
    'Node Type': z.string(),
    'Relation Name': z.string().optional(),
    Plans: z.array(Plan).optional(),
  }),
);
const Explained = z.tuple([z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan })]) })]);

describe.skipIf(withoutPostgres)('P13: with 20,000 failures stored', () => {
  let server: TestServer;
  let db: Database & { dispose(): Promise<void> };
  let questions: readonly Question[];
  const scans: string[] = [];
  let explained = 0;

  beforeAll(async () => {
    server = await startPostgres();
    db = await openMigrated(server);
    await db.transaction((sql) => fillStore(sql, SIZE));
    const watched: Database = {
      ...db,
      ...withExplain(db),
      transaction: (work) => db.transaction((sql) => work(withExplain(sql))),
    };
    const { reader: _reader, ...alone } = watched;
    const index = createPgvectorIndex(alone, createHashingEmbedder(), { hnswFrom: 1000 });
    await fillIndex(db, index);
    await db.query('analyze');
    questions = await listQuestions(db, createStores(alone, systemClock), index);
    scans.length = 0;
    explained = 0;
  });
  afterAll(async () => {
    await db?.dispose();
    await server?.dispose();
  });

  /** Notes which large tables a statement would read from end to end, then runs it. */
  function withExplain(sql: Sql): Sql {
    return {
      query: async (text, values) => {
        if (/^\s*(select|with)\b/i.test(text) && !/\binsert into\b/i.test(text)) {
          const [row] = Explained.parse(await sql.query(`explain (format json) ${text}`, values));
          explained += 1;
          scans.push(...listSequentialScans(row['QUERY PLAN'][0].Plan));
        }
        return await sql.query(text, values);
      },
    };
  }

  it('no query of a triage or of the console reads a large table completely', async () => {
    const found: Record<string, readonly string[]> = {};
    for (const { name, ask } of questions) {
      scans.length = 0;
      await ask(3);
      if (scans.length > 0) found[name] = [...scans];
    }

    console.info(
      `P13: ${questions.length} questions, ${explained} plans; reading a large table from end to end: ${Object.keys(found).length}`,
    );
    expect(explained).toBeGreaterThanOrEqual(questions.length);
    expect(found).toEqual({});
  });
});

function listSequentialScans(plan: Plan): string[] {
  const table = plan['Relation Name'];
  const own = plan['Node Type'] === 'Seq Scan' && table !== undefined && LARGE.includes(table) ? [table] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(listSequentialScans)];
}
