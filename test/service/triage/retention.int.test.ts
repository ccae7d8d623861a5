import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { REMOVE_FROM_MONGODB, REMOVE_LOGS } from '../../../src/domain/work.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import type { BuildArchive } from '../../../src/ports/build-archive.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import {
  countRepository,
  createRemovalHandlers,
  findLongestLogsDays,
  forgetRepository,
  type RetentionDeps,
  retain,
  startRetentionWorker,
} from '../../../src/service/triage/retention.ts';
import { createMongodbArchive } from '../../../src/stores/archive/mongodb.ts';
import { createPostgresArchive } from '../../../src/stores/archive/postgres.ts';
import { createArchiveWithFallback } from '../../../src/stores/archive/with-fallback.ts';
import { createPostgresCheckpointer, sweepCheckpoints } from '../../../src/stores/checkpointer.ts';
import { createRetentionStore } from '../../../src/stores/retention.ts';
import { createWorkStore, type WorkStore } from '../../../src/stores/work.ts';
import { startWorker } from '../../../src/work/worker.ts';
import { startMongodb, withoutMongodb } from '../../support/mongodb.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';

const [GONE, STAYS] = ['acme/gone', 'acme/stays'] as const;
const signal = new AbortController().signal;
/** Tables that hold something of a repository, and how a row is told to be of one. */
const TABLES: Readonly<Record<string, string>> = {
  builds: 'repository = $1',
  build_sources: 'build_id like $1',
  build_source_chunks: 'build_id like $1',
  deliveries: 'delivery_id like $1',
  failed_parts: 'build_id like $1',
  test_results: 'build_id like $1',
  failures: 'repository = $1',
  triages: 'build_id like $1',
  analyses: 'build_id like $1',
  reviews: 'repository = $1',
  decisions: 'id like $1',
  decisions_undone: 'id like $1',
  review_guesses: 'review_id like $1',
  review_skips: 'review_id like $1',
  reviewer_questions: 'repository = $1',
  conversations: 'build_id like $1',
  conversation_turns: 'conversation_id like $1',
  green_templates: 'build_id like $1',
  work: 'build_id like $1',
  library_entries: 'repository = $1',
  rules: 'repository = $1',
  tool_cache: 'repository = $1',
  default_branches: 'repository = $1',
  'checkpoints.checkpoints': 'thread_id like $1',
};

describe('retention', () => {
  let db: TestDatabase;
  let deps: RetentionDeps & { readonly work: WorkStore };

  beforeAll(async () => {
    db = await openTestDatabase();
    await createPostgresCheckpointer(db);
  });
  afterAll(async () => db.dispose());
  beforeEach(async () => {
    for (const table of [
      'builds',
      'library_entries',
      'rules',
      'tool_cache',
      'default_branches',
      'deliveries',
      'build_sources',
      'work',
    ]) {
      await db.query(`delete from ${table}`);
    }
    await db.query('delete from checkpoints.checkpoints');
    await db.query('delete from keepers');
    const work = createWorkStore(db);
    const store = createRetentionStore(db, work);
    const archive = createPostgresArchive(db);
    const forgetThreads = () => sweepCheckpoints(db);
    deps = {
      work,
      store,
      archive,
      forgetThreads,
      unindex: async () => false,
      masker: createMasker(),
      clock: systemClock,
      logger: silentLogger,
    };
  });

  /** `count` builds with a row in every table, received so many days ago. */
  async function fill(
    repository: string,
    count: number,
    daysAgo: number,
    archive: BuildArchive = createPostgresArchive(db),
  ): Promise<void> {
    const key = repository.replace('/', '_');
    for (const statement of FILL.split(';').filter((one) => one.trim() !== '')) {
      await db.query(
        `with given as (select ${CASTS}) ${statement.replace(/\$(\d)/g, '(select p$1 from given)')}`,
        [key, repository, count, daysAgo],
      );
    }
    for (let n = 1; n <= count; n += 1) {
      await archive.put(`${key}_${daysAgo}_${n}`, {
        name: 'build.log',
        kind: 'log',
        text: `log ${n}`,
        notes: [],
      });
    }
  }

  async function readRows(repository: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const [table, condition] of Object.entries(TABLES)) {
      const value = condition.includes('like') ? `${repository.replace('/', '_')}%` : repository;
      const [row] = await db.query<{ count: number }>(
        `select count(*)::int as count from ${table} where ${condition}`,
        [value],
      );
      counts[table] = row?.count ?? 0;
    }
    return counts;
  }

  const total = (counts: Record<string, number>) =>
    Object.values(counts).reduce((sum, count) => sum + count, 0);

  it('deletes a repository in every table and keeps others; the audit trail keeps who did what and when', async () => {
    await fill(GONE, 60, 3);
    await fill(STAYS, 5, 3);
    const [before, others] = [await readRows(GONE), await readRows(STAYS)];
    expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([]);
    expect(await countRepository(deps, GONE, 0)).toMatchObject({
      builds: 60,
      failures: 60,
      analyses: 60,
      reviews: 60,
      libraryEntries: 1,
    });

    const done = await forgetRepository(deps, GONE, 0, signal);

    const after = await readRows(GONE);
    console.info(
      `${total(before)} rows of the repository before, ${total(after)} after; of the others ${total(others)} and ${total(await readRows(STAYS))}`,
    );
    expect(total(after)).toBe(0);
    expect(await readRows(STAYS)).toEqual(others);
    expect(done).toEqual({ builds: 60, logs: 0, libraryEntries: 1, pending: { logs: 0, vectors: true } });
    expect(await db.query('select topic, key, payload from work where build_id is null')).toEqual([
      { topic: 'index:error_library', key: 'acme_gone_3_1', payload: { item: null } },
    ]);
    const trail = await db.query(
      `select distinct event, actor, details from review_events where review_id like 'acme_gone%'`,
    );
    expect(trail).toEqual([{ event: 'decided', actor: 'ada', details: { forgotten: true } }]);
    expect(
      await db.query(`select distinct details from review_events where review_id like 'acme_stays%'`),
    ).toEqual([{ details: { note: 'said' } }]);
  });

  it('keeps the audit trail append-only, except for texts about a deleted build', async () => {
    await fill(STAYS, 1, 0);
    const refused = { details: { state: 'P0001' } };
    await expect(db.query(`update review_events set details = '{"forgotten": true}'`)).rejects.toMatchObject(
      refused,
    );
    await expect(db.query(`update review_events set actor = 'eve'`)).rejects.toMatchObject(refused);
    await expect(db.query('delete from review_events')).rejects.toMatchObject(refused);
  });

  it('may be killed between any two steps and started again', async () => {
    await fill(GONE, 120, 3);
    let deaths = 0;
    for (let step = 1; total(await readRows(GONE)) > 0 && step < 40; step += 1) {
      await forgetRepository(withCrashAfter(deps, step), GONE, 0, signal).catch(() => {
        deaths += 1;
      });
      // What the dead process held.
      await deps.work.reclaim();
    }
    await forgetRepository(deps, GONE, 0, signal);
    console.info(`killed ${deaths} times; rows left: ${total(await readRows(GONE))}`);
    expect(deaths).toBeGreaterThan(3);
    expect(total(await readRows(GONE))).toBe(0);
    expect(await deps.work.waiting(REMOVE_LOGS)).toMatchObject({ count: 0 });
  });

  it('deletes from an archive later if it is down', async () => {
    await fill(GONE, 10, 3);
    const away = async () => {
      throw new TriageError('storage-failed', 'away', { retryable: true });
    };
    const done = await forgetRepository({ ...deps, archive: { remove: away } }, GONE, 0, signal);
    expect(done.pending.logs).toBe(10);
    expect(await readRows(GONE)).toMatchObject({ builds: 0, analyses: 0, build_sources: 10 });

    const worker = startWorker({ ...deps, handlers: createRemovalHandlers(deps.archive), intervalMs: 20 });
    await expect.poll(async () => total(await readRows(GONE)), { timeout: 10_000 }).toBe(0);
    await worker.stop();
  });

  it.skipIf(withoutMongodb)('includes MongoDB, even if it is down during the deletion', async () => {
    const mongodb = await startMongodb();
    const name = mongodb.database();
    const there = createMongodbArchive({ url: mongodb.url, database: name, limitMs: 2_000, restMs: 100 });
    const archive = createArchiveWithFallback({
      mongodb: there,
      database: db,
      work: deps.work,
      logger: silentLogger,
    });
    const client = new MongoClient(mongodb.url);
    const countIn = (collection: string, like: RegExp) =>
      client.db(name).collection(collection).countDocuments({ buildId: like });
    const counts = async () => [
      await countIn('archive_sources', /gone/),
      await countIn('archive_pieces', /gone/),
      await countIn('archive_sources', /stays/),
      await countIn('archive_pieces', /stays/),
    ];
    await fill(GONE, 20, 3, archive);
    await fill(STAYS, 4, 3, archive);
    const before = await counts();

    await mongodb.kill();
    const done = await forgetRepository({ ...deps, archive }, GONE, 0, signal);
    expect({ ...done.pending, rows: total(await readRows(GONE)) }).toEqual({
      logs: 20,
      vectors: true,
      rows: 0,
    });
    await mongodb.resume();
    const work = startWorker({ ...deps, handlers: createRemovalHandlers(archive), intervalMs: 50 });
    await expect
      .poll(async () => (await deps.work.waiting(REMOVE_FROM_MONGODB)).count, { timeout: 20_000 })
      .toBe(0);
    const draft = { generation: 'g', buildId: 'b', name: 'build.log', startedAt: new Date(0) };
    await client.db(name).collection('archive_drafts').insertOne(draft);
    const worker = startRetentionWorker({
      ...deps,
      archive,
      policy: { logsDays: 0, buildsDays: 0, repositories: {} },
      intervalMs: 50,
    });
    await expect
      .poll(async () => await client.db(name).collection('archive_drafts').countDocuments())
      .toBe(0);
    await Promise.all([worker.stop(), work.stop()]);

    const after = await counts();
    console.info(
      `in MongoDB of the repository ${before[0]} logs before, ${after[0]} after; of the others ${before[2]} and ${after[2]}`,
    );
    expect({ before, after }).toEqual({ before: [20, 20, 4, 4], after: [0, 0, 4, 4] });
    await client.close();
    await there.close();
    await mongodb.stop();
  });

  it('keeps data as long as configured, for each repository separately, and decisions of people forever', async () => {
    await fill(GONE, 4, 100);
    await fill(GONE, 3, 20);
    await fill(STAYS, 2, 100);
    await fill(STAYS, 1, 20);
    await db.query(
      `update work set held = true, settled = 0 where topic = 'triage' and key = 'acme_gone_100_1'`,
    );
    const policy = {
      logsDays: 10,
      buildsDays: 90,
      repositories: { [STAYS]: { buildsDays: 0, logsDays: 60 } },
    };

    expect(await retain(deps, policy, signal)).toMatchObject({
      builds: 3,
      logs: 3 + 2,
      pending: { logs: 0 },
    });
    expect(await retain(deps, policy, signal)).toMatchObject({ builds: 0, logs: 0 });

    expect(await readRows(GONE)).toMatchObject({ builds: 4, build_sources: 1, library_entries: 2 });
    expect(await readRows(STAYS)).toMatchObject({ builds: 3, build_sources: 1, library_entries: 2 });
    expect(findLongestLogsDays(policy)).toBe(67);
    expect(findLongestLogsDays({ ...policy, logsDays: 0 })).toBe(0);
  });

  it('runs in one process at a time, until it stops or is gone', async () => {
    const { store } = deps;
    expect(await store.hold('retention', 'one', 60_000)).toBe(true);
    expect(await store.hold('retention', 'two', 60_000)).toBe(false);
    expect(await store.hold('retention', 'one', 0)).toBe(true);
    expect(await store.hold('retention', 'two', 60_000)).toBe(true);
    await store.leave('retention', 'two');
    expect(await store.hold('retention', 'one', 60_000)).toBe(true);
  });
});

/** The process dies after so many of the store's and the archive's calls. */
function withCrashAfter(deps: RetentionDeps, calls: number): RetentionDeps {
  let left = calls;
  const mortal = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        return async (...values: unknown[]) => {
          left -= 1;
          if (left < 0) throw new Error('killed');
          return await Reflect.apply(value, of, values);
        };
      },
    });
  return { ...deps, store: mortal(deps.store), archive: mortal(deps.archive), work: mortal(deps.work) };
}

const CASTS = '$1::text as p1, $2::text as p2, $3::int as p3, $4::int as p4';
const ID = `$1 || '_' || $4 || '_' || n`;
const EACH = 'from generate_series(1, $3) n';
const THEN = `clock_timestamp() - $4 * interval '1 day'`;
const FILL = `
  insert into builds (id, provider, repository, pipeline, number, attempt, status, received_at)
    select ${ID}, 'upload', $2, 'ci', $4 || '_' || n, 1, 'failed', ${THEN} ${EACH};
  insert into deliveries (source, delivery_id, event, body_sha256, build_id) select 'upload', ${ID}, 'build', 'x', ${ID} ${EACH};
  insert into failed_parts (build_id, part) select ${ID}, 'whole' ${EACH};
  insert into test_results (build_id, position, name, status) select ${ID}, 1, 'test', 'failed' ${EACH};
  insert into work (topic, key, build_id, settled, outcome) select 'triage', ${ID}, ${ID}, 1, 'done' ${EACH};
  insert into failures (id, build_id, repository, group_number, position, fingerprint_algorithm, fingerprint_version, fingerprint, generic, message,
    body, seen_at) select ${ID}, ${ID}, $2, 1, 1, 'a', 1, 'f', false, 'message', '{}', ${THEN} ${EACH};
  insert into triages (id, build_id, fingerprint, state) select ${ID}, ${ID}, 'f', 'open' ${EACH};
  insert into analyses (id, triage_id, build_id, fingerprint, category, kind, confidence, action, analyst, body, created_at)
    select ${ID}, ${ID}, ${ID}, 'f', 'CODE_ERROR', 'crash', 0.5, 'human_review', 'rules', '{}', ${THEN} ${EACH};
  insert into reviews (id, analysis_id, build_id, repository, title, category, confidence, why, state, opened_at)
    select ${ID}, ${ID}, ${ID}, $2, 'title', 'CODE_ERROR', 0.5, '{}', 'decided', ${THEN} ${EACH};
  insert into review_events (review_id, event, actor, details) select ${ID}, 'decided', 'ada', '{"note": "said"}' ${EACH};
  insert into decisions (id, review_id, analysis_id, type, reviewer, body, decided_at)
    select ${ID}, ${ID}, ${ID}, 'accept', 'ada', '{}', ${THEN} ${EACH};
  insert into reviewer_questions (id, triage_id, build_id, repository, title, category, question, state, opened_at, expires_at)
    select ${ID} || '_q', ${ID}, ${ID}, $2, 'title', 'CODE_ERROR', 'why', 'expired', ${THEN}, ${THEN} ${EACH};
  insert into conversations (id, analysis_id, build_id, title, started_by, started_at, last_asked_at)
    select ${ID}, ${ID}, ${ID}, 'title', 'ada', ${THEN}, ${THEN} ${EACH};
  insert into conversation_turns (conversation_id, position, asked_by, asked_at, body) select ${ID}, 1, 'ada', ${THEN}, '{}' ${EACH};
  insert into green_templates (build_id, log, body) select ${ID}, 'log', '{}' ${EACH};
  insert into work (topic, key, build_id) select topic, ${ID}, ${ID} from generate_series(1, $3) n, unnest('{publish:log,notice:check}'::text[]) topic;
  insert into checkpoints.checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint, metadata)
    select ${ID}, '', 'c', '{}', '{}' ${EACH};
  insert into library_entries (id, fingerprint_algorithm, fingerprint_version, fingerprint, message, repository, category, kind, title, root_cause,
    fix_recommendation, analysis_id, confirmed_by, confirmed_at, times_seen, last_seen_at)
    select ${ID}, 'a', 1, 'f', 'm', $2, 'CODE_ERROR', 'crash', 't', 'r', 'f', ${ID}, 'ada', ${THEN}, 1, ${THEN} from generate_series(1, least(1, $3)) n;
  insert into decisions_undone (id, review_id, analysis_id, type, reviewer, body, decided_at, undone_by)
    select ${ID}, ${ID}, ${ID}, 'reject', 'ada', '{}', ${THEN}, 'ada' ${EACH};
  insert into review_guesses (review_id, reviewer, category) select ${ID}, 'ada', 'CODE_ERROR' ${EACH};
  insert into review_skips (review_id, reviewer) select ${ID}, 'ada' ${EACH};
  insert into rules (id, version, repository, pattern, sample, category, kind, title, root_cause, fix_recommendation, author, created_at)
    select ${ID}, 1, $2, 'p', 's', 'CODE_ERROR', 'crash', 't', 'r', 'f', 'ada', ${THEN} from generate_series(1, least(1, $3)) n;
  insert into tool_cache (key, tool, repository, findings, summary, bytes, expires_at)
    select ${ID}, 'tool', $2, '[]', 's', 1, clock_timestamp() + interval '1 day' ${EACH};
  insert into default_branches (provider, repository, branch) select 'upload', $2, 'main' on conflict do nothing`;
