import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readGoTable } from './version-tables/go.ts';
import { readNodeTable } from './version-tables/node.ts';
import type { VersionTable } from './version-tables/table.ts';

/**
 * Writes src/judge/versions/{node,python,go}.json again: since which release a runtime has its built-in members. `node scripts/write/renew-version-tables.ts`
 * needs npm, pip, Python and Go; `--check` needs nothing and fails if a table was not written by these scripts as they are.
 */
const ROOT = join(import.meta.dirname, '../..');
const TABLES = join(ROOT, 'src/judge/versions');
const SCRIPTS = join(import.meta.dirname, 'version-tables');
/** The releases of the sources. The older typeshed contains versions of Python that the newer one dropped. */
const BROWSER_COMPAT_DATA = '8.1.9';
const TYPES_NODE = '24.19.2';
const TYPESHED_CLIENTS = ['2.15.0', '2.3.0'];
/** The maximum size of all tables together, in bytes. */
const MAX_BYTES = 500_000;
const NAMES = ['node', 'python', 'go'] as const;

if (process.argv.includes('--check')) checkTables();
else writeTables();

function writeTables(): void {
  const work = mkdtempSync(join(tmpdir(), 'version-tables-'));
  try {
    write(
      'node',
      readNodeTable(
        unpackNpm('@mdn/browser-compat-data', BROWSER_COMPAT_DATA, work),
        unpackNpm('@types/node', TYPES_NODE, work),
      ),
    );
    write('python', readPythonTable(work));
    write('go', readGoTable(join(run('go', ['env', 'GOROOT']).trim(), 'api')));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function write(name: (typeof NAMES)[number], table: VersionTable): void {
  const stamp = stampTable(table);
  writeFileSync(join(TABLES, `${name}.json`), `${JSON.stringify({ stamp, ...table }, null, 1)}\n`);
  console.log(`${name}: ${Object.keys(table.members).length} members`);
}

/**
 * Fails unless every table equals the output of these scripts and all tables are small enough to be shipped.
 */
function checkTables(): void {
  let bytes = 0;
  for (const name of NAMES) {
    const text = readFileSync(join(TABLES, `${name}.json`), 'utf8');
    const { stamp, ...table } = JSON.parse(text) as VersionTable & { stamp: string };
    bytes += Buffer.byteLength(text);
    if (stamp !== stampTable(table))
      throw new Error(
        `src/judge/versions/${name}.json is not what the scripts write: run node scripts/write/renew-version-tables.ts`,
      );
  }
  if (bytes > MAX_BYTES)
    throw new Error(`The tables of src/judge/versions have ${bytes} bytes; ${MAX_BYTES} are allowed.`);
}

/**
 * Computes a hash of a table and of the scripts that derive it. A change of either makes the hash invalid.
 */
function stampTable(table: VersionTable): string {
  const hash = createHash('sha256').update(JSON.stringify(table));
  for (const script of readdirSync(SCRIPTS).sort()) hash.update(readFileSync(join(SCRIPTS, script)));
  return hash.digest('hex').slice(0, 16);
}

function readPythonTable(work: string): VersionTable {
  const folders = TYPESHED_CLIENTS.map((version) => {
    const folder = join(work, `typeshed-${version}`);
    run('python3', [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-deps',
      '--target',
      folder,
      `typeshed-client==${version}`,
    ]);
    return join(folder, 'typeshed_client/typeshed');
  });
  return {
    source: `typeshed, in typeshed-client ${TYPESHED_CLIENTS.join(' and ')}`,
    license: 'Apache-2.0 (typeshed), MIT (parts of typeshed, typeshed-client)',
    members: JSON.parse(
      run('python3', [join(SCRIPTS, 'python-members.py'), ...folders]),
    ) as VersionTable['members'],
  };
}

function unpackNpm(name: string, version: string, work: string): string {
  const folder = mkdtempSync(join(work, 'npm-'));
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--pack-destination', folder, `${name}@${version}`]),
  ) as [{ filename: string }];
  run('tar', ['-xzf', join(folder, filename.replace('@', '').replace('/', '-')), '-C', folder]);
  const [unpacked] = readdirSync(folder).filter((entry) => !entry.endsWith('.tgz'));
  return join(folder, unpacked ?? '');
}

function run(command: string, words: readonly string[]): string {
  return execFileSync(command, words, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
