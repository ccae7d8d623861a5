import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readMigrationFiles } from '../../../src/stores/database/migration-files.ts';

/**
 * `node scripts/parts/check/check-migrations.ts [--add] [FOLDER]`: a migration that is on main never changes again. migrations/checksums has a line per file,
 * `SHA-256  NAME.sql`, and the lines that were ever on main stay as they are. `--add` writes the lines of new files. Exit 1 where something
 * changed. FOLDER is the checkout, by default this one.
 */
const { values, positionals } = parseArgs({
  options: { add: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const root = resolve(positionals[0] ?? join(import.meta.dirname, '../../..'));
const list = join(root, 'migrations/checksums');

const files = await readMigrationFiles(join(root, 'migrations'));
const wanted = files.map(({ name, checksum }) => `${checksum}  ${name}.sql`);
const listed = readLines();
const unlisted = files.filter(({ name }) => !listed.some((line) => line.endsWith(`  ${name}.sql`)));

if (values.add && unlisted.length > 0) {
  const lines = [
    ...listed,
    ...wanted.filter((line) => unlisted.some(({ name }) => line.endsWith(`  ${name}.sql`))),
  ];
  writeFileSync(list, `${lines.toSorted((a, b) => (nameLine(a) < nameLine(b) ? -1 : 1)).join('\n')}\n`);
}

const now = new Set(readLines());
const problems = [
  ...wanted.filter((line) => !now.has(line)).map((line) => describeUnlisted(nameLine(line))),
  ...[...now]
    .filter((line) => !wanted.includes(line) && !files.some(({ name }) => `${name}.sql` === nameLine(line)))
    .map(describeGone),
  ...readHistory()
    .filter((line) => !now.has(line))
    .map(
      (line) =>
        `migrations/checksums: the line of ${nameLine(line)} that is on main was changed or removed; restore it and the file`,
    ),
];
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function readLines(): string[] {
  try {
    return readFileSync(list, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function nameLine(line: string): string {
  return line.slice(line.indexOf('  ') + 2);
}

function describeUnlisted(name: string): string {
  if (unlisted.some((file) => `${file.name}.sql` === name))
    return `migrations/${name} is not in migrations/checksums: run node scripts/parts/check/check-migrations.ts --add`;
  return `migrations/${name} was changed, comments included: restore it and write a new migration. If it was never on main, delete its line of migrations/checksums and run node scripts/parts/check/check-migrations.ts --add`;
}

function describeGone(line: string): string {
  return `migrations/${nameLine(line)} is in migrations/checksums, and there is no such file: restore it`;
}

/**
 * Returns each line that a commit of main ever added. A shallow clone has fewer of them, and an archive has
 * none.
 */
function readHistory(): string[] {
  const main = ['origin/main', 'main', 'HEAD'].find(
    (ref) => runGit('rev-parse', '--verify', '--quiet', `${ref}^{commit}`) !== null,
  );
  if (main === undefined) {
    console.info('no git history: only migrations/checksums was compared');
    return [];
  }
  if (runGit('rev-parse', '--is-shallow-repository')?.trim() === 'true')
    console.info('the history is shallow: older commits were not compared');
  const log =
    runGit(
      'log',
      '--first-parent',
      '-m',
      '-p',
      '--format=',
      '--no-ext-diff',
      main,
      '--',
      'migrations/checksums',
    ) ?? '';
  return [
    ...new Set(log.split('\n').flatMap((line) => /^\+([0-9a-f]{64} {2}\S+\.sql)$/.exec(line)?.[1] ?? [])),
  ];
}

function runGit(...args: string[]): string | null {
  try {
    return execFileSync('git', ['-C', root, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return null;
  }
}
