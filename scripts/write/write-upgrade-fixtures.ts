import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { append } from '../../src/lib/collections.ts';
import { readMigrationFiles } from '../../src/stores/database/migration-files.ts';
import { openPglite } from '../../src/stores/database/pglite.ts';
import type { PgDatabase } from '../../src/stores/database/pool-database.ts';

/**
 * `node scripts/write/write-upgrade-fixtures.ts COMMIT...`: writes test/fixtures/upgrades from git history, so that the tests of upgrades need none.
 *   COMMIT.sql     the schema of that commit, and the rows that its own `serve --demo` stored, embedded
 *   forms/         each form of a migration that no file has any more, NAME.N.sql
 *   history.json   the migrations of each commit that changed them, as far as they differ from the commit before, up to the checksums
 */
const ROOT = resolve(import.meta.dirname, '../..');
const TARGET = join(ROOT, 'test/fixtures/upgrades');
/** The first of the migrations that may not change any more. */
const CHECKSUMS_BEGIN = '0049_older_forms';
const DEMO_MS = 300_000;
const Manifest = z.object({ dependencies: z.record(z.string(), z.string()) });
/** Tables of many long rows, of which a few will do. */
const FEW: ReadonlyMap<string, number> = new Map([
  ['vector_items', 3],
  ['recordings', 3],
  ['changes', 3],
]);

mkdirSync(join(TARGET, 'forms'), { recursive: true });
await writeHistory();
for (const commit of process.argv.slice(2)) await writeInstallation(commit);

function runGit(...args: string[]): string {
  return execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', maxBuffer: 100 * 1024 * 1024 });
}

function readMigrationsAt(commit: string): Map<string, string> {
  const names = runGit('ls-tree', '--name-only', commit, 'migrations/').split('\n');
  const files = names.filter((name) => name.endsWith('.sql')).toSorted();
  return new Map(
    files.map((file) => [
      file.slice('migrations/'.length, -'.sql'.length),
      runGit('show', `${commit}:${file}`),
    ]),
  );
}

async function writeHistory(): Promise<void> {
  const now = new Map(
    (await readMigrationFiles(join(ROOT, 'migrations'))).map(({ name, text }) => [name, text]),
  );
  const forms = new Map<string, string[]>();
  let before: Record<string, string> = {};
  const lines = runGit('rev-list', '--reverse', '--first-parent', 'HEAD', '--', 'migrations')
    .trim()
    .split('\n')
    .map((commit) => ({ commit, migrations: readMigrationsAt(commit) }))
    .filter(({ migrations }) => !migrations.has(CHECKSUMS_BEGIN))
    .map(({ commit, migrations }) => {
      const at: Record<string, string> = {};
      for (const [name, text] of migrations) at[name] = nameForm(name, text);
      const set = Object.fromEntries(Object.entries(at).filter(([name, form]) => before[name] !== form));
      const removed = Object.keys(before).filter((name) => !(name in at));
      before = at;
      return JSON.stringify({ commit: commit.slice(0, 8), set, removed });
    });
  writeFileSync(join(TARGET, 'history.json'), `[\n  ${lines.join(',\n  ')}\n]\n`);

  /** Returns the name itself if the file has this text, otherwise with the number of its form. */
  function nameForm(name: string, text: string): string {
    if (now.get(name) === text) return name;
    const known = forms.get(name) ?? [];
    if (!known.includes(text)) known.push(text);
    forms.set(name, known);
    const form = `${name}.${known.indexOf(text) + 1}`;
    writeFileSync(join(TARGET, 'forms', `${form}.sql`), text);
    return form;
  }
}

async function writeInstallation(commit: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-upgrade-'));
  try {
    const code = join(folder, 'code');
    mkdirSync(code);
    execFileSync('tar', ['x', '-C', code], {
      input: execFileSync('git', ['-C', ROOT, 'archive', commit], { maxBuffer: 1e9 }),
    });
    symlinkSync(join(ROOT, 'node_modules'), join(code, 'node_modules'));
    installMissing(code, folder);
    await runDemo(code, join(folder, 'data'));
    const database = await openPglite({ dataDir: join(folder, 'data/database') });
    const rows = await dumpRows(database);
    await database.close();
    const schema = [...readMigrationsAt(commit)].map(([name, text]) => `-- ${name}\n${text}`);
    const head = `-- Written by scripts/write/write-upgrade-fixtures.ts: an installation as commit ${commit} made and filled it.\n`;
    const table =
      'create table schema_migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null);';
    const quiet = "set session_replication_role = 'replica';";
    writeFileSync(
      join(TARGET, `${commit}.sql`),
      [head, table, ...schema, quiet, ...rows, 'reset session_replication_role;\n'].join('\n'),
    );
    console.info(`${commit}: ${rows.length} rows`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Packages that the code of that commit used and today's does not use, in a folder above it. */
function installMissing(code: string, folder: string): void {
  const { dependencies } = Manifest.parse(JSON.parse(readFileSync(join(code, 'package.json'), 'utf8')));
  const missing = Object.entries(dependencies).filter(
    ([name]) => !existsSync(join(ROOT, 'node_modules', name)),
  );
  const wanted = missing.map(([name, range]) => `${name}@${range}`);
  if (wanted.length > 0)
    execFileSync('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', ...wanted], {
      stdio: 'inherit',
    });
}

/** Serves the demo until it has printed where to look at the answers. */
async function runDemo(code: string, data: string): Promise<void> {
  const args = ['src/cli/main.ts', 'serve', '--demo', '--data', data, '--port', '0'];
  const child = spawn(process.execPath, args, { cwd: code, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = new Promise<void>((settle) => child.once('close', () => settle()));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const end = performance.now() + DEMO_MS;
  while (!/Read one:/i.test(said) && child.exitCode === null && performance.now() < end) await delay(500);
  if (!/Read one:/i.test(said)) throw new Error(`the demo did not end: ${said}`);
  child.kill('SIGINT');
  await closed;
}

async function dumpRows(database: PgDatabase): Promise<string[]> {
  const tables = await database.query<{ name: string; columns: string[] }>(`
    select t.relname as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
    from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where t.relnamespace = 'public'::regnamespace and t.relkind = 'r' group by 1 order by 1`);
  const rows: string[] = [];
  for (const { name, columns } of tables) {
    const values = columns.map((column) => `coalesce(quote_literal(${column}), 'null')`).join(` || ', ' || `);
    const found = await database.query<{ line: string }>(
      `select 'insert into ${name} (${columns.join(', ')}) overriding system value values (' || ${values} || ');' as line from ${name} limit $1`,
      [FEW.get(name) ?? null],
    );
    append(
      rows,
      found.map(({ line }) => line),
    );
  }
  const sequences = await database.query<{ line: string }>(`
    select format('select setval(%L, %s);', s.oid::regclass, coalesce(pg_sequence_last_value(s.oid), 1)) as line
    from pg_class s where s.relkind = 'S' and s.relnamespace = 'public'::regnamespace order by 1`);
  return [...rows, ...sequences.map(({ line }) => line)];
}
