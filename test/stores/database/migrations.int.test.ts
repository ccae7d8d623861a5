import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/ports/database.ts';
import { MIGRATIONS_FOLDER } from '../../../src/stores/database/migration-files.ts';
import { openPostgres, rehearseMigrations } from '../../../src/stores/database/postgres.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { createWorkStore } from '../../../src/stores/work.ts';
import { startPostgres, type TestServer, withoutPostgres } from '../../support/postgres.ts';
import { THOROUGH } from '../../support/thorough.ts';

const PROCESS = fileURLToPath(new URL('./migrate-process.ts', import.meta.url));

/** How many migrations each older release had; in a short run the first one, the last one and some between. */
const listReleases = (migrations: number) =>
  Array.from({ length: migrations - 1 }, (_, at) => at + 1).filter(
    (count) => THOROUGH || count === 1 || count === migrations - 1 || count % 10 === 0,
  );

/** What a database of any release holds; the tables are of the first one, and jobs are work since 0057. */
const DATA = `
  insert into builds (id, provider, repository, pipeline, number, attempt, status, received_at)
    values ('bld_1', 'github', 'acme/shop', 'CI', '1', 1, 'failed', now());
  insert into deliveries (source, delivery_id, event, body_sha256, build_id) values ('github', 'd1', 'workflow_run', 'hash', 'bld_1');
  insert into triage_jobs (id, build_id, state) values ('job_1', 'bld_1', 'queued');
  insert into failures (id, build_id, repository, group_number, position, fingerprint_algorithm, fingerprint_version, fingerprint, generic, message, body, seen_at)
    values ('fal_1', 'bld_1', 'acme/shop', 0, 0, 'message', 1, 'fp', false, 'boom', '{}', now());
  insert into triages (id, build_id, fingerprint, state, analysis_id) values ('tri_1', 'bld_1', 'fp', 'concluded', 'ana_1');
  insert into analyses (id, triage_id, build_id, fingerprint, category, kind, confidence, action, analyst, body, created_at)
    values ('ana_1', 'tri_1', 'bld_1', 'fp', 'CODE_ERROR', 'crash', 0.7, 'human_review', 'rules', '{}', now());
  insert into reviews (id, analysis_id, build_id, repository, title, category, confidence, why, state, opened_at)
    values ('rev_1', 'ana_1', 'bld_1', 'acme/shop', 'Boom', 'CODE_ERROR', 0.7, '{}', 'decided', now());
  insert into decisions (id, review_id, analysis_id, type, reviewer, body, decided_at)
    values ('dec_1', 'rev_1', 'ana_1', 'accept', 'ada', '{}', now());
  insert into review_events (review_id, event, actor, details) values ('rev_1', 'opened', 'faultline', '{}');
  insert into library_entries (id, fingerprint_algorithm, fingerprint_version, fingerprint, message, repository, category, kind, title, root_cause,
      fix_recommendation, analysis_id, confirmed_by, confirmed_at, times_seen, last_seen_at)
    values ('lib_1', 'message', 1, 'fp', 'boom', 'acme/shop', 'CODE_ERROR', 'crash', 'Boom', 'cause', 'fix', 'ana_1', 'ada', now(), 1, now())`;

/** What a job of a triage became with the work table. */
const ITEM_OF_WORK = `insert into work (topic, key, build_id) values ('triage', 'bld_1', 'bld_1')`;

/** What waits in a database of the release before the outbox. */
const WAITING = `
  insert into outward_acts (key, publisher, build_id, analysis_id, state, retries, lease, reference, error)
    values ('webhook:ana_1', 'webhook', 'bld_1', 'ana_1', 'started', 3, 2, null, '503'), ('log:ana_1', 'log', 'bld_1', 'ana_1', 'done', 0, 1, 'line', null);
  insert into notices (key, channel, repository, about, build_id, wanted, shown, due_at, held, reference, hash)
    values ('check:bld_1', 'check', 'acme/shop', '{"type": "build", "buildId": "bld_1"}', 'bld_1', 4, 3, now(), true, '41', 'h');
  insert into vector_debts (namespace, id, item, version, attempts)
    values ('error_library', 'lib_1', '{"text": "boom", "metadata": {}}', 1, 0), ('error_library', 'lib_2', null, 2, 5);
  insert into green_jobs (build_id, state) values ('bld_1', 'skipped');
  insert into log_removals (build_id) values ('bld_0')`;

/** What the release before the work table holds: jobs in each state, and an item of the outbox under a lease. */
const JOBS = `
  insert into triage_jobs (id, build_id, state, traceparent) values ('job_1', 'queued', 'queued', '00-aa-bb-01'), ('job_7', 'imported', 'queued', null);
  insert into triage_jobs (id, build_id, state, retries, not_before, error) values ('job_2', 'postponed', 'queued', 2, now() + interval '1 hour', 'away');
  insert into triage_jobs (id, build_id, state, attempts, retries, owed, taken, lease, lease_expires_at)
    values ('job_3', 'running', 'running', 2, 1, 1, 1, 7, now() + interval '1 hour');
  insert into triage_jobs (id, build_id, state, attempts, retries, owed, taken, fetched, lease, lease_expires_at)
    values ('job_4', 'news', 'running', 2, 3, 2, 1, 1, 2, now() - interval '1 minute');
  insert into triage_jobs (id, build_id, state, owed, taken, fetched) values ('job_5', 'done', 'done', 3, 3, 3);
  insert into triage_jobs (id, build_id, state, error) values ('job_6', 'failed', 'failed', 'no log');
  insert into outbox (topic, key, build_id, held, lease, retries, free_at) values ('publish:webhook', 'webhook:ana_1', 'done', true, 2, 4, now() + interval '1 hour')`;

const TABLES = [
  'builds',
  'deliveries',
  'work',
  'failures',
  'triages',
  'analyses',
  'reviews',
  'decisions',
  'review_events',
  'library_entries',
  'build_days',
];

describe.skipIf(withoutPostgres)('T64: migrations on a PostgreSQL server', () => {
  let server: TestServer;
  let files: string[];
  const folders: string[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    files = (await readdir(MIGRATIONS_FOLDER)).filter((name) => name.endsWith('.sql')).toSorted();
  });
  afterAll(async () => {
    await server?.dispose();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  /** The files of an older release, and perhaps one more. */
  async function release(
    names: readonly string[],
    more?: { readonly name: string; readonly text: string },
  ): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'faultline-release-'));
    folders.push(folder);
    for (const name of names) await cp(join(MIGRATIONS_FOLDER, name), join(folder, name));
    if (more !== undefined) await writeFile(join(folder, more.name), more.text);
    return folder;
  }

  it('lead from older schemas with data to the same schema, without losing a row; a second run changes nothing', async () => {
    const wanted = await withDatabase(await server.createMigrated(), MIGRATIONS_FOLDER, readSchema);
    const ends: string[] = [];
    let lost = 0;
    for (const count of listReleases(files.length)) {
      const url = await server.createDatabase();
      const names = files.slice(0, count);
      const older = await release(names);
      await withDatabase(url, older, async (db) => {
        await db.migrate();
        const isJob = (statement: string) => statement.includes('into triage_jobs');
        const hasWork = names.includes('0057_work.sql');
        for (const statement of DATA.split(';'))
          await db.query(hasWork && isJob(statement) ? ITEM_OF_WORK : statement);
      });
      await withDatabase(url, MIGRATIONS_FOLDER, async (db) => {
        expect((await db.migrate()).applied).toEqual(
          files.slice(count).map((name) => name.replace('.sql', '')),
        );
        expect(await db.migrate()).toEqual({ applied: [] });
        for (const table of TABLES) {
          const [row] = await db.query<{ count: number }>(`select count(*) from ${table}`);
          if (row?.count !== 1) lost += 1;
        }
        ends.push(await readSchema(db));
      });
    }

    console.info(`T64: ${ends.length} older schemas with data brought up to date; rows lost: ${lost}`);
    expect(lost).toBe(0);
    expect(new Set(ends)).toEqual(new Set([wanted]));
  });

  it('give each failure without a message an identity of its own, and let none be recalled', async () => {
    const url = await server.createDatabase();
    const older = await release(files.filter((name) => name < '0031'));
    const print = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 32);
    const shared = [print(''), print('\u0001\u0001\u0001(SIGKILL)')];
    await withDatabase(url, older, async (db) => {
      await db.migrate();
      for (const [at, value] of [...shared, ...shared, 'fp'].entries()) {
        const rows = DATA.replaceAll(/'(bld|job|fal|tri|ana|rev|dec|lib)_1'/g, `'$1_${at}'`).replaceAll(
          "'fp'",
          `'${value}'`,
        );
        for (const statement of rows
          .replaceAll("'1', 1, 'failed'", `'${at}', 1, 'failed'`)
          .replace("'d1'", `'d${at}'`)
          .split(';'))
          await db.query(statement);
      }
    });
    await withDatabase(url, MIGRATIONS_FOLDER, async (db) => {
      await db.migrate();
      const wanted = ['unknown-bld_0', 'unknown-bld_1', 'unknown-bld_2', 'unknown-bld_3', 'fp'];
      for (const table of ['failures', 'analyses', 'triages', 'reviews', 'answer_facts'])
        expect(
          (await db.query<{ fingerprint: string }>(`select fingerprint from ${table} order by build_id`)).map(
            (row) => row.fingerprint,
          ),
        ).toEqual(wanted);
      const taught = await db.query<{ fingerprint: string }>(
        'select fingerprint from library_entries order by id',
      );
      expect(taught.map((row) => row.fingerprint)).toEqual([
        'unknown-ana_0',
        'unknown-ana_1',
        'unknown-ana_2',
        'unknown-ana_3',
        'fp',
      ]);
    });
  });

  it('move the pending work of five tables to one, with what was done before', async () => {
    const url = await server.createDatabase();
    await withDatabase(url, await release(files.filter((name) => name < '0035')), async (db) => {
      await db.migrate();
      for (const statement of `${DATA};${WAITING}`.split(';')) await db.query(statement);
    });
    await withDatabase(url, MIGRATIONS_FOLDER, async (db) => {
      await db.migrate();
      const work = createWorkStore(db);
      const fresh = { settled: 0, outcome: null, result: null, held: false };
      expect(await work.find('publish:webhook', 'webhook:ana_1')).toMatchObject({
        ...fresh,
        buildId: 'bld_1',
        payload: { analysisId: 'ana_1' },
        version: 1,
        lease: 2,
        attempts: 0,
        retries: 3,
        error: '503',
      });
      const done = { version: 1, settled: 1, outcome: 'done' };
      expect(await work.find('publish:log', 'log:ana_1')).toMatchObject({
        ...done,
        result: { reference: 'line' },
      });
      const about = { type: 'build', buildId: 'bld_1' };
      expect(await work.find('notice:check', 'check:bld_1')).toMatchObject({
        payload: { repository: 'acme/shop', about },
        version: 4,
        settled: 3,
        outcome: 'done',
        result: { reference: '41', hash: 'h' },
      });
      expect(await work.find('index:error_library', 'lib_1')).toMatchObject({
        ...fresh,
        payload: { item: { text: 'boom', metadata: {} } },
      });
      expect(await work.find('index:error_library', 'lib_2')).toMatchObject({
        ...fresh,
        payload: { item: null },
        version: 2,
        retries: 5,
      });
      expect(await work.find('passing-build', 'bld_1')).toMatchObject({
        version: 1,
        settled: 1,
        outcome: 'skipped',
        buildId: 'bld_1',
      });
      expect(await work.find('remove-logs', 'bld_0')).toMatchObject({ ...fresh, buildId: null });
      const due = await work.due([
        'publish:webhook',
        'publish:log',
        'notice:check',
        'index:error_library',
        'passing-build',
        'remove-logs',
      ]);
      expect(due).toEqual(['publish:webhook', 'notice:check', 'index:error_library', 'remove-logs']);
    });
  });

  it('move triage jobs to the work table, with leases and retries, and leave the outbox unchanged', async () => {
    const url = await server.createDatabase();
    await withDatabase(url, await release(files.filter((name) => name < '0057')), async (db) => {
      await db.migrate();
      for (const state of ['queued', 'postponed', 'running', 'news', 'done', 'failed', 'imported'])
        await db.query(
          `insert into builds (id, provider, repository, pipeline, number, attempt, status, received_at, imported_at)
           values ($1, 'github', 'acme/shop', 'CI', $1, 1, 'failed', now(), case when $1 = 'imported' then now() end)`,
          [state],
        );
      for (const statement of JOBS.split(';')) await db.query(statement);
    });
    await withDatabase(url, MIGRATIONS_FOLDER, async (db) => {
      expect((await db.migrate()).applied[0]).toBe('0057_work');
      const { triages, work } = createStores(db, { now: () => Date.now() });
      const states = ['queued', 'running', 'news', 'done', 'failed'];
      const jobs = await Promise.all(states.map((id) => triages.findByBuild(id)));
      expect(jobs).toMatchObject([
        { state: 'queued', attempts: 0, retries: 0, requested: 1, fetched: 0, traceparent: '00-aa-bb-01' },
        { state: 'running', attempts: 2, retries: 1, requested: 1 },
        { state: 'running', attempts: 0, retries: 3, requested: 2, fetched: 1 },
        { state: 'done', requested: 3, fetched: 3 },
        { state: 'failed', error: 'no log' },
      ]);
      // Whose process is gone is found when its lease is over; what was postponed, later.
      expect(await work.dueKeys('triage', 10)).toEqual(['queued', 'news', 'imported']);
      const running = await work.find('triage', 'running');
      expect(running).toMatchObject({ held: true, lease: 7, groupKey: 'acme/shop', outcome: null });
      expect(running !== null && (await work.renew(running, 60_000))).toBe(true);
      expect(await work.take({ topic: 'triage', keys: ['news'], limit: 1, leaseMs: 1_000 })).toMatchObject([
        { key: 'news', lease: 3, attempts: 1, version: 2 },
      ]);
      expect(await work.find('publish:webhook', 'webhook:ana_1')).toMatchObject({
        held: true,
        lease: 2,
        retries: 4,
      });
      expect((await work.failed('triage', 10)).map(({ key }) => key)).toEqual(['failed']);
      await triages.request('done');
      expect(await db.query(`select build_id from changes where build_id = 'done'`)).not.toEqual([]);
    });
  });

  it('are applied once by two processes that start at the same time', async () => {
    const url = await server.createDatabase();
    const start = () => promisify(execFile)(process.execPath, [PROCESS, url, MIGRATIONS_FOLDER]);

    const outputs = await Promise.all([start(), start()]);

    const applied = outputs.flatMap(({ stdout }): unknown => JSON.parse(stdout));
    expect(applied).toEqual(files.map((name) => name.replace('.sql', '')));
  });

  it('wait for a process that is applying them, and need no permission that was already used', async () => {
    const url = await server.createDatabase();
    const slow = await release(files, { name: '9000_slow.sql', text: 'select pg_sleep(1);' });
    const first = promisify(execFile)(process.execPath, [PROCESS, url, slow]);
    await withDatabase(url, slow, async (db) => {
      await waitUntilAsleep(db);
      expect(await db.migrate()).toEqual({ applied: [] });
    });
    expect(JSON.parse((await first).stdout)).toHaveLength(files.length + 1);
  });

  it('leave nothing incomplete if the process is killed, and the next one continues', async () => {
    const url = await server.createDatabase();
    const slow = await release(files, {
      name: '9000_slow.sql',
      text: 'create table slow (a int); select pg_sleep(120);',
    });
    const first = spawn(process.execPath, [PROCESS, url, slow], { stdio: 'ignore' });
    const gone = once(first, 'exit');
    await withDatabase(url, slow, async (db) => {
      await waitUntilAsleep(db);
      first.kill('SIGKILL');
      await gone;
    });

    await withDatabase(url, MIGRATIONS_FOLDER, async (db) => {
      expect((await db.migrate()).applied).toHaveLength(files.length);
      expect(await db.query(`select to_regclass('slow') as slow`)).toEqual([{ slow: null }]);
    });
  });

  it('T65: are refused, without a write, for a database that a newer release wrote', async () => {
    const url = await server.createDatabase();
    const newer = await release(files, { name: '9001_newer.sql', text: 'create table newer (a int);' });
    await withDatabase(url, newer, (db) => db.migrate());

    await withDatabase(url, MIGRATIONS_FOLDER, async (db) => {
      const before = await readSchema(db);
      const refusal = { code: 'invalid-config', message: expect.stringContaining('9001_newer') };
      await expect(db.migrate()).rejects.toMatchObject(refusal);
      expect(await readSchema(db)).toBe(before);
    });
  });
});

describe.skipIf(withoutPostgres)('a role that may not migrate', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
    await withDatabase(server.url, MIGRATIONS_FOLDER, async (db) => {
      for (const role of ['migrations_owner', 'migrations_app'])
        await db.query(
          `do $$ begin create role ${role} login password 'secret'; exception when duplicate_object then null; end $$`,
        );
    });
  });
  afterAll(() => server?.dispose());

  /** A database that the owner owns, its address for a role, and for the superuser. */
  const database = async () => {
    const url = await server.createDatabase();
    await withDatabase(url, MIGRATIONS_FOLDER, (db) =>
      db.query(`alter database ${new URL(url).pathname.slice(1)} owner to migrations_owner`),
    );
    await withDatabase(url, MIGRATIONS_FOLDER, (db) =>
      db.query('alter schema public owner to migrations_owner'),
    );
    const as = (role: string) => Object.assign(new URL(url), { username: role, password: 'secret' }).href;
    return { url, owner: as('migrations_owner'), app: as('migrations_app') };
  };

  it('is told which extensions a superuser must create, and leaves nothing behind', async () => {
    const { url, owner } = await database();
    await withDatabase(owner, MIGRATIONS_FOLDER, async (db) => {
      const refusal = {
        code: 'invalid-config',
        message: expect.stringContaining('create extension if not exists vector;'),
      };
      await expect(db.migrate()).rejects.toMatchObject(refusal);
      await expect(rehearseMigrations(owner)).rejects.toMatchObject(refusal);
      expect(
        await db.query(`select relname from pg_class where relnamespace = 'public'::regnamespace`),
      ).toEqual([]);
    });
    await withDatabase(url, MIGRATIONS_FOLDER, async (db) => {
      await db.query('create extension vector');
      await db.query('create extension pg_trgm');
    });
    await expect(rehearseMigrations(owner)).resolves.toBeUndefined();
    await withDatabase(owner, MIGRATIONS_FOLDER, async (db) =>
      expect((await db.migrate()).applied).not.toEqual([]),
    );
  });

  it('is told to use the owner if another role owns the tables', async () => {
    const { url, owner, app } = await database();
    await withDatabase(url, MIGRATIONS_FOLDER, async (db) => {
      await db.query('create extension vector');
      await db.query('create extension pg_trgm');
      await db.query('revoke create on schema public from public');
    });
    const refusal = {
      code: 'invalid-config',
      message: expect.stringContaining('Set FAULTLINE_DATABASE_OWNER_URL'),
    };
    await withDatabase(app, MIGRATIONS_FOLDER, async (db) =>
      expect(db.migrate()).rejects.toMatchObject(refusal),
    );
    await withDatabase(owner, MIGRATIONS_FOLDER, (db) => db.migrate());
    await withDatabase(app, MIGRATIONS_FOLDER, async (db) =>
      expect(db.migrate()).rejects.toMatchObject(refusal),
    );
    await withDatabase(owner, MIGRATIONS_FOLDER, (db) =>
      db.query('grant select on schema_migrations to migrations_app'),
    );
    await withDatabase(app, MIGRATIONS_FOLDER, async (db) =>
      expect((await db.migrate()).applied).toEqual([]),
    );
  });
});

async function withDatabase<Result>(
  url: string,
  folder: string,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const db = await openPostgres({ url, poolSize: 2, migrationsFolder: folder });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Columns, constraints, indexes and triggers as text, in one order. */
async function readSchema(db: Database): Promise<string> {
  const rows = await db.query<{ line: string }>(`
    select format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'public'
    union all select format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint where connamespace = 'public'::regnamespace
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal`);
  return rows
    .map(({ line }) => line)
    .toSorted()
    .join('\n');
}

/** Waits until a migration sleeps in this database. */
async function waitUntilAsleep(db: Database): Promise<void> {
  const sleeping = `select 1 from pg_stat_activity where application_name = 'faultline migrate' and query like '%pg_sleep%' and datname = current_database()`;
  while ((await db.query(sleeping)).length === 0) await delay(50);
}
