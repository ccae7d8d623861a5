import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { diagnose } from '../../../src/cli/setup/doctor.ts';
import type { Config } from '../../../src/config/schema.ts';
import { MIGRATIONS_FOLDER } from '../../../src/stores/database/migration-files.ts';
import { openPglite } from '../../../src/stores/database/pglite.ts';
import type { PgDatabase } from '../../../src/stores/database/pool-database.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { startPostgres, type TestServer, withoutPostgres } from '../../support/postgres.ts';
import { openStockedConsole, READERS, type StockedConsole } from '../../support/stocked-console.ts';
import { THOROUGH } from '../../support/thorough.ts';

/** Written from git history by scripts/write/write-upgrade-fixtures.ts. */
const FIXTURES = resolve(import.meta.dirname, '../../fixtures/upgrades');
/** The commit at which the changelog was cut for 0.1.0. */
const RELEASE_0_1 = '27c6a679';
/** Data of the demo 60, 500 and 1,000 commits before the checksums, and of 0.1.0. A short run upgrades the oldest and 0.1.0. */
const SHORT_RUN = ['e72b440c', RELEASE_0_1];
const INSTALLATIONS = THOROUGH ? ['15a31668', 'f5d28434', ...SHORT_RUN] : SHORT_RUN;

const History = z.array(
  z.object({ commit: z.string(), set: z.record(z.string(), z.string()), removed: z.array(z.string()) }),
);

/** What must be there after an upgrade as before, where the old schema had it. */
const KEPT = [
  'builds',
  'deliveries',
  'test_results',
  'build_sources',
  'build_source_chunks',
  'failures',
  'triages',
  'analyses',
  'reviews',
  'decisions',
  'library_entries',
  'answer_facts',
  'causes',
  'recordings',
  'vector_items',
  'log_pages',
  'build_days',
] as const;

let server: TestServer | undefined;
beforeAll(async () => {
  if (!withoutPostgres) server = await startPostgres();
});
afterAll(async () => {
  await server?.dispose();
});

describe.skipIf(withoutPostgres)('an older form of a migration', () => {
  it('is upgraded to the schema of a new database, from every earlier commit, with its checksums recorded', {
    timeout: 600_000,
  }, async () => {
    const states = await readStates();
    const tried = states.filter(({ forms }) => THOROUGH || hasOwnForm(forms));
    for (const { commit, forms } of tried) {
      const database = await createAt(forms);
      await expect(database.migrate(), commit).resolves.toMatchObject({
        applied: expect.arrayContaining(['0049_older_forms']),
      });
      expect(await database.migrate()).toEqual({ applied: [] });
      expect(await database.query('select name from schema_migrations where checksum is null')).toEqual([]);
      await database.close();
    }
    console.info(`upgrades: ${tried.length} schemas of older commits are as a new one`);
    expect(tried.length).toBeGreaterThan(5);
  });

  it('is upgraded even if each migration was applied in its first form', async () => {
    const first = new Map<string, string>();
    for (const { forms } of (await readStates()).slice(2))
      for (const [name, form] of forms) if (!first.has(name)) first.set(name, form);
    // The tables of 0043 come with 0042_outside. Nothing could be applied after the two forms that made the table of 0002.
    for (const last of ['0046_health', '0045_causes_in_order', '0043_links', '0038_tests']) {
      const forms = [...first].filter(([name]) => name <= last && name !== '0043_links');
      const database = await createAt(new Map(forms.toSorted(compareByName)));
      await database.migrate();
      expect(await database.query('select name from schema_migrations where checksum is null')).toEqual([]);
      await database.close();
    }
  });

  it('is kept if it was repaired by hand, and the rest is added', async () => {
    const states = await readStates();
    const state = states.find(({ commit }) => commit === '4002fb40');
    const database = await createAt(state?.forms ?? new Map());
    await database.query('alter table builds add column queued_seconds double precision');
    await database.query(`insert into builds (id, provider, repository, pipeline, number, attempt, status, received_at, queued_seconds)
      values ('bld_1', 'github', 'acme/shop', 'CI', '1', 1, 'failed', now(), 7)`);
    await database.migrate();
    expect(await database.query('select queued_seconds from builds')).toEqual([{ queued_seconds: 7 }]);
    await database.close();
  });

  it('that is unknown is refused by name without changes; "migrate --repair" repairs it', async () => {
    const state = (await readStates()).at(-1);
    const database = await createAt(state?.forms ?? new Map());
    await database.query('alter table builds drop column pull_request');
    await database.query('drop index causes_in_order');
    await database.query('drop trigger builds_keep_days on builds');
    const refusal = {
      code: 'invalid-config',
      message: expect.stringMatching(
        /builds\.pull_request \(0001_foundation\).*"faultline migrate --repair"/s,
      ),
    };
    await expect(database.migrate()).rejects.toMatchObject(refusal);
    expect(
      await database.query(`select name from schema_migrations where name = '0049_older_forms'`),
    ).toEqual([]);

    const { repaired } = await database.migrate({ repair: true });
    expect(repaired).toEqual([
      'column builds.pull_request',
      'index builds_by_pull_request',
      'index causes_in_order',
      'trigger builds.builds_keep_days',
    ]);
    expect(await database.migrate()).toEqual({ applied: [] });
    await database.close();
  });

  it('with a different checksum is named by doctor, with the command that repairs it', async () => {
    const url = (await server?.createMigrated()) ?? '';
    const database = await openPostgres({ url, poolSize: 2 });
    await database.query(
      `update schema_migrations set checksum = repeat('0', 64) where name = '0046_health'`,
    );
    await database.close();
    const folder = await mkdtemp(join(tmpdir(), 'faultline-upgrade-'));
    const findings = await diagnose(folder, { FAULTLINE_DATABASE_URL: url, FAULTLINE_ANALYST: 'rules' });
    expect(findings.filter(({ name }) => name === 'database')).toEqual([
      expect.objectContaining({
        state: 'wrong',
        says: expect.stringContaining('another form of 0046_health'),
        remedy: expect.stringContaining('faultline migrate --repair'),
      }),
    ]);
    await rm(folder, { recursive: true, force: true });
  });

  it('that cannot be repaired without losing rows is refused without changes', async () => {
    const state = (await readStates()).at(-1);
    const database = await createAt(state?.forms ?? new Map());
    await database.query('alter table builds alter column url type varchar(20)');
    const refusal = {
      code: 'invalid-config',
      message: expect.stringContaining('column builds.url (0001_foundation)'),
    };
    await expect(database.migrate({ repair: true })).rejects.toMatchObject(refusal);
    expect(
      await database.query(`select name from schema_migrations where name = '0049_older_forms'`),
    ).toEqual([]);
    await database.close();
  });
});

describe.each(INSTALLATIONS)('an installation of commit %s', (commit) => {
  // The embedded database runs the same statements, and takes six times as long.
  if (THOROUGH) {
    it('opens every page after its embedded upgrade, and loses no row', { timeout: 300_000 }, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'faultline-upgrade-'));
      const dataDir = join(folder, 'database');
      await upgrade(await openPglite({ dataDir }), commit);
      await expectPages((config) => ({ ...config, database: { driver: 'pglite', dataDir } }));
      await rm(folder, { recursive: true, force: true });
    });
  }

  it.skipIf(withoutPostgres)(
    'opens every page after its upgrade on PostgreSQL, and loses no row',
    { timeout: 300_000 },
    async () => {
      const url = await createDatabase();
      await upgrade(await openPostgres({ url, poolSize: 2 }), commit);
      await expectPages((config) => ({
        ...config,
        database: { driver: 'postgres', url, ownerUrl: null, readerUrl: null, poolSize: 8 },
      }));
    },
  );
});

interface State {
  readonly commit: string;
  /** Which form of each migration a new database of that commit had. */
  readonly forms: ReadonlyMap<string, string>;
}

async function readStates(): Promise<State[]> {
  const history = History.parse(JSON.parse(await readFile(join(FIXTURES, 'history.json'), 'utf8')));
  const forms = new Map<string, string>();
  return history.map(({ commit, set, removed }) => {
    for (const [name, form] of Object.entries(set)) forms.set(name, form);
    for (const name of removed) forms.delete(name);
    return { commit, forms: new Map([...forms].toSorted(compareByName)) };
  });
}

function compareByName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1;
}

/** Whether the newest migration is in an older form. */
function hasOwnForm(forms: ReadonlyMap<string, string>): boolean {
  return [...forms].at(-1)?.some((part) => /\.\d+$/.test(part)) ?? false;
}

/** A database with migrations in these forms, as releases before the checksums left it. */
async function createAt(forms: ReadonlyMap<string, string>): Promise<PgDatabase> {
  const database = await openPostgres({ url: await createDatabase(), poolSize: 2 });
  await database.query(
    'create table schema_migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null)',
  );
  for (const [name, form] of forms) {
    const folder = form === name ? MIGRATIONS_FOLDER : join(FIXTURES, 'forms');
    await database.pool.query(await readFile(join(folder, `${form}.sql`), 'utf8'));
    await database.query('insert into schema_migrations (name, run_on) values ($1, now())', [name]);
  }
  return database;
}

async function createDatabase(): Promise<string> {
  if (server === undefined) throw new Error('no PostgreSQL');
  return await server.createDatabase();
}

async function upgrade(database: PgDatabase, commit: string): Promise<void> {
  await database.pool.query(await readFile(join(FIXTURES, `${commit}.sql`), 'utf8'));
  // As the upgrade that brought causes left them: without what was red then.
  if (await hasTable(database, 'causes')) await database.query(`update causes set red_pipelines = '{}'`);
  const before = await countRows(database);
  expect(before.get('builds')).toBeGreaterThan(5);
  await database.migrate();
  const after = await countRows(database);
  for (const [table, count] of before) expect(`${table} ${after.get(table)}`).toBe(`${table} ${count}`);
  const red = await database.query(RED_BY_BUILDS);
  expect(red).not.toEqual([]);
  expect(await database.query(RED_BY_CAUSES)).toEqual(red);
  console.info(
    `upgrades: ${commit} ${database.driver}: ${[...before.values()].reduce((sum, count) => sum + count, 0)} rows kept`,
  );
  await database.close();
}

async function hasTable(database: PgDatabase, table: string): Promise<boolean> {
  const [found] = await database.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    table,
  ]);
  return found?.found === true;
}

/** Pipelines whose default branch failed with a cause and has not passed since: as the causes say, and as the builds do. */
const RED_BY_CAUSES = `select distinct c.repository, p.pipeline from causes c cross join unnest(c.red_pipelines) as p (pipeline) order by 1, 2`;
const RED_BY_BUILDS = `
  select distinct b.repository, b.pipeline from builds b join answer_facts f on f.build_id = b.id
  where is_default_branch(b) and not exists (
    select from builds p where p.repository = b.repository and p.pipeline = b.pipeline and p.branch = b.branch and p.status = 'passed'
      and p.received_at > b.received_at
  ) order by 1, 2`;

async function countRows(database: PgDatabase): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const table of KEPT) {
    if (!(await hasTable(database, table))) continue;
    const [row] = await database.query<{ count: number }>(`select count(*) from ${table}`);
    counts.set(table, row?.count ?? 0);
  }
  // Migration 0057 made triage jobs items of the work table.
  const jobs = (await hasTable(database, 'triage_jobs')) ? 'triage_jobs' : `work where topic = 'triage'`;
  const [row] = await database.query<{ count: number }>(`select count(*) from ${jobs}`);
  counts.set('triages of builds', row?.count ?? 0);
  return counts;
}

async function expectPages(change: (config: Config) => Config): Promise<void> {
  const console = await openStockedConsole({ change });
  try {
    const cookie = `__Host-fl=${await console.openSession('admin')}`;
    const answers = new Map<string, number>();
    for (const path of [...(await listPages(console)), ...(await listApi(console))]) {
      const headers = path.startsWith('/api/') ? { authorization: `Bearer ${READERS.admin}` } : { cookie };
      answers.set(path, (await fetch(console.address + path, { headers })).status);
    }
    expect([...answers].filter(([, status]) => status !== 200)).toEqual([]);
    expect(answers.size).toBeGreaterThan(40);
  } finally {
    await console.close();
  }
}

async function listPages({ app }: StockedConsole): Promise<string[]> {
  const [row] = await app.database.query<{
    build: string;
    analysis: string;
    fingerprint: string;
    log: string;
  }>(`
    select a.build_id as build, a.id as analysis, a.fingerprint, s.name as log
    from analyses a join build_sources s on s.build_id = a.build_id and s.kind = 'log' limit 1`);
  if (row === undefined) throw new Error('no analysis');
  const reviews = await app.database.query<{ id: string }>('select id from reviews limit 1');
  return [
    '/',
    '/causes',
    '/search',
    '/search?q=is%3Anew',
    '/',
    '/builds',
    '/review',
    '/review?state=decided',
    '/library',
    '/library/rules',
    '/notifications',
    '/notifications/new',
    '/me',
    '/settings',
    '/settings?provider=github',
    ...[
      '',
      '/trust',
      '/trust/answers?t=0.5',
      '/models',
      '/health',
      '/health?days=90',
      '/causes',
      '/cost',
      '/reviewers',
    ].map((page) => `/insights${page}`),
    ...['', '?list=cost&days=30', '?list=quarantine'].map((list) => `/tests${list}`),
    `/builds/${row.build}`,
    `/analyses/${row.analysis}`,
    `/runs/${row.analysis}`,
    `/analyses/${row.analysis}/ask`,
    `/logs/${row.build}?file=${encodeURIComponent(row.log)}`,
    `/failures/${row.fingerprint}`,
    ...reviews.map(({ id }) => `/review/${id}`),
  ];
}

const Description = z.object({
  paths: z.record(
    z.string(),
    z.object({
      get: z
        .object({ parameters: z.array(z.object({ required: z.boolean().optional() })).optional() })
        .optional(),
    }),
  ),
});

/** All that can be read without saying of what. */
async function listApi({ address }: StockedConsole): Promise<string[]> {
  const { paths } = Description.parse(await (await fetch(`${address}/openapi.json`)).json());
  return Object.entries(paths).flatMap(([path, { get }]) =>
    get !== undefined && path.startsWith('/api/') && get.parameters?.some(({ required }) => required) !== true
      ? [path]
      : [],
  );
}
